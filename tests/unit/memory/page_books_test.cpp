// Allocations that wait idle: for whom, and what boards see of them meanwhile.
#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/address_window.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/memory/page_books.hpp"
#include "tests/unit/memory/model_board.hpp"
#include "tests/unit/memory/table_walk.hpp"

namespace datum {
namespace {

constexpr PageKind dram_page{0, 0, {}};

class PageBooksTest : public ::testing::Test {
 protected:
  PageBooksTest()
      : board_(test::open_model("memory=64M")),
        heap_({0, board_->capabilities().memory_bytes, board_->capabilities().aperture_fixed_bytes, true, 0}),
        window_(std::move(*AddressWindow::reserve(1ULL << 30U))),
        space_(std::move(
            *AddressSpace::create(*board_, heap_, [](std::span<const PageRun>) { return Status{}; }))) {
    books_.add_space(*space_);
  }

  void map(MemoryBacking& page) {
    page.set_mapped(books_.commits());
    PageTarget target;
    target.device = page.runs().front().first;
    ASSERT_TRUE(space_->map(DeviceVa{page.base()}, target, PageBooks::page_bytes, {}).ok());
  }

  /// A live, mapped page.
  MemoryBacking& make_page(const PageKind& kind = dram_page) {
    auto backing = std::move(*MemoryBacking::take_device(*window_, heap_, PageBooks::page_bytes, 1));
    MemoryBacking& page = *backing;
    page.set_kind(kind);
    map(page);
    books_.add(std::move(backing));
    return page;
  }

  [[nodiscard]] bool board_sees(const MemoryBacking& page) {
    return test::translate(*board_, space_->number(), page.base()).has_value();
  }

