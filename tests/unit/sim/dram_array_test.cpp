// The cells of the DRAM, and their way into descriptors and back.

#include <sys/mman.h>

#include <gtest/gtest.h>

#include "sim/memory/dram_array.hpp"

namespace datum::sim {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t memory_bytes = 16ULL << 30U;

class DramArrayTest : public ::testing::Test {
 protected:
  DramArrayTest() : array_(std::move(DramArray::create(memory_bytes)).value()) {}

  std::byte& cell(std::uint64_t address) { return array_.range(address, 1)[0]; }

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
  const auto first = 100 * page;
  cell(first + page) = std::byte{5};
  const auto before = array_.resident_bytes();
  auto file = array_.export_range(first, 4 * page);
  ASSERT_TRUE(file);
  EXPECT_LT(array_.resident_bytes(), before) << "the pages have moved";
  const auto shared = view(file->get(), 4 * page);
  EXPECT_EQ(shared.data()[page], std::byte{5});
  EXPECT_EQ(shared.data()[0], std::byte{0});
  shared.data()[3 * page] = std::byte{6};
  EXPECT_EQ(cell(first + 3 * page), std::byte{6});
  cell(first) = std::byte{7};
  EXPECT_EQ(shared.data()[0], std::byte{7});
}

TEST_F(DramArrayTest, the_same_range_gives_the_same_memory_again) {
  auto one = array_.export_range(0, page);
  auto two = array_.export_range(0, page);
  ASSERT_TRUE(one && two);
  const auto first = view(one->get(), page);
  const auto second = view(two->get(), page);
  first.data()[10] = std::byte{1};
  EXPECT_EQ(second.data()[10], std::byte{1});
}

TEST_F(DramArrayTest, pages_that_were_taken_back_keep_their_bytes_and_importers_keep_theirs) {
  cell(page) = std::byte{1};
  auto file = array_.export_range(0, 4 * page);
  ASSERT_TRUE(file);
  const auto shared = view(file->get(), 4 * page);
  shared.data()[2 * page] = std::byte{2};
  ASSERT_TRUE(array_.take_back(page, page));
  EXPECT_EQ(cell(page), std::byte{1});
  EXPECT_EQ(cell(2 * page), std::byte{2});
  cell(page) = std::byte{9};
  EXPECT_EQ(shared.data()[page], std::byte{1});
}

TEST_F(DramArrayTest, an_overlapping_export_takes_its_pages_from_the_earlier_one) {
  auto earlier = array_.export_range(0, 4 * page);
  ASSERT_TRUE(earlier);
  cell(3 * page) = std::byte{3};
  auto later = array_.export_range(2 * page, 4 * page);
  ASSERT_TRUE(later);
  const auto shared = view(later->get(), 4 * page);
  EXPECT_EQ(shared.data()[page], std::byte{3});
  cell(2 * page) = std::byte{4};
  EXPECT_EQ(shared.data()[0], std::byte{4});
}

TEST_F(DramArrayTest, ranges_that_are_no_pages_of_the_memory_are_refused) {
  for (const auto& [first, bytes] : std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 0}, {1, page}, {0, page - 1}, {memory_bytes, page}, {memory_bytes - page, 2 * page}}) {
    const auto file = array_.export_range(first, bytes);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace datum::sim
