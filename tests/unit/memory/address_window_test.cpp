#include <algorithm>
#include <sys/mman.h>
#include <vector>

#include <gtest/gtest.h>

#include <datum/base/address.hpp>

#include "driver/memory/address_window.hpp"

namespace datum {
namespace {

std::unique_ptr<AddressWindow> make_window(std::uint64_t bytes = AddressWindow::default_bytes) {
  Result<std::unique_ptr<AddressWindow>> window = AddressWindow::reserve(bytes);
  EXPECT_TRUE(window.ok());
  return std::move(*window);
}

TEST(AddressWindow, given_any_size_then_ranges_hold_it_and_never_overlap) {
  const auto window = make_window();
  const AddressRange small = *window->take(1, 1);
  const AddressRange middle = *window->take(100'000, 1);
  const AddressRange large = *window->take(5ULL << 20U, 1);

  EXPECT_GE(small.bytes, 4096U);
  EXPECT_GE(middle.bytes, 100'000U);
  EXPECT_GE(large.bytes, 5ULL << 20U);
  EXPECT_TRUE(small.base + small.bytes <= middle.base || middle.base + middle.bytes <= small.base);
  EXPECT_TRUE(is_aligned(large.base, large_page_bytes));
}

TEST(AddressWindow, given_every_power_of_two_up_to_the_largest_then_ranges_are_aligned_to_it) {
  const auto window = make_window();
  for (std::uint64_t alignment = 1; alignment <= AddressWindow::max_alignment_bytes; alignment *= 2) {
    Result<AddressRange> range = window->take(1, alignment);
    ASSERT_TRUE(range.ok()) << alignment;
    EXPECT_TRUE(is_aligned(range->base, alignment)) << alignment;
  }
}

TEST(AddressWindow, given_an_alignment_above_the_largest_then_it_is_refused) {
  const auto window = make_window();
  const Result<AddressRange> range = window->take(1, AddressWindow::max_alignment_bytes * 2);
  ASSERT_FALSE(range.ok());
  EXPECT_EQ(range.error().code, ErrorCode::invalid_argument);
}

TEST(AddressWindow, given_a_released_range_then_its_addresses_are_used_again) {
  const auto window = make_window();
  const AddressRange large = *window->take(64ULL << 20U, 1);
  window->release(large);
  EXPECT_EQ(window->take(64ULL << 20U, 1)->base, large.base);
}

TEST(AddressWindow, given_a_full_window_when_more_is_taken_then_a_further_window_is_reserved) {
  const auto window = make_window(64ULL << 20U);
  std::vector<AddressRange> ranges;
  for (unsigned index = 0; index < 64; ++index) {
    Result<AddressRange> range = window->take(4ULL << 20U, 1);
    ASSERT_TRUE(range.ok());
    ranges.push_back(*range);
  }
  for (const AddressRange& range : ranges) {
    EXPECT_TRUE(window->overlaps(range.base, range.bytes));
  }
}

TEST(AddressWindow, given_memory_of_the_process_then_it_is_not_the_windows) {
  const auto window = make_window();
  int local = 0;
  EXPECT_FALSE(window->overlaps(reinterpret_cast<std::uintptr_t>(&local), sizeof(local)));
  const AddressRange range = *window->take(4096, 1);
  EXPECT_TRUE(window->overlaps(range.base + 1, 1));
}

TEST(AddressWindowDeathTest, given_a_range_that_nobody_mapped_when_the_host_touches_it_then_it_faults) {
  const auto window = make_window();
  const AddressRange range = *window->take(4096, 1);
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(range.base) = 1, "");
}

TEST(AddressWindow, given_a_million_ranges_then_they_are_all_different) {
  const auto window = make_window();
  std::vector<std::uintptr_t> bases;
  for (unsigned index = 0; index < 1'000'000; ++index) {
    Result<AddressRange> range = window->take(4096, 1);
    ASSERT_TRUE(range.ok());
    bases.push_back(range->base);
  }
  std::sort(bases.begin(), bases.end());
  EXPECT_EQ(std::adjacent_find(bases.begin(), bases.end()), bases.end());
}

}  // namespace
}  // namespace datum