  std::unique_ptr<Board> board_;
  DeviceHeap heap_;
  std::unique_ptr<AddressWindow> window_;
  std::unique_ptr<AddressSpace> space_;
  std::atomic<std::uint64_t> next_id_{1};
  PageBooks books_{next_id_};
};

TEST_F(PageBooksTest,
       given_a_freed_page_when_one_of_its_kind_is_wanted_then_it_is_that_one_as_it_was_mapped) {
  MemoryBacking& page = make_page();
  ASSERT_TRUE(books_.keep_mapped(page));
  EXPECT_EQ(books_.reuse(dram_page).page, &page);
  EXPECT_TRUE(page.is_mapped());
  EXPECT_EQ(books_.reuse(dram_page).page, nullptr);
  ASSERT_TRUE(space_->commit().ok());
  EXPECT_TRUE(board_sees(page));
}

TEST_F(PageBooksTest, given_a_freed_page_when_another_kind_is_wanted_then_it_is_none) {
  MemoryBacking& page = make_page();
  ASSERT_TRUE(books_.keep_mapped(page));
  EXPECT_EQ(books_.reuse({0, 1, {}}).page, nullptr);
  EXPECT_EQ(books_.reuse({0, 0, {.writable = false}}).page, nullptr);
  EXPECT_EQ(books_.reuse({0, 0, {.cache_policy = 1}}).page, nullptr);
  EXPECT_EQ(books_.reuse({}).page, nullptr);
}

TEST_F(PageBooksTest, given_an_idle_page_when_changes_go_to_the_board_then_it_is_not_among_them) {
  MemoryBacking& live = make_page();
  MemoryBacking& idle = make_page();
  ASSERT_TRUE(books_.keep_mapped(idle));
  ASSERT_TRUE(space_->commit().ok());
  EXPECT_TRUE(board_sees(live));
  EXPECT_FALSE(board_sees(idle));
  EXPECT_FALSE(idle.is_mapped());
  EXPECT_EQ(books_.reuse(dram_page).page, &idle);
}

TEST_F(PageBooksTest,
       given_a_page_that_a_board_may_have_seen_when_it_is_freed_then_it_stays_live_and_mapped) {
  MemoryBacking& page = make_page();
  ASSERT_TRUE(space_->commit().ok());
  EXPECT_FALSE(books_.keep_mapped(page));
  EXPECT_EQ(books_.first(), &page);
  EXPECT_TRUE(board_sees(page));
}

TEST_F(PageBooksTest,
       given_a_page_that_was_taken_out_of_the_tables_when_it_is_reused_then_it_is_to_be_mapped) {
  MemoryBacking& page = make_page();
  ASSERT_FALSE(space_->unmap(DeviceVa{page.base()}, PageBooks::page_bytes));
  ASSERT_TRUE(books_.keep_unmapped(page));
  ASSERT_EQ(books_.reuse(dram_page).page, &page);
  EXPECT_FALSE(page.is_mapped());
  map(page);
  ASSERT_TRUE(space_->commit().ok());
  EXPECT_TRUE(board_sees(page));
}

TEST_F(PageBooksTest, given_pages_with_a_past_when_they_are_freed_then_none_waits_for_another_owner) {
  MemoryBacking& shared = make_page();
  shared.mark_shared();
  EXPECT_FALSE(books_.keep_mapped(shared));
  MemoryBacking& foreign = make_page();
  foreign.mark_foreign();
  EXPECT_FALSE(books_.keep_mapped(foreign));
  EXPECT_FALSE(books_.keep_unmapped(foreign));
}

TEST_F(PageBooksTest,
       given_idle_pages_when_they_are_given_back_then_their_memory_is_free_and_mapped_nowhere) {
  const std::uint64_t free_before = heap_.free_bytes();
  std::vector<MemoryBacking*> pages;
  for (int index = 0; index < 10; ++index) {
    pages.push_back(&make_page());
  }
  const std::uint64_t free_with_tables = heap_.free_bytes() + 10 * PageBooks::page_bytes;
  EXPECT_LE(free_with_tables, free_before);
  for (MemoryBacking* page : pages) {
    ASSERT_TRUE(books_.keep_mapped(*page));
  }
  EXPECT_EQ(heap_.free_bytes() + 10 * PageBooks::page_bytes, free_with_tables);
  books_.give_back();
  EXPECT_EQ(heap_.free_bytes(), free_with_tables);
  EXPECT_EQ(books_.reuse(dram_page).page, nullptr);
}

TEST_F(PageBooksTest, given_more_freed_pages_than_are_kept_then_the_rest_goes_back_to_its_owner) {
  std::vector<MemoryBacking*> pages;
  for (int index = 0; index < 400; ++index) {
    pages.push_back(&make_page());
  }
  const auto kept = std::count_if(pages.begin(), pages.end(),
                                  [&](MemoryBacking* page) { return books_.keep_mapped(*page); });
  EXPECT_GE(kept, 32);
  EXPECT_LE(kept, 8 * 32);
}

TEST_F(PageBooksTest, given_threads_that_free_and_reuse_while_others_commit_then_ids_never_repeat) {
  std::vector<std::thread> threads;
  std::vector<std::vector<std::uint64_t>> ids(3);
  for (auto& own : ids) {
    threads.emplace_back([&] {
      MemoryBacking* page = &make_page();
      for (unsigned round = 0; round < 2000; ++round) {
        if (!books_.keep_mapped(*page)) {
          if (space_->unmap(DeviceVa{page->base()}, PageBooks::page_bytes)) {
            space_->retire(page->shared_from_this());
          }
          books_.remove(*page);
          page = &make_page();
          continue;
        }
        const auto [reused, id] = books_.reuse(dram_page);
        page = reused != nullptr ? reused : &make_page();
        own.push_back(reused != nullptr ? id : next_id_.fetch_add(1));
        if (!page->is_mapped()) {
          map(*page);
        }
      }
    });
  }
  threads.emplace_back([&] {
    for (unsigned round = 0; round < 200; ++round) {
      EXPECT_TRUE(space_->commit().ok());
    }
  });
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::set<std::uint64_t> all;
  std::size_t count = 0;
  for (const auto& own : ids) {
    all.insert(own.begin(), own.end());
    count += own.size();
  }
  EXPECT_EQ(all.size(), count);
  while (MemoryBacking* page = books_.first()) {
    books_.remove(*page);
  }
}

}  // namespace
}  // namespace datum
