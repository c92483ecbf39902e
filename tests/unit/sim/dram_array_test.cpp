// The cells of the DRAM, and their way into descriptors and back.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sim/memory/dram_array.hpp"

namespace datum::sim {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t memory_bytes = 16ULL << 30U;

class DramArrayTest : public ::testing::Test {
 protected:
  DramArrayTest() : array_(std::move(DramArray::create(memory_bytes)).value()) {}

  std::byte& cell(std::uint64_t address) { return array_.run(address, 1)[0]; }

  using Ranges = std::vector<board::DeviceRange>;

  static Ranges pages(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> list) {
    Ranges ranges;
    for (const auto& [first, count] : list) {
      ranges.push_back({DeviceAddress{first * page, 0}, count * page});
    }
    return ranges;
  }

  static Mapping view(int fd, std::size_t bytes) {
    return {::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), bytes};
  }

  DramArray array_;
};

TEST_F(DramArrayTest, costs_only_what_is_touched) {
  EXPECT_EQ(array_.resident_bytes(), 0U);
  cell(memory_bytes - 1) = std::byte{1};
  cell(memory_bytes / 2) = std::byte{1};
  EXPECT_GT(array_.resident_bytes(), 0U);
  EXPECT_LE(array_.resident_bytes(), 4 * page);
}

TEST_F(DramArrayTest, an_export_shares_bytes_both_ways_and_costs_nothing_twice) {
  cell(101 * page) = std::byte{5};
  const auto before = array_.resident_bytes();
  auto file = array_.export_ranges(pages({{100, 4}}), "label");
  ASSERT_TRUE(file);
  EXPECT_LT(array_.resident_bytes(), before) << "the pages have moved";
  const auto shared = view(file->get(), 4 * page);
  EXPECT_EQ(shared.data()[page], std::byte{5});
  EXPECT_EQ(shared.data()[0], std::byte{0});
  shared.data()[3 * page] = std::byte{6};
  EXPECT_EQ(cell(103 * page), std::byte{6});
  cell(100 * page) = std::byte{7};
  EXPECT_EQ(shared.data()[0], std::byte{7});
}

TEST_F(DramArrayTest, scattered_pages_follow_one_another_in_the_descriptor) {
  const auto ranges = pages({{700, 1}, {3, 2}, {5000, 1}});
  cell(700 * page) = std::byte{1};
  cell(4 * page) = std::byte{2};
  cell(5000 * page + 9) = std::byte{3};
  auto file = array_.export_ranges(ranges, "label");
  ASSERT_TRUE(file);
  const auto shared = view(file->get(), 4 * page);
  EXPECT_EQ(shared.data()[0], std::byte{1});
  EXPECT_EQ(shared.data()[2 * page], std::byte{2});
  EXPECT_EQ(shared.data()[3 * page + 9], std::byte{3});
  cell(2 * page) = std::byte{4};
  cell(5 * page) = std::byte{4};
  EXPECT_TRUE(std::all_of(shared.data() + page, shared.data() + 2 * page, [](std::byte value) {
    return value == std::byte{0};
  })) << "neighbours stay where they are";
}

TEST_F(DramArrayTest, a_run_ends_where_cells_lie_elsewhere) {
  auto file = array_.export_ranges(pages({{8, 2}, {11, 1}, {12, 1}}), "label");
  ASSERT_TRUE(file);
  EXPECT_EQ(array_.run(7 * page + 100, 10 * page).size(), page - 100);
  EXPECT_EQ(array_.run(8 * page, 10 * page).size(), 2 * page);
  EXPECT_EQ(array_.run(10 * page, 10 * page).size(), page);
  EXPECT_EQ(array_.run(11 * page, 10 * page).size(), 2 * page);
  EXPECT_EQ(array_.run(11 * page + 1, 5).size(), 5U);
  EXPECT_EQ(array_.run(13 * page, 10 * page).size(), 10 * page);
  EXPECT_EQ(array_.run(memory_bytes - page, 10 * page).size(), page);
}

