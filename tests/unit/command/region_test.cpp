#include <random>
#include <set>

#include <gtest/gtest.h>

#include "driver/command/region.hpp"

namespace datum::test {
namespace {

/// Every byte of a placement, one by one: slow and plainly right.
std::multiset<std::uint64_t> bytes_of(const RegionShape& shape, std::uint64_t first, const Pitches& pitches) {
  std::multiset<std::uint64_t> all;
  for (std::uint64_t z = 0; z < shape.planes; ++z) {
    for (std::uint64_t y = 0; y < shape.rows; ++y) {
      for (std::uint64_t x = 0; x < shape.row_bytes; ++x) {
        all.insert(first + z * pitches.plane + y * pitches.row + x);
      }
    }
  }
  return all;
}

bool share_a_byte(const RegionShape& shape, std::uint64_t a, const Pitches& a_pitches, std::uint64_t b,
                  const Pitches& b_pitches) {
  const std::multiset<std::uint64_t> left = bytes_of(shape, a, a_pitches);
  for (const std::uint64_t byte : bytes_of(shape, b, b_pitches)) {
    if (left.count(byte) != 0) {
      return true;
    }
  }
  return false;
}

TEST(RegionTest, given_placements_of_small_regions_when_compared_then_overlap_is_that_of_their_bytes) {
  const RegionShape shape{3, 3, 2};
  const Pitches pitches[] = {{3, 9}, {5, 16}, {7, 40}, {4, 13}};
  for (const Pitches& left : pitches) {
    for (const Pitches& right : pitches) {
      for (std::uint64_t b = 60; b < 180; ++b) {
        ASSERT_EQ(regions_overlap(shape, 120, left, b, right), share_a_byte(shape, 120, left, b, right))
            << left.row << "/" << left.plane << " at 120 against " << right.row << "/" << right.plane
            << " at " << b;
      }
    }
  }
}

TEST(RegionTest, given_random_shapes_of_equal_pitches_when_compared_then_overlap_is_that_of_their_bytes) {
  std::mt19937_64 random(5);
  const auto from_to = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    const RegionShape shape{from_to(1, 4), from_to(1, 4), from_to(1, 3)};
    const std::uint64_t row = shape.row_bytes + from_to(0, 3);
    const Pitches pitches{row, (shape.rows - 1) * row + shape.row_bytes + from_to(0, 9)};
    const std::uint64_t b = from_to(100, 200);
    ASSERT_EQ(regions_overlap(shape, 150, pitches, b, pitches), share_a_byte(shape, 150, pitches, b, pitches))
        << shape.row_bytes << " x " << shape.rows << " x " << shape.planes << ", pitches " << pitches.row
        << " and " << pitches.plane << ", at " << b;
  }
}

TEST(RegionTest, given_more_rows_than_memory_has_when_compared_then_the_answer_comes_all_the_same) {
  const RegionShape shape{1, 1ULL << 30U, 1ULL << 30U};
  const Pitches pitches{2, 1ULL << 31U};
  EXPECT_FALSE(regions_overlap(shape, 0x1000, pitches, 0x1001, pitches));
  EXPECT_TRUE(regions_overlap(shape, 0x1000, pitches, 0x1002, pitches));
  const Pitches others{4, 1ULL << 32U};
  EXPECT_FALSE(regions_overlap(shape, 0x1000, pitches, 0x1001, others));
}

TEST(RegionTest, given_neighbouring_columns_of_one_array_when_compared_then_they_do_not_overlap) {
  EXPECT_FALSE(regions_overlap({50, 1000, 1}, 0x1000, {100, 0}, 0x1000 + 50, {100, 0}));
  EXPECT_TRUE(regions_overlap({51, 1000, 1}, 0x1000, {100, 0}, 0x1000 + 50, {100, 0}));
}

TEST(RegionTest, given_an_empty_region_when_compared_then_it_overlaps_nothing) {
  EXPECT_FALSE(regions_overlap({0, 5, 5}, 0x1000, {10, 50}, 0x1000, {10, 50}));
  EXPECT_TRUE((RegionShape{5, 0, 1}.empty()));
}

TEST(RegionTest, given_a_region_when_measured_then_the_extent_is_from_its_first_byte_to_its_last) {
  EXPECT_EQ(extent_bytes({10, 1, 1}, {0, 0}), 10U);
  EXPECT_EQ(extent_bytes({10, 3, 1}, {100, 0}), 210U);
  EXPECT_EQ(extent_bytes({10, 3, 2}, {100, 1000}), 1210U);
  EXPECT_EQ(extent_bytes({10, 3, 2}, {100, ~0ULL}), ~0ULL) << "too far to say";
}

}  // namespace
}  // namespace datum::test
