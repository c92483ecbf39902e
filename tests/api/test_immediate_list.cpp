// Asynchronous immediate lists and zeCommandListHostSynchronize, since API 1.6.
#include <cstring>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class ImmediateList : public ApiTest {};

TEST_F(ImmediateList, given_an_asynchronous_list_when_appended_to_then_it_is_done_after_the_host_has_waited) {
  const OwnedMemory from = memory(MemoryKind::host, 5000);
  const OwnedMemory to = memory(MemoryKind::shared, 5000);
  const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  for (std::uint64_t round = 0; round < 5; ++round) {
    write_pattern(from.get(), 5000, round);
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 5000, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
    ASSERT_TRUE(same_bytes(from.get(), to.get(), 5000)) << "round " << round;
  }
}

TEST_F(ImmediateList, given_an_idle_list_when_waited_for_then_it_succeeds_at_once) {
  const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, 0));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, UINT64_MAX));
}

TEST_F(ImmediateList, given_a_list_that_waits_for_an_event_when_waited_for_then_time_outs_are_kept) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  ze_event_handle_t wait_for = gate;
  const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &wait_for));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandListHostSynchronize(list, 0));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandListHostSynchronize(list, 10'000'000));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, UINT64_MAX));
}

TEST_F(ImmediateList, given_a_regular_list_when_waited_for_then_it_is_invalid) {
  const OwnedList list = create_list(context(), device());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListHostSynchronize(list, 0));
}

TEST_F(ImmediateList,
       given_an_in_order_list_when_each_copy_needs_the_one_before_then_they_follow_each_other) {
  const std::size_t bytes = by_board<std::size_t>(50'000, 3000);
  const OwnedMemory from = memory(MemoryKind::host, bytes);
  const OwnedMemory middle = memory(MemoryKind::device, bytes);
  const OwnedMemory to = memory(MemoryKind::shared, bytes);
  const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                               ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  for (std::uint64_t round = 0; round < by_board<std::uint64_t>(20, 2); ++round) {
    write_pattern(from.get(), bytes, round);
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, middle.get(), from.get(), bytes, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, to.get(), middle.get(), bytes, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
    ASSERT_TRUE(same_bytes(from.get(), to.get(), bytes)) << "round " << round;
  }
}

TEST_F(ImmediateList,
       given_ordinary_memory_when_copied_asynchronously_then_it_is_read_and_written_until_the_wait_ends) {
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  const Bytes in = pattern(4096, 5);
  Bytes out(4096);
  const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                               ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, block.get(), in.data(), 4096, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, out.data(), block.get(), 4096, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  EXPECT_TRUE(same_bytes(in, out));
}

TEST_F(ImmediateList, given_events_between_two_lists_when_one_waits_for_the_other_then_it_sees_its_bytes) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent done = create_event(pool);
  ze_event_handle_t wait_for = done;
  const OwnedMemory from = memory(MemoryKind::host, 3000);
  const OwnedMemory middle = memory(MemoryKind::device, 3000);
  const OwnedMemory to = memory(MemoryKind::shared, 3000);
  write_pattern(from.get(), 3000, 4);
  const OwnedList first = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  const OwnedList second = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(second, to.get(), middle.get(), 3000, nullptr, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(first, middle.get(), from.get(), 3000, done, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(second, patience_ns));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(first, patience_ns));
  EXPECT_TRUE(same_bytes(from.get(), to.get(), 3000));
}

TEST_F(ImmediateList,
       given_work_on_several_queues_and_lists_when_the_device_is_synchronised_then_all_of_it_has_ended) {
  const std::size_t bytes = by_board<std::size_t>(200'000, 3000);
  const OwnedMemory from = memory(MemoryKind::host, bytes);
  write_pattern(from.get(), bytes, 12);
  std::vector<OwnedMemory> targets;
  std::vector<OwnedList> lists;
  for (int index = 0; index < 4; ++index) {
    targets.push_back(memory(MemoryKind::shared, bytes));
    std::memset(targets.back().get(), 0, bytes);
    lists.push_back(create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(lists.back(), targets.back().get(), from.get(),
                                                               bytes, nullptr, 0, nullptr));
  }
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceSynchronize(device()));
  for (const OwnedMemory& target : targets) {
    EXPECT_TRUE(same_bytes(from.get(), target.get(), bytes));
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceSynchronize(device())) << "idle";
}

}  // namespace
}  // namespace datum::test
