// Handles that are null, stale, of another kind, or no handles at all: an error for every function, never a
// crash.
#include <array>
#include <vector>

#include "tests/api/handle_calls.hpp"

namespace datum::test {
namespace {

TEST_F(Handles, given_a_null_handle_when_any_function_is_called_then_it_is_named) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  for (const Call& call : calls()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call.make(nullptr)) << call.name;
  }
}

TEST_F(Handles, given_bits_that_are_no_handle_when_any_function_is_called_then_they_are_refused) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  Random random(test_seed());
  std::array<std::uint64_t, 64> ordinary_memory{};
  std::vector<void*> bits{reinterpret_cast<void*>(1),
                          reinterpret_cast<void*>(0xdeadbeef),
                          reinterpret_cast<void*>(~std::uintptr_t{0}),
                          reinterpret_cast<void*>(0x8000000000000000ULL),
                          ordinary_memory.data(),
                          block_.get()};
  for (int i = 0; i < 20; ++i) {
    bits.push_back(reinterpret_cast<void*>(random.next() >> random.below(40)));
  }
  for (const Call& call : calls()) {
    for (void* handle : bits) {
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call.make(handle)) << call.name << " with " << handle;
    }
  }
}

TEST_F(Handles, given_a_live_handle_of_another_kind_when_any_function_is_called_then_it_is_refused) {
  if (mode() == Mode::wrapped || mode() == Mode::validation) {
    GTEST_SKIP() << "the layer above keeps its own tables of each kind";
  }
  const std::vector<std::pair<HandleKind, void*>> live{
      {HandleKind::driver, driver()},    {HandleKind::device, device()},   {HandleKind::context, context()},
      {HandleKind::queue, queue()},      {HandleKind::list, list_.get()},  {HandleKind::pool, pool_.get()},
      {HandleKind::event, event_.get()}, {HandleKind::fence, fence_.get()}};
  for (const Call& call : calls()) {
    for (const auto& [kind, handle] : live) {
      if (kind != call.kind) {
        EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call.make(handle))
            << call.name << " with a handle of kind " << static_cast<int>(kind);
      }
    }
  }
}

TEST_F(Handles, given_a_handle_inside_an_object_when_any_function_is_called_then_it_is_refused) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  for (const Call& call : calls()) {
    for (const std::ptrdiff_t offset : {1, 4, 8, 16, -8}) {
      if (call.kind == HandleKind::list) {
        EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  call.make(reinterpret_cast<char*>(list_.get()) + offset))
            << call.name << " + " << offset;
      }
    }
  }
}

TEST_F(Handles, given_the_handle_of_a_destroyed_object_when_any_function_is_called_then_it_is_refused) {
  DATUM_NEEDS_SURVIVABLE_STALE_HANDLES();
  OwnedContext other = create_context(driver());
  OwnedQueue other_queue = create_queue(other, device());
  OwnedList other_list = create_list(other, device());
  OwnedEventPool other_pool = create_event_pool(other, 1);
  OwnedEvent other_event = create_event(other_pool);
  OwnedFence other_fence = create_fence(other_queue);
  const std::vector<std::pair<HandleKind, void*>> stale{
      {HandleKind::context, other.get()},     {HandleKind::queue, other_queue.get()},
      {HandleKind::list, other_list.get()},   {HandleKind::pool, other_pool.get()},
      {HandleKind::event, other_event.get()}, {HandleKind::fence, other_fence.get()}};
  ASSERT_EQ(ZE_RESULT_SUCCESS, other_fence.destroy());
  ASSERT_EQ(ZE_RESULT_SUCCESS, other_event.destroy());
  ASSERT_EQ(ZE_RESULT_SUCCESS, other_pool.destroy());
  ASSERT_EQ(ZE_RESULT_SUCCESS, other_list.destroy());
  ASSERT_EQ(ZE_RESULT_SUCCESS, other_queue.destroy());
  ASSERT_EQ(ZE_RESULT_SUCCESS, other.destroy());
  for (const Call& call : calls()) {
    for (const auto& [kind, handle] : stale) {
      if (kind == call.kind) {
        EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call.make(handle)) << call.name;
      }
    }
  }
}

TEST_F(Handles, given_all_these_calls_when_made_then_the_good_objects_still_work) {
  for (const Call& call : calls()) {
    if (bad_handles_are_survivable()) {
      static_cast<void>(call.make(nullptr));
    }
  }
  const Bytes bytes = pattern(2048, 5);
  upload(block_.get(), bytes);
  EXPECT_TRUE(same_bytes(bytes, download(block_.get(), 2048)));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(event_));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list_));
}

}  // namespace
}  // namespace datum::test
