#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "driver/memory/device_heap.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

DeviceHeap::Options options_of(std::uint64_t bytes, std::uint64_t fixed_bytes,
                               std::uint64_t reserve_bytes = 0) {
  return {0, bytes, fixed_bytes, true, reserve_bytes};
}

std::uint64_t bytes_of(const std::vector<PageRun>& runs) {
  std::uint64_t bytes = 0;
  for (const PageRun& run : runs) {
    bytes += run.bytes;
  }
  return bytes;
}

TEST(DeviceHeap, given_a_size_then_whole_pages_of_it_are_given_and_counted_exactly) {
  DeviceHeap heap(options_of(64 * mib, 16 * mib));
  const auto runs = *heap.allocate(5000);
  EXPECT_EQ(bytes_of(runs), 8192U);
  EXPECT_EQ(heap.free_bytes(), 64 * mib - 8192);
  heap.free(runs);
  EXPECT_EQ(heap.free_bytes(), 64 * mib);
}

TEST(DeviceHeap, given_all_of_the_memory_is_asked_for_then_it_is_given_and_one_byte_more_is_not) {
  DeviceHeap heap(options_of(64 * mib, 16 * mib));
  const auto all = *heap.allocate(64 * mib);
  EXPECT_EQ(bytes_of(all), 64 * mib);
  const auto more = heap.allocate(1);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, ErrorCode::out_of_device_memory);
  heap.free(all);
  EXPECT_EQ(heap.allocate(64 * mib + 1).error().code, ErrorCode::out_of_device_memory);
  EXPECT_TRUE(heap.allocate(64 * mib).ok());
}

TEST(DeviceHeap,
     given_every_other_page_is_taken_when_half_of_the_memory_is_asked_for_then_the_pages_between_are_given) {
  DeviceHeap heap(options_of(4 * mib, 2 * mib));
  std::vector<std::vector<PageRun>> pages;
  for (unsigned page = 0; page < 1024; ++page) {
    pages.push_back(*heap.allocate(4096));
  }
  std::sort(pages.begin(), pages.end(),
            [](const auto& a, const auto& b) { return a[0].first.offset_bytes < b[0].first.offset_bytes; });
  for (unsigned page = 0; page < 1024; page += 2) {
    heap.free(pages[page]);
  }
  const auto half = heap.allocate(2 * mib);
  ASSERT_TRUE(half.ok());
  EXPECT_EQ(heap.free_bytes(), 0U);
}

TEST(DeviceHeap, given_2_mib_and_more_then_large_pages_are_used_where_there_are_some) {
  DeviceHeap heap(options_of(64 * mib, 2 * mib));
  const auto runs = *heap.allocate(6 * mib);
  for (const PageRun& run : runs) {
    EXPECT_TRUE(is_aligned(run.first.offset_bytes, large_page_bytes));
    EXPECT_TRUE(is_aligned(run.bytes, large_page_bytes));
  }
}

TEST(DeviceHeap,
     given_tables_and_allocations_then_tables_lie_in_the_fixed_part_and_allocations_outside_while_they_can) {
  DeviceHeap heap(options_of(64 * mib, 16 * mib));
  EXPECT_LT(heap.allocate_table()->offset_bytes, 16 * mib);
  EXPECT_GE((*heap.allocate(4096))[0].first.offset_bytes, 16 * mib);
  EXPECT_GE((*heap.allocate(2 * mib))[0].first.offset_bytes, 16 * mib);
}

TEST(DeviceHeap, given_a_fixed_part_below_2_mib_when_it_is_full_of_tables_then_none_lies_behind_it) {
  DeviceHeap heap(options_of(16 * mib, mib, 64 * 1024));
  EXPECT_EQ(heap.usable_bytes(), 15 * mib - 64 * 1024) << "what is behind it in its block is not used";
  EXPECT_EQ(heap.free_bytes(), heap.usable_bytes());
  for (unsigned table = 0; table < mib / 4096; ++table) {
    const auto page = heap.allocate_table();
    ASSERT_TRUE(page.ok()) << table;
    ASSERT_LT(page->offset_bytes, mib);
  }
  EXPECT_EQ(heap.allocate_table().error().code, ErrorCode::out_of_device_memory);
  const auto rest = heap.allocate(14 * mib);
  ASSERT_TRUE(rest.ok());
  EXPECT_GE(rest->front().first.offset_bytes, 2 * mib);
}

