// Work that the board refuses: ends every wait with UNKNOWN, costs its queue, and nothing else.
#include <array>
#include <cstring>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class FailingWork : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    const ze_host_mem_alloc_desc_t read_only{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr,
                                             ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY};
    void* pointer = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(context(), &read_only, 4096, 0, &pointer));
    guarded_ = OwnedMemory(context(), pointer);
    write_pattern(guarded_.get(), 4096, 1);
    source_ = memory(MemoryKind::device, 4096);
    upload(source_.get(), pattern(4096, 2));
    victim_ = create_queue(context(), device());
  }

  void TearDown() override {
    EXPECT_EQ(ZE_RESULT_SUCCESS, victim_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, guarded_.free());
    EXPECT_EQ(ZE_RESULT_SUCCESS, source_.free());
    ApiTest::TearDown();
  }

  /// A closed list whose copy writes to memory that the board may only read.
  [[nodiscard]] OwnedList forbidden_list(ze_event_handle_t signal = nullptr,
                                         ze_event_handle_t gate = nullptr) {
    OwnedList list = create_list(context(), device());
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, guarded_.get(), source_.get(), 4096, signal,
                                            gate != nullptr ? 1 : 0, gate != nullptr ? &gate : nullptr));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    return list;
  }

  static ze_result_t execute(ze_command_queue_handle_t on, ze_command_list_handle_t list,
                             ze_fence_handle_t fence = nullptr) {
    return zeCommandQueueExecuteCommandLists(on, 1, &list, fence);
  }

  void expect_board_and_other_queues_work() {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetStatus(device()));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextGetStatus(context()));
    const Bytes bytes = pattern(4096, 77);
    const OwnedMemory block = memory(MemoryKind::device, 4096);
    upload(block.get(), bytes);
    EXPECT_TRUE(same_bytes(bytes, download(block.get(), 4096))) << "another queue goes on";
    const OwnedQueue fresh = create_queue(context(), device());
    const OwnedMemory target = memory(MemoryKind::shared, 64);
    const OwnedList list = create_list(context(), device());
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, target.get(), block.get(), 64, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute(fresh, list));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(fresh, patience_ns)) << "a new queue works";
    EXPECT_TRUE(same_bytes(bytes.data(), target.get(), 64));
  }

  OwnedMemory guarded_;
  OwnedMemory source_;
  OwnedQueue victim_;
};

TEST_F(FailingWork, given_memory_that_the_board_may_only_read_when_read_then_it_works) {
  EXPECT_TRUE(same_bytes(pattern(4096, 1), download(guarded_.get(), 4096)));
  std::memset(guarded_.get(), 5, 4096);
  EXPECT_TRUE(same_bytes(Bytes(4096, 5), download(guarded_.get(), 4096))) << "the CPU may write it";
}

TEST_F(FailingWork, given_a_refused_copy_when_waited_for_then_it_is_unknown_and_not_one_byte_was_written) {
  const OwnedList list = forbidden_list();
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(victim_, list));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim_, patience_ns));
  EXPECT_TRUE(same_bytes(pattern(4096, 1).data(), guarded_.get(), 4096));
  expect_board_and_other_queues_work();
}

TEST_F(FailingWork, given_a_queue_whose_work_failed_when_used_again_then_it_refuses_with_the_same_code) {
  const OwnedList list = forbidden_list();
  const OwnedList good = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(good));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(victim_, list));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim_, patience_ns));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim_, 0)) << "again";
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, execute(victim_, good));
  expect_board_and_other_queues_work();
}

TEST_F(FailingWork, given_a_fence_and_an_event_behind_a_refused_copy_when_waited_for_then_each_says_unknown) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent done = create_event(pool);
  const OwnedFence fence = create_fence(victim_);
  const OwnedList list = forbidden_list(done);
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(victim_, list, fence));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeFenceHostSynchronize(fence, patience_ns));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeFenceQueryStatus(fence));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeEventHostSynchronize(done, patience_ns));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeEventQueryStatus(done));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(done));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(done)) << "a reset forgets the failure";
}

TEST_F(FailingWork,
       given_work_that_waits_for_failed_work_when_waited_for_then_it_fails_too_through_every_link) {
  const OwnedEventPool pool = create_event_pool(context(), 3);
  const OwnedEvent first = create_event(pool, 0);
  const OwnedEvent second = create_event(pool, 1);
  const OwnedEvent third = create_event(pool, 2);
  const OwnedMemory target = memory(MemoryKind::shared, 64);
  std::memset(target.get(), 0, 64);
  const auto dependent = [&](ze_event_handle_t wait_for, ze_event_handle_t signal) {
    OwnedList list = create_list(context(), device());
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, target.get(), source_.get(), 64, signal, 1, &wait_for));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    return list;
  };
  const OwnedQueue middle = create_queue(context(), device());
  const OwnedQueue last = create_queue(context(), device());
  const OwnedList middle_list = dependent(first, second);
  const OwnedList last_list = dependent(second, third);
  const OwnedList list = forbidden_list(first);
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(last, last_list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(middle, middle_list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(victim_, list));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(last, patience_ns));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(middle, patience_ns));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeEventQueryStatus(third));
  EXPECT_TRUE(same_bytes(Bytes(64, 0).data(), target.get(), 64)) << "dependent work does not run";
  expect_board_and_other_queues_work();
}

