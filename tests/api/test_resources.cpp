// Nothing is lost: after any number of rounds the process holds what it held before.
#include <functional>

#include "tests/support/api_session.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

class Resources : public ApiTest {
 protected:
  /// Runs `body` until everything that is kept on purpose is there, then many times more, and compares.
  void expect_no_growth(const std::function<void()>& body, int rounds) {
    for (int i = 0; i < 3; ++i) {
      body();
    }
    const std::size_t descriptors = open_descriptors();
    const std::size_t mappings = memory_mappings();
    const std::size_t threads = thread_count();
    const std::size_t resident = resident_bytes();
    for (int i = 0; i < rounds; ++i) {
      body();
    }
    EXPECT_LE(open_descriptors(), descriptors);
    EXPECT_LE(thread_count(), threads);
    if (!sanitized()) {  // those keep books of their own in memory
      EXPECT_LE(memory_mappings(), mappings + 4) << "malloc may take a few of its own";
      EXPECT_LE(resident_bytes(), resident + (8U << 20U));
    }
  }
};

TEST_F(Resources, given_contexts_with_everything_in_them_when_made_and_destroyed_then_nothing_grows) {
  expect_no_growth(
      [this] {
        const OwnedContext own = create_context(driver());
        const OwnedMemory host = allocate(MemoryKind::host, own, device(), 10'000);
        const OwnedMemory block = allocate(MemoryKind::device, own, device(), 10'000);
        const OwnedQueue one = create_queue(own, device());
        const OwnedList list = create_list(own, device());
        const OwnedEventPool pool = create_event_pool(own, 2);
        const OwnedEvent event = create_event(pool);
        const OwnedFence fence = create_fence(one);
        ASSERT_EQ(ZE_RESULT_SUCCESS,
                  zeCommandListAppendMemoryCopy(list, block.get(), host.get(), 1000, event, 0, nullptr));
        ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
        ze_command_list_handle_t handle = list;
        ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(one, 1, &handle, fence));
        ASSERT_EQ(ZE_RESULT_SUCCESS, zeFenceHostSynchronize(fence, patience_ns));
      },
      by_board(200, 15));
}

TEST_F(Resources, given_memory_of_every_kind_when_allocated_and_freed_then_nothing_grows) {
  expect_no_growth(
      [this] {
        for (const MemoryKind kind : all_memory_kinds) {
          const OwnedMemory block = memory(kind, 100'000);
        }
      },
      by_board(1000, 200));
}

TEST_F(Resources, given_large_host_memory_when_allocated_and_freed_then_its_pages_go_back) {
  expect_no_growth(
      [this] {
        const OwnedMemory block = memory(MemoryKind::host, 32U << 20U);
        for (std::size_t at = 0; at < (32U << 20U); at += 4096) {
          block.bytes()[at] = 1;
        }
      },
      5);
}

TEST_F(Resources, given_copies_of_ordinary_memory_when_repeated_then_nothing_stays_pinned) {
  const OwnedMemory block = memory(MemoryKind::device, 50'000);
  expect_no_growth(
      [&] {
        const Bytes ordinary = pattern(by_board<std::size_t>(50'000, 5000), 3);
        copy(block.get(), ordinary.data(), ordinary.size());
      },
      by_board(200, 10));
}

TEST_F(Resources, given_calls_that_fail_when_repeated_then_nothing_grows) {
  expect_no_growth(
      [this] {
        void* pointer = nullptr;
        EXPECT_NE(ZE_RESULT_SUCCESS,
                  allocate_raw(MemoryKind::host, context(), device(), SIZE_MAX, 0, &pointer));
        EXPECT_NE(ZE_RESULT_SUCCESS, allocate_raw(MemoryKind::device, context(), device(), 64, 3, &pointer));
        EXPECT_NE(ZE_RESULT_SUCCESS, zeMemFree(context(), &pointer));
      },
      2000);
}

TEST_F(Resources,
       given_a_hundred_thousand_live_allocations_when_queried_then_the_kernels_map_count_does_not_follow) {
  const std::size_t count = by_board<std::size_t>(100'000, 5'000);
  const std::size_t mappings = memory_mappings();
  std::vector<OwnedMemory> blocks;
  blocks.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    blocks.push_back(memory(MemoryKind::device, 64));
    ASSERT_NE(nullptr, blocks.back().get()) << i;
  }
  EXPECT_LT(memory_mappings(), mappings + 2000);
  std::size_t size = 0;
  void* base = nullptr;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), blocks[count / 2].bytes() + 5, &base, &size));
  EXPECT_EQ(blocks[count / 2].get(), base);
  EXPECT_EQ(64U, size);
}

}  // namespace
}  // namespace datum::test