TEST(DeviceHeap, given_a_reserve_for_tables_when_the_memory_is_exhausted_then_tables_still_get_it) {
  DeviceHeap heap(options_of(8 * mib, 4 * mib, 64 * 1024));
  EXPECT_EQ(heap.usable_bytes(), 8 * mib - 64 * 1024);
  ASSERT_TRUE(heap.allocate(heap.usable_bytes()).ok());
  EXPECT_FALSE(heap.allocate(1).ok());
  for (unsigned table = 0; table < 16; ++table) {
    EXPECT_TRUE(heap.allocate_table().ok()) << table;
  }
  EXPECT_EQ(heap.allocate_table().error().code, ErrorCode::out_of_device_memory);
}

TEST(DeviceHeap, given_a_memory_that_is_no_multiple_of_2_mib_then_its_last_pages_are_used_too) {
  DeviceHeap heap({1, 3 * mib + 5000, 0, true, 0});
  EXPECT_EQ(heap.total_bytes(), 3 * mib + 4096);
  const auto runs = heap.allocate(3 * mib + 4096);
  ASSERT_TRUE(runs.ok());
  EXPECT_FALSE(heap.allocate(1).ok());
}

TEST(DeviceHeap, given_pages_that_another_owner_used_then_these_and_only_these_are_foreign) {
  DeviceHeap heap(options_of(8 * mib, 2 * mib));
  const auto runs = *heap.allocate(4 * 4096);
  EXPECT_TRUE(heap.foreign_parts(runs, 1).empty());

  const PageRun second{runs[0].first + 4096, 4096};
  heap.set_owner(std::vector{second}, 1);

  EXPECT_TRUE(heap.foreign_parts(runs, 1).empty());
  EXPECT_EQ(heap.foreign_parts(runs, 2), std::vector{second});
}

TEST(DeviceHeap, given_a_memory_that_was_not_clean_at_power_on_then_every_page_is_foreign_to_everybody) {
  DeviceHeap heap({0, 8 * mib, 2 * mib, false, 0});
  const auto runs = *heap.allocate(2 * mib);
  EXPECT_EQ(bytes_of(heap.foreign_parts(runs, 1)), 2 * mib);
}

TEST(DeviceHeap, given_a_page_that_held_a_table_then_it_is_foreign_to_contexts) {
  DeviceHeap heap(options_of(2 * mib, 2 * mib));
  const DeviceAddress table = *heap.allocate_table();
  heap.free_table(table);
  const auto runs = *heap.allocate(2 * mib);
  EXPECT_EQ(heap.foreign_parts(runs, 1), (std::vector{PageRun{table, 4096}}));
}

TEST(DeviceHeap, given_random_use_then_no_page_is_given_twice_and_all_come_back) {
  DeviceHeap heap(options_of(32 * mib, 8 * mib));
  std::mt19937 random(3);
  std::vector<std::vector<PageRun>> live;
  std::vector<bool> used(32 * mib / 4096);
  const auto mark = [&](const std::vector<PageRun>& runs, bool value) {
    for (const PageRun& run : runs) {
      for (std::uint64_t page = run.first.offset_bytes / 4096;
           page < (run.first.offset_bytes + run.bytes) / 4096; ++page) {
        ASSERT_NE(used[page], value);
        used[page] = value;
      }
    }
  };
  for (unsigned step = 0; step < 5'000; ++step) {
    auto runs = random() % 2 == 0 ? heap.allocate(1 + random() % (3 * mib))
                                  : Result<std::vector<PageRun>>(make_error(ErrorCode::unknown, ""));
    if (runs.ok()) {
      mark(*runs, true);
      live.push_back(*runs);
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      mark(live.back(), false);
      heap.free(live.back());
      live.pop_back();
    }
  }
  for (const auto& runs : live) {
    heap.free(runs);
  }
  EXPECT_EQ(heap.free_bytes(), 32 * mib);
}

TEST(DeviceHeap, given_a_clean_memory_when_its_contents_are_forgotten_then_every_page_is_foreign) {
  DeviceHeap heap(options_of(4 * mib, 2 * mib));
  const auto runs = *heap.allocate(2 * mib + 4096);
  EXPECT_TRUE(heap.foreign_parts(runs, 1).empty());
  heap.forget_contents();
  EXPECT_EQ(bytes_of(heap.foreign_parts(runs, 1)), bytes_of(runs));
  heap.set_owner(runs, 1);
  EXPECT_TRUE(heap.foreign_parts(runs, 1).empty());
}

}  // namespace
}  // namespace datum