TEST_F(FailingWork,
       given_work_that_waits_when_its_event_is_destroyed_then_it_ends_with_unknown_and_so_does_what_follows) {
  const OwnedEventPool pool = create_event_pool(context(), 2);
  OwnedEvent gate = create_event(pool, 0);
  const OwnedEvent passed = create_event(pool, 1);
  ze_event_handle_t waited = gate;
  ze_event_handle_t then = passed;
  OwnedQueue last = create_queue(context(), device());
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, passed, 1, &waited));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  const OwnedList last_list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(last_list, 1, &then));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(last_list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(victim_, list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(last, last_list));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(last, 1'000'000));
  ASSERT_EQ(ZE_RESULT_SUCCESS, gate.destroy());
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim_, patience_ns));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(last, patience_ns));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeEventQueryStatus(passed));
  EXPECT_EQ(ZE_RESULT_SUCCESS, last.destroy());
  expect_board_and_other_queues_work();
}

TEST_F(FailingWork, given_work_that_waits_for_its_own_end_when_event_and_queue_are_destroyed_then_both_go) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  OwnedEvent circle = create_event(pool);
  ze_event_handle_t waited = circle;
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, circle, 1, &waited));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  OwnedQueue stuck = create_queue(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(stuck, list));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(stuck, 1'000'000));
  ASSERT_EQ(ZE_RESULT_SUCCESS, circle.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, stuck.destroy());
  expect_board_and_other_queues_work();
}

TEST_F(FailingWork, given_work_behind_the_failed_copy_on_the_same_queue_then_it_is_not_executed) {
  const OwnedMemory target = memory(MemoryKind::shared, 64);
  std::memset(target.get(), 0, 64);
  const unsigned char value = 9;
  const OwnedList list = create_list(context(), device(), ZE_COMMAND_LIST_FLAG_IN_ORDER);
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, guarded_.get(), source_.get(), 64, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryFill(list, target.get(), &value, 1, 64, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(victim_, list));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim_, patience_ns));
  EXPECT_TRUE(same_bytes(Bytes(64, 0).data(), target.get(), 64));
}

TEST_F(FailingWork,
       given_a_fill_and_a_region_copy_into_forbidden_memory_when_waited_for_then_they_fail_alike) {
  const unsigned char value = 9;
  const ze_copy_region_t region{0, 0, 0, 16, 4, 0};
  const OwnedQueue second = create_queue(context(), device());
  const OwnedList fill = create_list(context(), device());
  const OwnedList rectangle = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryFill(fill, guarded_.get(), &value, 1, 64, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopyRegion(rectangle, guarded_.get(), &region, 64, 0, source_.get(),
                                                &region, 64, 0, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(fill));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(rectangle));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(victim_, fill));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(second, rectangle));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim_, patience_ns));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(second, patience_ns));
  EXPECT_TRUE(same_bytes(pattern(4096, 1).data(), guarded_.get(), 4096));
}

TEST_F(
    FailingWork,
    given_memory_freed_under_waiting_work_when_the_work_runs_then_it_fails_and_the_new_owner_keeps_his_bytes) {
  OwnedMemory block = memory(MemoryKind::device, 4096);
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  ze_event_handle_t wait_for = gate;
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, block.get(), source_.get(), 4096, nullptr, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(victim_, list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, block.free());
  const Bytes bytes = pattern(4096, 8);
  const OwnedMemory next = memory(MemoryKind::device, 4096);
  upload(next.get(), bytes);  // also brings the freed mapping's end to the board
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim_, patience_ns));
  EXPECT_TRUE(same_bytes(bytes, download(next.get(), 4096)));
  expect_board_and_other_queues_work();
}

TEST_F(FailingWork,
       given_memory_freed_before_the_execution_when_executed_then_it_is_an_error_and_the_board_goes_on) {
  OwnedMemory block = memory(MemoryKind::device, 4096);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, block.get(), source_.get(), 4096, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, block.free());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, execute(victim_, list)) << "known before the board is asked";
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(victim_, patience_ns));
  expect_board_and_other_queues_work();
}

TEST_F(FailingWork, given_many_failing_queues_when_destroyed_then_their_rings_serve_others_again) {
  for (int i = 0; i < by_board(150, 20); ++i) {
    const OwnedQueue one = create_queue(context(), device());
    const OwnedList list = forbidden_list();
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute(one, list)) << "round " << i;
    ASSERT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(one, patience_ns)) << "round " << i;
  }
  expect_board_and_other_queues_work();
}

TEST_F(FailingWork, given_a_synchronous_immediate_list_when_its_copy_is_refused_then_the_append_says_so) {
  const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN,
            zeCommandListAppendMemoryCopy(list, guarded_.get(), source_.get(), 64, nullptr, 0, nullptr));
  expect_board_and_other_queues_work();
}

}  // namespace
}  // namespace datum::test
