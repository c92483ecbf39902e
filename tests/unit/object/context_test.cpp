// Contexts, their allocations and what the board gets to see of them, on boards of the golden model.
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/device_heap.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "tests/unit/memory/model_board.hpp"
#include "tests/unit/memory/sizes.hpp"
#include "tests/unit/memory/table_walk.hpp"

namespace datum {
namespace {

class ContextTest : public ::testing::Test {
 protected:
  explicit ContextTest(unsigned boards = 1) {
    std::vector<std::unique_ptr<Board>> opened;
    for (unsigned board = 0; board < boards; ++board) {
      opened.push_back(test::open_model("memory=16M"));
    }
    Result<std::unique_ptr<Driver>> driver = Driver::create(std::move(opened));
    if (!driver.ok()) {
      ADD_FAILURE() << driver.error().message;
      return;
    }
    driver_ = std::move(*driver);
  }

  Device& device(unsigned index = 0) { return *driver_->devices()[index]; }

  std::unique_ptr<Context> make_context() {
    std::vector<Device*> devices;
    for (const auto& one : driver_->devices()) {
      devices.push_back(one.get());
    }
    Result<std::unique_ptr<Context>> context = Context::create(*driver_, devices);
    EXPECT_TRUE(context.ok());
    return std::move(*context);
  }

  /// Where the board's tables lead for `pointer`, everything committed.
  std::optional<std::uint64_t> translate(Context& context, const void* pointer, unsigned index = 0) {
    const Status committed = context.space(device(index)).commit();
    EXPECT_TRUE(committed.ok()) << committed.error().message;
    return test::translate(device(index).board(), context.space(device(index)).number(),
                           reinterpret_cast<std::uintptr_t>(pointer));
  }

  /// A byte of the board's memory through its aperture.
  std::uint8_t peek(std::uint64_t offset) {
    return static_cast<std::uint8_t>((*device().board().function().bar(2))->read32(offset & ~3ULL) >>
                                     (8 * (offset & 3)));
  }

  void poke(std::uint64_t offset, std::uint32_t value) {
    (*device().board().function().bar(2))->write32(offset, value);
  }

