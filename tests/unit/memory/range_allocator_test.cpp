#include <gtest/gtest.h>

#include "driver/memory/range_allocator.hpp"

namespace datum {
namespace {

TEST(RangeAllocator, given_ranges_of_several_sizes_when_taking_then_the_smallest_that_fits_is_cut) {
  RangeAllocator ranges;
  ranges.release(0x10000, 0x8000);
  ranges.release(0x40000, 0x3000);

  EXPECT_EQ(ranges.take(0x2000, 0x1000), 0x40000U);
  EXPECT_EQ(ranges.take(0x2000, 0x1000), 0x10000U);
  EXPECT_EQ(ranges.free_bytes(), 0x7000U);
}

TEST(RangeAllocator, given_a_misaligned_range_when_an_aligned_one_is_taken_then_the_lead_stays_free) {
  RangeAllocator ranges;
  ranges.release(0x1000, 0x9000);

  EXPECT_EQ(ranges.take(0x4000, 0x4000), 0x4000U);
  EXPECT_EQ(ranges.take(0x3000, 0x1000), 0x1000U);
  EXPECT_EQ(ranges.free_bytes(), 0x2000U);
}

TEST(RangeAllocator, given_only_space_that_alignment_makes_useless_when_taking_then_nothing_is_taken) {
  RangeAllocator ranges;
  ranges.release(0x1000, 0x4000);

  EXPECT_EQ(ranges.take(0x2000, 0x4000), std::nullopt);
  EXPECT_EQ(ranges.take(0x4001, 1), std::nullopt);
  EXPECT_EQ(ranges.free_bytes(), 0x4000U);
}

TEST(RangeAllocator, given_pieces_given_back_in_any_order_then_they_merge_into_one) {
  RangeAllocator ranges;
  ranges.release(0, 0x3000);
  ASSERT_EQ(ranges.take(0x1000, 0x1000), 0U);
  ASSERT_EQ(ranges.take(0x1000, 0x1000), 0x1000U);
  ASSERT_EQ(ranges.take(0x1000, 0x1000), 0x2000U);

  ranges.release(0x2000, 0x1000);
  ranges.release(0, 0x1000);
  EXPECT_EQ(ranges.range_count(), 2U);
  ranges.release(0x1000, 0x1000);

  EXPECT_EQ(ranges.range_count(), 1U);
  EXPECT_EQ(ranges.take(0x3000, 0x1000), 0U);
}

TEST(RangeAllocator, given_a_free_range_when_a_part_is_taken_by_its_address_then_the_rest_stays_free) {
  RangeAllocator ranges;
  ranges.release(0x1000, 0x5000);

  EXPECT_TRUE(ranges.take_at(0x2000, 0x2000));
  EXPECT_EQ(ranges.free_bytes(), 0x3000U);
  EXPECT_FALSE(ranges.take_at(0x3000, 0x1000)) << "it is taken";
  EXPECT_FALSE(ranges.take_at(0x1000, 0x2000)) << "a part of it is taken";
  EXPECT_FALSE(ranges.take_at(0x5000, 0x2000)) << "it ends outside";
  EXPECT_FALSE(ranges.take_at(0x0, 0x1000));
  EXPECT_FALSE(ranges.take_at(0x6000, 0x1000));
  EXPECT_TRUE(ranges.take_at(0x1000, 0x1000));
  EXPECT_TRUE(ranges.take_at(0x4000, 0x2000));
  EXPECT_EQ(ranges.free_bytes(), 0U);
}

}  // namespace
}  // namespace datum
