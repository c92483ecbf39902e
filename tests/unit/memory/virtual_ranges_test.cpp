#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/virtual_ranges.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

constexpr std::uintptr_t base = 0x5500'0000'0000;

std::shared_ptr<PhysicalMemory> object_number(std::uintptr_t number) {
  return {std::shared_ptr<void>(), reinterpret_cast<PhysicalMemory*>(number)};  // never followed
}

VirtualRanges::Range pages(std::uint64_t first, std::uint64_t count) {
  return {base + first * page, count * page};
}

TEST(VirtualRanges, given_a_fresh_reservation_then_it_is_one_piece_that_nobody_may_access) {
  VirtualRanges ranges;
  ranges.add_reservation(pages(0, 10));
  const std::vector<VirtualPiece> pieces = ranges.pieces_of(pages(0, 10));
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].object, nullptr);
  EXPECT_EQ(pieces[0].access, PageAccess::none);
  EXPECT_FALSE(ranges.mapping_at(base).has_value());
  EXPECT_TRUE(ranges.pieces_of(pages(0, 11)).empty());
  EXPECT_TRUE(ranges.pieces_of(pages(10, 1)).empty());
}

TEST(VirtualRanges, given_a_mapping_whose_access_differs_by_page_then_it_is_still_one_mapping) {
  VirtualRanges ranges;
  ranges.add_reservation(pages(0, 10));
  ranges.map(pages(2, 5), object_number(64), 3 * page, 7, PageAccess::read_write);
  ranges.set_access(pages(4, 1), PageAccess::read_only);
  const std::optional<VirtualPiece> mapping = ranges.mapping_at(base + 4 * page + 5);
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->base, base + 2 * page);
  EXPECT_EQ(mapping->bytes, 5 * page);
  EXPECT_EQ(mapping->offset, 3 * page);
  EXPECT_EQ(mapping->access, PageAccess::read_only);
  EXPECT_EQ(ranges.alike(pages(2, 8))->bytes, 2 * page);
  EXPECT_EQ(ranges.alike(pages(5, 8))->bytes, 2 * page);
}

TEST(VirtualRanges, given_access_that_became_the_same_again_then_the_pieces_are_joined) {
  VirtualRanges ranges;
  ranges.add_reservation(pages(0, 10));
  ranges.map(pages(0, 10), object_number(64), 0, 7, PageAccess::read_write);
  for (std::uint64_t index = 1; index < 9; index += 2) {
    ranges.set_access(pages(index, 1), PageAccess::read_only);
  }
  EXPECT_GT(ranges.pieces_of(pages(0, 10)).size(), 8U);
  ranges.set_access(pages(0, 10), PageAccess::read_write);
  EXPECT_EQ(ranges.pieces_of(pages(0, 10)).size(), 1U);
}

TEST(VirtualRanges, given_a_hole_in_a_mapping_then_what_is_left_are_two_mappings) {
  VirtualRanges ranges;
  ranges.add_reservation(pages(0, 10));
  ranges.map(pages(0, 10), object_number(64), 0, 7, PageAccess::read_write);
  ranges.unmap(pages(4, 2));
  EXPECT_EQ(ranges.mapping_at(base)->bytes, 4 * page);
  EXPECT_EQ(ranges.mapping_at(base + 6 * page)->base, base + 6 * page);
  EXPECT_EQ(ranges.mapping_at(base + 6 * page)->offset, 6 * page);
  EXPECT_FALSE(ranges.mapping_at(base + 5 * page).has_value());
  EXPECT_EQ(ranges.alike(pages(4, 6))->bytes, 2 * page);
}

TEST(VirtualRanges, given_reservations_side_by_side_then_a_range_may_cross_and_each_goes_alone) {
  VirtualRanges ranges;
  ranges.add_reservation(pages(0, 4));
  ranges.add_reservation(pages(4, 4));
  EXPECT_EQ(ranges.pieces_of(pages(2, 4)).size(), 2U);
  EXPECT_EQ(ranges.reservation_at(base + 4 * page)->base, base + 4 * page);
  ranges.set_access(pages(3, 2), PageAccess::read_write);
  ranges.remove_reservation(base);
  EXPECT_TRUE(ranges.pieces_of(pages(0, 1)).empty());
  EXPECT_EQ(ranges.alike(pages(4, 4))->bytes, page);
  EXPECT_FALSE(ranges.reservation_at(base).has_value());
}

/// What a page is, as the test keeps it.
struct ShadowPage {
  std::uintptr_t object = 0;
  std::uint64_t offset = 0;
  std::uint64_t mapping = 0;
  PageAccess access = PageAccess::none;
};

class RandomRanges {
 public:
  RandomRanges(std::uint64_t seed, std::uint64_t count) : random_(seed), shadow_(count) {
    ranges_.add_reservation(pages(0, count));
  }

  void step() {
    const std::uint64_t first = below(shadow_.size());
    const std::uint64_t count = 1 + below(shadow_.size() - first);
    const auto access = static_cast<PageAccess>(below(3));
    switch (below(3)) {
    case 0:
      map(first, count, access);
      break;
    case 1:
      ranges_.unmap(pages(first, count));
      std::fill_n(shadow_.begin() + static_cast<long>(first), count, ShadowPage{});
      break;
    default:
      ranges_.set_access(pages(first, count), access);
      for (std::uint64_t index = first; index < first + count; ++index) {
        shadow_[index].access = access;
      }
    }
  }

  void compare() const {
    for (std::uint64_t index = 0; index < shadow_.size(); ++index) {
      const std::vector<VirtualPiece> pieces = ranges_.pieces_of(pages(index, 1));
      ASSERT_EQ(pieces.size(), 1U);
      const ShadowPage& expected = shadow_[index];
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(pieces[0].object.get()), expected.object) << index;
      ASSERT_EQ(pieces[0].access, expected.access) << index;
      if (expected.object != 0) {
        ASSERT_EQ(pieces[0].offset, expected.offset) << index;
        const auto mapping = ranges_.mapping_at(base + index * page);
        ASSERT_EQ(mapping->offset + (base + index * page - mapping->base), expected.offset) << index;
        ASSERT_EQ(mapping->mapping, expected.mapping) << index;
      }
    }
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void map(std::uint64_t first, std::uint64_t count, PageAccess access) {
    for (std::uint64_t index = first; index < first + count; ++index) {
      if (shadow_[index].object != 0) {
        return;
      }
    }
    const std::uintptr_t object = 64 * (1 + below(4));
    const std::uint64_t offset = page * below(8);
    ranges_.map(pages(first, count), object_number(object), offset, ++mapping_, access);
    for (std::uint64_t index = 0; index < count; ++index) {
      shadow_[first + index] = {object, offset + index * page, mapping_, access};
    }
  }

  std::mt19937_64 random_;
  std::vector<ShadowPage> shadow_;
  VirtualRanges ranges_;
  std::uint64_t mapping_ = 0;
};

TEST(VirtualRanges, given_random_changes_then_every_page_is_what_a_plain_list_of_pages_says) {
  const char* seed = std::getenv("DATUM_TEST_SEED");
  RandomRanges ranges(seed != nullptr ? std::strtoull(seed, nullptr, 0) : 1, 24);
  for (int step = 0; step < 3000; ++step) {
    ranges.step();
    ranges.compare();
    ASSERT_FALSE(::testing::Test::HasFatalFailure())
        << "step " << step << ", seed " << (seed != nullptr ? seed : "1");
  }
}

}  // namespace
}  // namespace datum
