// Fences: tell the host that an execution is done.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class Fence : public ApiTest {
 protected:
  [[nodiscard]] ze_result_t create_code(const ze_fence_desc_t& description) {
    ze_fence_handle_t made = untouched;
    const ze_result_t result = zeFenceCreate(queue(), &description, &made);
    if (result == ZE_RESULT_SUCCESS) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeFenceDestroy(made));
    } else {
      EXPECT_EQ(untouched, made);
    }
    return result;
  }

  static inline const ze_fence_handle_t untouched = reinterpret_cast<ze_fence_handle_t>(0x1234);
};

TEST_F(Fence, given_descriptors_when_created_then_each_has_its_code) {
  EXPECT_EQ(ZE_RESULT_SUCCESS, create_code({ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0}));
  EXPECT_EQ(ZE_RESULT_SUCCESS, create_code({ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, ZE_FENCE_FLAG_SIGNALED}));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_code({ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 2}));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code({ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0}));
  const ze_fence_desc_t legal{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  ze_fence_handle_t made = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeFenceCreate(queue(), nullptr, &made));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeFenceCreate(queue(), &legal, nullptr));
}

TEST_F(Fence, given_a_new_fence_when_asked_then_it_is_as_its_flag_says) {
  const OwnedFence fence = create_fence(queue());
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeFenceQueryStatus(fence));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeFenceHostSynchronize(fence, 0));
  const OwnedFence signalled = create_fence(queue(), ZE_FENCE_FLAG_SIGNALED);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeFenceQueryStatus(signalled));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeFenceReset(signalled));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeFenceQueryStatus(signalled));
}

TEST_F(Fence,
       given_work_behind_a_fence_when_waited_for_then_the_bytes_are_there_and_it_works_again_after_reset) {
  const OwnedFence fence = create_fence(queue());
  const OwnedMemory from = memory(MemoryKind::host, 5000);
  const OwnedMemory to = memory(MemoryKind::shared, 5000);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 5000, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  for (std::uint64_t round = 0; round < 5; ++round) {
    write_pattern(from.get(), 5000, round);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &handle, fence));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeFenceHostSynchronize(fence, patience_ns));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeFenceQueryStatus(fence));
    ASSERT_TRUE(same_bytes(from.get(), to.get(), 5000)) << "round " << round;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeFenceReset(fence));
    EXPECT_EQ(ZE_RESULT_NOT_READY, zeFenceQueryStatus(fence));
  }
}

TEST_F(Fence, given_work_that_waits_when_the_fence_is_waited_for_then_its_time_out_is_kept) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  ze_event_handle_t wait_for = gate;
  const OwnedFence fence = create_fence(queue());
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &handle, fence));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeFenceHostSynchronize(fence, 0));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeFenceHostSynchronize(fence, 10'000'000));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeFenceHostSynchronize(fence, UINT64_MAX));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
}

TEST_F(Fence, given_work_that_is_outstanding_when_the_fence_is_reset_then_its_end_signals_it_all_the_same) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  ze_event_handle_t wait_for = gate;
  const OwnedFence fence = create_fence(queue());
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &handle, fence));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeFenceReset(fence));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeFenceQueryStatus(fence));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeFenceHostSynchronize(fence, patience_ns));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeFenceReset(fence));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeFenceQueryStatus(fence));
}

TEST_F(Fence, given_two_executions_with_a_fence_each_when_the_second_is_done_then_so_is_the_first) {
  const OwnedFence first = create_fence(queue());
  const OwnedFence second = create_fence(queue());
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  const unsigned char value = 9;
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryFill(list, block.get(), &value, 1, 4096, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &handle, first));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &handle, second));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeFenceHostSynchronize(second, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeFenceQueryStatus(first));
}

}  // namespace
}  // namespace datum::test