  std::unique_ptr<Driver> driver_;
};

class ContextOfTwoBoards : public ContextTest {
 protected:
  ContextOfTwoBoards() : ContextTest(2) {}
};

TEST_F(ContextTest, given_a_device_allocation_then_the_board_finds_it_at_its_pointer_and_all_of_it) {
  const auto context = make_context();
  auto* pointer = static_cast<std::byte*>(*context->allocate_device(device(), 0, 5 * mib + 1, 0));
  for (std::uint64_t offset = 0; offset <= 5 * mib; offset += 4096) {
    ASSERT_TRUE(translate(*context, pointer + offset).has_value()) << offset;
  }
  EXPECT_FALSE(translate(*context, pointer + 5 * mib + 4096).has_value());
  EXPECT_TRUE(context->free(pointer).ok());
}

TEST_F(ContextTest, given_a_freed_allocation_then_its_pages_come_back_after_the_boards_word_and_not_before) {
  const auto context = make_context();
  const std::uint64_t before = device().heap(0).free_bytes();
  void* pointer = *context->allocate_device(device(), 0, mib, 0);
  ASSERT_TRUE(translate(*context, pointer).has_value());
  ASSERT_TRUE(context->free(pointer).ok());
  EXPECT_LT(device().heap(0).free_bytes(), before);
  ASSERT_TRUE(device().drain_quarantine().ok());
  EXPECT_EQ(device().heap(0).free_bytes(), before);
  EXPECT_FALSE(translate(*context, pointer).has_value());
}

TEST_F(ContextTest, given_an_allocation_that_the_board_never_saw_when_freed_then_its_pages_are_free_at_once) {
  const auto context = make_context();
  ASSERT_TRUE(context->space(device()).commit().ok());
  const std::uint64_t before = device().heap(0).free_bytes();
  void* pointer = *context->allocate_device(device(), 0, mib, 0);
  ASSERT_TRUE(context->free(pointer).ok());
  EXPECT_EQ(device().heap(0).free_bytes(), before);
}

TEST_F(ContextTest,
       given_all_memory_waits_in_quarantine_when_allocating_then_it_is_emptied_instead_of_refusing) {
  const auto context = make_context();
  for (unsigned round = 0; round < 3; ++round) {
    Result<void*> pointer = context->allocate_device(device(), 0, device().heap(0).usable_bytes(), 0);
    ASSERT_TRUE(pointer.ok()) << pointer.error().message;
    ASSERT_TRUE(translate(*context, *pointer).has_value());
    ASSERT_TRUE(context->free(*pointer).ok());
  }
}

TEST_F(ContextTest, given_pages_of_one_context_when_another_gets_them_then_the_board_has_cleared_them) {
  const auto first = make_context();
  void* pointer = *first->allocate_device(device(), 0, 2 * mib, 0);
  const std::uint64_t offset = *translate(*first, pointer);
  poke(offset, 0x5ec5e75e);
  ASSERT_TRUE(first->free(pointer).ok());
  ASSERT_TRUE(device().drain_quarantine().ok());

  const auto second = make_context();
  void* others = *second->allocate_device(device(), 0, 2 * mib, 0);
  ASSERT_EQ(translate(*second, others), offset);
  EXPECT_EQ(peek(offset), 0U);
}

TEST_F(
    ContextTest,
    given_pages_that_went_through_another_contexts_hands_unseen_when_a_third_gets_them_then_they_are_cleared_all_the_same) {
  const auto first = make_context();
  void* pointer = *first->allocate_device(device(), 0, 2 * mib, 0);
  const std::uint64_t offset = *translate(*first, pointer);
  poke(offset, 0x5ec5e75e);
  ASSERT_TRUE(first->free(pointer).ok());
  ASSERT_TRUE(device().drain_quarantine().ok());

  const auto second = make_context();
  void* unused = *second->allocate_device(device(), 0, 2 * mib, 0);
  ASSERT_TRUE(second->free(unused).ok());
  void* used = *second->allocate_device(device(), 0, 2 * mib, 0);
  ASSERT_EQ(translate(*second, used), offset);
  EXPECT_EQ(peek(offset), 0U);
}

TEST_F(ContextTest, given_host_memory_then_host_and_board_share_it_at_one_address) {
  const auto context = make_context();
  auto* pointer = static_cast<std::byte*>(*context->allocate_host(100'000, 0));
  std::memset(pointer, 0x77, 100'000);
  EXPECT_TRUE(translate(*context, pointer).has_value());
  EXPECT_TRUE(translate(*context, pointer + 99'999).has_value());
  EXPECT_TRUE(context->free(pointer).ok());
}

TEST_F(ContextOfTwoBoards, given_host_memory_then_every_board_of_the_context_reaches_it) {
  const auto context = make_context();
  void* pointer = *context->allocate_host(3 * mib, 0);
  EXPECT_TRUE(translate(*context, pointer, 0).has_value());
  EXPECT_TRUE(translate(*context, pointer, 1).has_value());
  EXPECT_TRUE(context->free(pointer).ok());
}

TEST_F(ContextOfTwoBoards,
       given_device_memory_then_another_board_reaches_it_from_its_first_command_on_until_freed) {
  const auto context = make_context();
  void* pointer = *context->allocate_device(device(1), 0, 4096, 0);
  EXPECT_FALSE(translate(*context, pointer, 0).has_value());
  EXPECT_TRUE(translate(*context, pointer, 1).has_value());
  const auto shown = context->make_accessible(device(0), pointer, 1, board::DmaAccess::read);
  ASSERT_TRUE(shown.ok()) << shown.error().message;
  EXPECT_TRUE(shown->empty());
  EXPECT_TRUE(translate(*context, pointer, 0).has_value());
  EXPECT_TRUE(context->make_accessible(device(1), pointer, 1, board::DmaAccess::read).ok());
  EXPECT_TRUE(context->free(pointer).ok());
  EXPECT_FALSE(translate(*context, pointer, 0).has_value());
  EXPECT_FALSE(translate(*context, pointer, 1).has_value());
}

TEST_F(ContextOfTwoBoards,
       given_a_range_that_leaves_another_boards_memory_then_it_is_refused_and_not_shared) {
  const auto context = make_context();
  void* pointer = *context->allocate_device(device(1), 0, 4096, 0);
  const auto refused = context->make_accessible(device(0), pointer, 4097, board::DmaAccess::read);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(translate(*context, pointer, 0).has_value());
}

TEST_F(ContextTest, given_pointers_then_find_knows_those_of_its_context_by_their_requested_size) {
  const auto context = make_context();
  const auto other = make_context();
  auto* pointer = static_cast<std::byte*>(*context->allocate_device(device(), 0, 5000, 0));
  EXPECT_EQ(context->find(pointer + 4999)->size_bytes, 5000U);
  EXPECT_FALSE(context->find(pointer + 5000).has_value());
  EXPECT_FALSE(other->find(pointer).has_value());
  int local = 0;
  EXPECT_FALSE(context->find(&local).has_value());
}

TEST_F(ContextTest, given_pointers_that_are_not_its_own_when_freeing_then_they_are_refused) {
  const auto context = make_context();
  const auto other = make_context();
  auto* pointer = static_cast<std::byte*>(*context->allocate_host(8192, 0));
  int local = 0;
  EXPECT_EQ(context->free(pointer + 4096).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(context->free(&local).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(other->free(pointer).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(context->free(pointer).ok());
  EXPECT_EQ(context->free(pointer).error().code, ErrorCode::invalid_argument);
}

TEST_F(ContextTest, given_ranges_that_leave_their_allocation_then_they_are_not_accessible) {
  const auto context = make_context();
  auto* pointer = static_cast<std::byte*>(*context->allocate_device(device(), 0, 8192, 0));
  EXPECT_TRUE(context->make_accessible(device(), pointer, 8192, board::DmaAccess::write).ok());
  EXPECT_TRUE(context->make_accessible(device(), pointer + 8192, 0, board::DmaAccess::write).ok());
  EXPECT_EQ(context->make_accessible(device(), pointer + 1, 8192, board::DmaAccess::write).error().code,
            ErrorCode::invalid_argument);
  ASSERT_TRUE(context->free(pointer).ok());
  EXPECT_EQ(context->make_accessible(device(), pointer, 1, board::DmaAccess::write).error().code,
            ErrorCode::invalid_argument);
}

TEST_F(ContextTest, given_system_memory_then_the_board_reaches_it_as_long_as_the_pin_lives) {
  const auto context = make_context();
  std::vector<std::byte> memory(10'000);
  {
    const Pin pin =
        std::move(*context->make_accessible(device(), memory.data(), memory.size(), board::DmaAccess::write));
    EXPECT_FALSE(pin.empty());
    EXPECT_TRUE(translate(*context, memory.data()).has_value());
  }
  EXPECT_FALSE(translate(*context, memory.data()).has_value());
}

TEST_F(ContextTest, given_a_context_ends_with_live_allocations_then_all_memory_is_free_again) {
  const std::uint64_t before = device().heap(0).free_bytes();
  {
    const auto context = make_context();
    void* pointer = *context->allocate_device(device(), 0, 3 * mib, 0);
    ASSERT_TRUE(context->allocate_host(5 * mib, 0).ok());
    ASSERT_TRUE(context->allocate_shared(&device(), 4096, 0).ok());
    ASSERT_TRUE(translate(*context, pointer).has_value());
  }
  EXPECT_EQ(device().heap(0).free_bytes(), before);
}

TEST_F(ContextTest, given_a_page_the_board_never_saw_when_freed_then_the_next_of_its_kind_is_made_of_it) {
  const auto context = make_context();
  ASSERT_TRUE(context->space(device()).commit().ok());
  const std::uint64_t before = device().heap(0).free_bytes();
  void* const first = *context->allocate_device(device(), 0, 4096, 0);
  ASSERT_TRUE(context->free(first).ok());
  EXPECT_FALSE(context->find(first).has_value());
  void* const other_memory = *context->allocate_device(device(), 1, 4096, 0);
  EXPECT_NE(first, other_memory) << "the page is of the other memory";
  void* const second = *context->allocate_device(device(), 0, 100, 0);
  EXPECT_EQ(first, second);
  EXPECT_EQ(100U, context->find(second)->size_bytes);
  EXPECT_TRUE(translate(*context, second).has_value());
  ASSERT_TRUE(context->free(second).ok());
  EXPECT_FALSE(translate(*context, second).has_value());
  ASSERT_TRUE(context->free(*context->allocate_device(device(), 0, 4096, 0)).ok());
  device().give_back_idle();
  EXPECT_EQ(device().heap(0).free_bytes(), before);
}

TEST_F(ContextTest, given_idle_pages_in_one_context_when_another_needs_all_memory_then_it_gets_them) {
  const auto idle = make_context();
  const auto context = make_context();
  std::vector<void*> pages;
  for (int page = 0; page < 50; ++page) {
    pages.push_back(*idle->allocate_device(device(), 0, 4096, 0));
  }
  const auto free_all = [&] {
    for (void* page : pages) {
      ASSERT_TRUE(idle->free(page).ok());
    }
  };
  free_all();
  device().give_back_idle();
  const std::uint64_t all = device().heap(0).free_bytes();
  for (void*& page : pages) {
    page = *idle->allocate_device(device(), 0, 4096, 0);
  }
  free_all();
  EXPECT_LT(device().heap(0).free_bytes(), all);
  EXPECT_TRUE(context->allocate_device(device(), 0, all - mib, 0).ok()) << "tables take a little of it";
}

TEST_F(ContextTest,
       given_a_page_of_another_context_when_freed_unused_and_allocated_again_then_it_is_cleared) {
  const auto first = make_context();
  std::vector<void*> theirs;
  for (int page = 0; page < 16; ++page) {  // of which the next context's tables take some
    theirs.push_back(*first->allocate_device(device(), 0, 4096, 0));
  }
  const std::uint64_t place = *translate(*first, theirs.back());
  poke(place, 0xdeadbeef);
  for (void* page : theirs) {
    ASSERT_TRUE(first->free(page).ok());
  }
  ASSERT_TRUE(device().drain_quarantine().ok());
  const auto second = make_context();
  std::vector<void*> pages;
  for (int page = 0; page < 100; ++page) {
    void* const unused = *second->allocate_device(device(), 0, 4096, 0);
    ASSERT_TRUE(second->free(unused).ok());
    pages.push_back(*second->allocate_device(device(), 0, 4096, 0));
    if (translate(*second, pages.back()) == place) {
      EXPECT_EQ(0, peek(place));
      return;
    }
  }
  ADD_FAILURE() << "the page never came back";
}

TEST_F(ContextTest, given_threads_that_allocate_and_free_then_nothing_is_lost) {
  const auto context = make_context();
  ASSERT_TRUE(context->space(device()).commit().ok());
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<void*> live;
      for (unsigned step = 0; step < 500; ++step) {
        Result<void*> pointer = step % 2 == 0
                                    ? context->allocate_device(device(), 0, 4096 * (1 + step % 5), 0)
                                    : context->allocate_host(4096 * (1 + thread), 0);
        ASSERT_TRUE(pointer.ok()) << pointer.error().message;
        live.push_back(*pointer);
        if (step % 50 == 0) {
          ASSERT_TRUE(context->space(device()).commit().ok());
        }
        if (live.size() > 20) {
          ASSERT_TRUE(context->free(live.front()).ok());
          live.erase(live.begin());
        }
      }
      for (void* pointer : live) {
        ASSERT_TRUE(context->free(pointer).ok());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  ASSERT_TRUE(device().drain_quarantine().ok());
  Result<void*> all = context->allocate_device(device(), 0, device().heap(0).usable_bytes(), 0);
  EXPECT_TRUE(all.ok());
}

TEST_F(ContextTest, given_a_bias_when_allocated_then_every_leaf_carries_it) {
  const auto context = make_context();
  for (std::uint8_t policy = 0; policy < 8; ++policy) {
    void* const pointers[] = {*context->allocate_device(device(), 0, 3 * mib, 0, policy),
                              *context->allocate_host(5000, 0, {.cache_policy = policy}),
                              *context->allocate_shared(&device(), 5000, 0, {.cache_policy = policy})};
    ASSERT_TRUE(context->space(device()).commit().ok());
    for (void* pointer : pointers) {
      const auto leaf = test::find_leaf(device().board(), context->space(device()).number(),
                                        reinterpret_cast<std::uintptr_t>(pointer));
      ASSERT_TRUE(leaf.has_value());
      EXPECT_EQ(leaf->entry.cache_policy(), policy);
      EXPECT_TRUE(leaf->entry.writable());
      EXPECT_TRUE(context->free(pointer).ok());
    }
  }
}

TEST_F(ContextTest,
       given_memory_the_board_has_seen_when_freed_then_it_counts_as_available_before_it_is_free) {
  const auto context = make_context();
  DeviceHeap& heap = device().heap(0);
  void* pointer = *context->allocate_device(device(), 0, mib, 0);
  ASSERT_TRUE(context->space(device()).commit().ok());
  const std::uint64_t available = heap.available_bytes();
  const std::uint64_t free = heap.free_bytes();
  EXPECT_EQ(available, free);
  ASSERT_TRUE(context->free(pointer).ok());
  EXPECT_EQ(heap.free_bytes(), free) << "the board may still use the pages";
  EXPECT_EQ(heap.available_bytes(), available + mib);
  ASSERT_TRUE(context->space(device()).commit().ok());
  EXPECT_EQ(heap.free_bytes(), free + mib);
  EXPECT_EQ(heap.available_bytes(), available + mib);
}

TEST_F(ContextOfTwoBoards,
       given_memory_of_the_process_when_imported_then_every_board_reaches_it_until_it_is_freed) {
  const auto context = make_context();
  alignas(4096) static std::byte memory[3 * 4096];
  void* pointer = *context->import_system_memory(memory, sizeof(memory));
  EXPECT_EQ(pointer, memory);
  for (unsigned board = 0; board < 2; ++board) {
    EXPECT_TRUE(translate(*context, memory + 8192, board).has_value());
  }
  EXPECT_EQ(context->import_system_memory(memory + 4096, 4096).error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(context->free(pointer).ok());
  for (unsigned board = 0; board < 2; ++board) {
    EXPECT_FALSE(translate(*context, memory + 8192, board).has_value());
  }
}

TEST_F(ContextTest, given_imports_left_in_a_context_when_it_ends_then_they_go_with_it) {
  alignas(4096) static std::byte memory[4096];
  for (int round = 0; round < 3; ++round) {
    const auto context = make_context();
    EXPECT_TRUE(context->import_system_memory(memory, sizeof(memory), {.writable = round != 1}).ok());
  }
}

}  // namespace
}  // namespace datum