TEST_F(DramArrayTest, after_the_end_the_pages_are_empty_and_importers_keep_their_bytes) {
  const auto ranges = pages({{1, 1}, {3, 1}});
  cell(page) = std::byte{1};
  auto file = array_.export_ranges(ranges, "label");
  ASSERT_TRUE(file);
  const auto shared = view(file->get(), 2 * page);
  ASSERT_TRUE(array_.end_export(ranges));
  EXPECT_EQ(cell(page), std::byte{0});
  cell(page) = std::byte{9};
  EXPECT_EQ(shared.data()[0], std::byte{1});
  shared.data()[page] = std::byte{8};
  EXPECT_EQ(cell(3 * page), std::byte{0});
  auto again = array_.export_ranges(ranges, "label");
  ASSERT_TRUE(again);
  EXPECT_EQ(view(again->get(), 2 * page).data()[0], std::byte{9});
  EXPECT_EQ(shared.data()[0], std::byte{1});
}

TEST_F(DramArrayTest, an_export_costs_one_mapping_however_many_pages) {
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    std::ptrdiff_t of_memory_files = 0;
    for (std::string line; std::getline(maps, line);) {
      of_memory_files += line.find("/memfd:") != std::string::npos ? 1 : 0;
    }
    return of_memory_files;
  };
  Ranges ranges;
  for (std::uint64_t index = 0; index < 5000; ++index) {
    ranges.push_back({DeviceAddress{2 * index * page, 0}, page});
  }
  const auto before = mappings();
  auto file = array_.export_ranges(ranges, "label");
  ASSERT_TRUE(file);
  EXPECT_LE(mappings(), before + 2);
  ASSERT_TRUE(array_.end_export(ranges));
  EXPECT_LE(mappings(), before + 1);
}

TEST_F(DramArrayTest, nobody_can_resize_an_exported_file_and_it_bears_its_label) {
  auto file = array_.export_ranges(pages({{0, 2}}), "datum:d:label");
  ASSERT_TRUE(file);
  EXPECT_NE(::ftruncate(file->get(), 0), 0);
  EXPECT_NE(::ftruncate(file->get(), 1 << 20), 0);
  const auto name = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file->get())).string();
  EXPECT_TRUE(name.starts_with("/memfd:datum:d:label")) << name;
}

TEST_F(DramArrayTest, an_export_that_overlaps_a_live_one_or_itself_is_refused) {
  auto file = array_.export_ranges(pages({{8, 4}}), "label");
  ASSERT_TRUE(file);
  for (const auto& ranges :
       {pages({{8, 4}}), pages({{11, 1}}), pages({{0, 1}, {6, 3}}), pages({{20, 2}, {21, 1}})}) {
    const auto other = array_.export_ranges(ranges, "label");
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_TRUE(array_.export_ranges(pages({{7, 1}, {12, 1}}), "label")) << "a refusal changes nothing";
}

TEST_F(DramArrayTest, only_a_whole_export_can_be_ended) {
  auto file = array_.export_ranges(pages({{8, 4}, {20, 1}}), "label");
  ASSERT_TRUE(file);
  for (const auto& ranges : {Ranges{}, pages({{8, 4}}), pages({{20, 1}, {8, 4}}), pages({{9, 1}})}) {
    EXPECT_EQ(array_.end_export(ranges).error().code, ErrorCode::invalid_argument);
  }
  EXPECT_TRUE(array_.end_export(pages({{8, 4}, {20, 1}})));
  EXPECT_FALSE(array_.end_export(pages({{8, 4}, {20, 1}})));
}

TEST_F(DramArrayTest, ranges_that_are_no_pages_of_the_memory_are_refused) {
  for (const auto& [first, bytes] : std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 0}, {1, page}, {0, page - 1}, {memory_bytes, page}, {memory_bytes - page, 2 * page}}) {
    const auto file = array_.export_ranges(Ranges{{DeviceAddress{first, 0}, bytes}}, "label");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_FALSE(array_.export_ranges({}, "label"));
}

}  // namespace
}  // namespace datum::sim
