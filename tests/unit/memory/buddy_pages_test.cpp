#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/buddy_pages.hpp"

namespace datum {
namespace {

TEST(BuddyPages, given_no_slab_when_taking_then_there_is_nothing) {
  BuddyPages pages;
  EXPECT_FALSE(pages.take(0).has_value());
}

TEST(BuddyPages, given_one_slab_when_single_pages_are_taken_then_there_are_512_different_ones) {
  BuddyPages pages;
  pages.add_slab();
  std::set<unsigned> taken;
  while (const auto block = pages.take(0)) {
    taken.insert(block->page);
  }
  EXPECT_EQ(taken.size(), 512U);
}

TEST(BuddyPages, given_a_block_of_any_order_then_it_begins_at_a_multiple_of_its_size) {
  BuddyPages pages;
  pages.add_slab();
  ASSERT_TRUE(pages.take(0).has_value());
  for (unsigned order = 0; order < BuddyPages::slab_order; ++order) {
    const auto block = pages.take(order);
    ASSERT_TRUE(block.has_value());
    EXPECT_EQ(block->page % (1U << order), 0U);
  }
}

TEST(BuddyPages, given_all_blocks_given_back_then_the_slab_is_whole_and_can_be_removed) {
  BuddyPages pages;
  const std::uint32_t slab = pages.add_slab();
  std::vector<BuddyBlock> blocks;
  for (const unsigned order : {3U, 0U, 5U, 0U, 8U}) {
    blocks.push_back(*pages.take(order));
  }
  for (std::size_t index = 0; index + 1 < blocks.size(); ++index) {
    EXPECT_FALSE(pages.release(blocks[index]));
  }
  EXPECT_TRUE(pages.release(blocks.back()));
  pages.remove_slab(slab);
  EXPECT_FALSE(pages.take(0).has_value());
  EXPECT_EQ(pages.add_slab(), slab);
}

TEST(BuddyPages, given_random_use_then_no_page_is_ever_in_two_blocks) {
  BuddyPages pages;
  std::mt19937 random(7);
  std::vector<BuddyBlock> live;
  std::set<unsigned> used;
  for (unsigned step = 0; step < 20'000; ++step) {
    if (live.empty() || random() % 2 == 0) {
      const auto order = static_cast<unsigned>(random() % 6);
      auto block = pages.take(order);
      if (!block) {
        pages.add_slab();
        block = pages.take(order);
      }
      ASSERT_TRUE(block.has_value());
      for (unsigned page = 0; page < (1U << order); ++page) {
        ASSERT_TRUE(used.insert(block->slab * 512 + block->page + page).second);
      }
      live.push_back(*block);
    } else {
      std::swap(live[random() % live.size()], live.back());
      for (unsigned page = 0; page < (1U << live.back().order); ++page) {
        used.erase(live.back().slab * 512 + live.back().page + page);
      }
      pages.release(live.back());
      live.pop_back();
    }
  }
}

TEST(BuddyOrder, given_sizes_and_alignments_then_the_block_holds_and_aligns_both) {
  EXPECT_EQ(buddy_order(1, 4096), 0U);
  EXPECT_EQ(buddy_order(4096, 4096), 0U);
  EXPECT_EQ(buddy_order(4097, 4096), 1U);
  EXPECT_EQ(buddy_order(3 * 4096, 4096), 2U);
  EXPECT_EQ(buddy_order(1, 65536), 4U);
  EXPECT_EQ(buddy_order(1U << 20U, 4096), 8U);
}

}  // namespace
}  // namespace datum
