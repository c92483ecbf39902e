// The functions that fill a loader's tables: what they write, and what they leave alone.

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "driver/api/result.hpp"
#include "tests/loader/api_entries.hpp"
#include "tests/loader/call_record.hpp"

namespace datum::test {
namespace {

constexpr std::uint32_t newest_minor = 17;

ze_api_version_t api_version(std::uint32_t major, std::uint32_t minor) {
  return static_cast<ze_api_version_t>(ZE_MAKE_VERSION(major, minor));
}

/// A loader's table with words after it that no driver may touch. Every word holds the canary until something
/// writes it.
class LoaderTable {
 public:
  static constexpr std::uintptr_t canary = 0xc0ffee1dc0ffee1d;

  explicit LoaderTable(const ApiTable& table)
      : table_(table), words_(table.bytes / sizeof(std::uintptr_t) + 16, canary) {}

  ze_result_t fill(ze_api_version_t version) { return table_.fill(version, words_.data()); }

  [[nodiscard]] const std::vector<std::uintptr_t>& words() const { return words_; }

  [[nodiscard]] const void* data() const { return words_.data(); }

 private:
  const ApiTable& table_;
  std::vector<std::uintptr_t> words_;
};

/// For each word of the table: whether a loader of 1.`minor` has the entry.
std::vector<bool> words_known_to(const ApiTable& table, std::uint32_t minor, std::size_t word_count) {
  std::vector<bool> known(word_count, false);
  for (const ApiEntry& entry : api_entries()) {
    if (entry.getter == table.getter && entry.since_minor <= minor) {
      known[entry.offset / sizeof(std::uintptr_t)] = true;
    }
  }
  return known;
}

TEST(ApiTables, given_the_headers_of_api_1_17_when_counted_then_there_are_76_tables_with_478_entries) {
  EXPECT_EQ(api_tables().size(), 76u);
  EXPECT_EQ(api_entries().size(), 478u);
}

TEST(
    ApiTables,
    given_any_version_of_a_loader_when_a_table_is_filled_then_exactly_the_entries_of_that_version_are_written) {
  for (const ApiTable& table : api_tables()) {
    for (std::uint32_t minor = 0; minor <= newest_minor; ++minor) {
      LoaderTable loader(table);
      ASSERT_EQ(loader.fill(api_version(1, minor)), ZE_RESULT_SUCCESS) << table.getter << " 1." << minor;
      const std::vector<bool> known = words_known_to(table, minor, loader.words().size());
      for (std::size_t word = 0; word < known.size(); ++word) {
        const bool written = loader.words()[word] != LoaderTable::canary;
        ASSERT_EQ(written, known[word]) << table.getter << " 1." << minor << ", pointer " << word;
        ASSERT_NE(loader.words()[word], 0u) << table.getter << " 1." << minor << ", pointer " << word;
      }
    }
  }
}

TEST(ApiTables,
     given_a_loader_newer_than_the_driver_when_a_table_is_filled_then_it_gets_what_the_driver_has) {
  for (const ApiTable& table : api_tables()) {
    LoaderTable current(table);
    LoaderTable newer(table);
    ASSERT_EQ(current.fill(api_version(1, newest_minor)), ZE_RESULT_SUCCESS) << table.getter;
    ASSERT_EQ(newer.fill(api_version(1, 99)), ZE_RESULT_SUCCESS) << table.getter;
    EXPECT_EQ(newer.words(), current.words()) << table.getter;
  }
}

TEST(ApiTables,
     given_another_major_version_when_a_table_is_asked_for_then_it_is_refused_and_stays_as_it_was) {
  for (const ApiTable& table : api_tables()) {
    for (const std::uint32_t major : {0u, 2u}) {
      LoaderTable loader(table);
      const std::vector<std::uintptr_t> before = loader.words();
      EXPECT_EQ(loader.fill(api_version(major, 3)), ZE_RESULT_ERROR_UNSUPPORTED_VERSION) << table.getter;
      EXPECT_EQ(loader.words(), before) << table.getter;
    }
  }
}

TEST(ApiTables, given_no_table_when_it_is_to_be_filled_then_the_null_pointer_is_reported) {
  for (const ApiTable& table : api_tables()) {
    EXPECT_EQ(table.fill(ZE_API_VERSION_1_17, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER) << table.getter;
  }
}

TEST(ApiTables, given_a_filled_table_when_it_is_filled_again_then_nothing_changes) {
  for (const ApiTable& table : api_tables()) {
    LoaderTable loader(table);
    ASSERT_EQ(loader.fill(ZE_API_VERSION_1_17), ZE_RESULT_SUCCESS) << table.getter;
    const std::vector<std::uintptr_t> first = loader.words();
    ASSERT_EQ(loader.fill(ZE_API_VERSION_1_17), ZE_RESULT_SUCCESS) << table.getter;
    EXPECT_EQ(loader.words(), first) << table.getter;
  }
}

TEST(ApiTables,
     given_several_threads_when_they_fill_the_same_tables_then_each_table_is_as_one_thread_fills_it) {
  std::vector<LoaderTable> shared(api_tables().begin(), api_tables().end());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&shared] {
      for (LoaderTable& table : shared) {
        table.fill(ZE_API_VERSION_1_17);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t index = 0; index < shared.size(); ++index) {
    LoaderTable alone(api_tables()[index]);
    alone.fill(ZE_API_VERSION_1_17);
    EXPECT_EQ(shared[index].words(), alone.words()) << api_tables()[index].getter;
  }
}

TEST(ApiTables, given_an_entry_that_is_built_when_it_is_called_then_the_function_of_that_name_runs) {
  for (const ApiTable& table : api_tables()) {
    LoaderTable loader(table);
    loader.fill(ZE_API_VERSION_1_17);
    for (const ApiEntry& entry : api_entries()) {
      if (entry.getter == table.getter && entry.built) {
        forget_calls();
        EXPECT_EQ(entry.call(loader.data()), ZE_RESULT_SUCCESS) << entry.function;
        EXPECT_EQ(last_call(), entry.function);
      }
    }
  }
}

TEST(ApiTables,
     given_an_entry_that_is_not_built_when_it_is_called_then_unsupported_feature_and_its_name_are_answered) {
  for (const ApiTable& table : api_tables()) {
    LoaderTable loader(table);
    loader.fill(ZE_API_VERSION_1_17);
    for (const ApiEntry& entry : api_entries()) {
      if (entry.getter == table.getter && !entry.built) {
        forget_calls();
        EXPECT_EQ(entry.call(loader.data()), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) << entry.function;
        EXPECT_EQ(last_call(), "") << entry.function;
        const std::string sentence = std::string(entry.function) + " is not built in this driver";
        EXPECT_EQ(std::string(api::last_error_description()).substr(0, sentence.size()), sentence);
      }
    }
  }
}

}  // namespace
}  // namespace datum::test
