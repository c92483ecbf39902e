// The driver's tables against the structs that a loader built with the system's own headers really has.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/loader/api_entries.hpp"
#include "tests/loader/legacy_table_sizes.h"

namespace datum::test {
namespace {

constexpr unsigned char canary = 0xa5;

TEST(
    LegacyTables,
    given_a_loader_of_the_systems_headers_when_a_table_is_filled_then_its_struct_is_filled_and_nothing_after_it) {
  const auto version = static_cast<ze_api_version_t>(ZE_MAKE_VERSION(1, datum_legacy_minor_version()));
  std::size_t count = 0;
  const datum_legacy_table* legacy = datum_legacy_tables(&count);
  ASSERT_GE(count, 50u);
  for (std::size_t index = 0; index < count; ++index) {
    const std::string_view getter = legacy[index].getter;
    const auto table = std::ranges::find(api_tables(), getter, &ApiTable::getter);
    ASSERT_NE(table, api_tables().end()) << getter;
    std::vector<unsigned char> memory(table->bytes + 64, canary);
    ASSERT_EQ(table->fill(version, memory.data()), ZE_RESULT_SUCCESS) << getter;
    const auto changed = [](unsigned char byte) { return byte != canary; };
    const auto end_of_struct = memory.begin() + static_cast<std::ptrdiff_t>(legacy[index].bytes);
    EXPECT_EQ(std::count_if(end_of_struct, memory.end(), changed), 0)
        << getter << " writes past the loader's struct";
    for (auto pointer = memory.begin(); pointer != end_of_struct; pointer += sizeof(void*)) {
      EXPECT_TRUE(std::any_of(pointer, pointer + sizeof(void*), changed))
          << getter << " leaves an entry of the struct out";
    }
  }
}

}  // namespace
}  // namespace datum::test
