// Command queues: creation, execution, bounded waiting, and many queues that wait for each other.
#include <chrono>
#include <cstring>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

using Clock = std::chrono::steady_clock;

class CommandQueue : public ApiTest {
 protected:
  [[nodiscard]] ze_result_t create_code(const ze_command_queue_desc_t& description) {
    ze_command_queue_handle_t made = untouched;
    const ze_result_t result = zeCommandQueueCreate(context(), device(), &description, &made);
    if (result == ZE_RESULT_SUCCESS) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueDestroy(made));
    } else {
      EXPECT_EQ(untouched, made);
    }
    return result;
  }

  static ze_command_queue_desc_t legal() {
    ze_command_queue_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    return description;
  }

  /// A closed list that copies 64 bytes when `gate` (none: null) is signalled, and signals `done` (none:
  /// null).
  [[nodiscard]] OwnedList copy_list(const OwnedMemory& to, const OwnedMemory& from, ze_event_handle_t gate,
                                    ze_event_handle_t done) {
    OwnedList list = create_list(context(), device());
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 64, done, gate != nullptr ? 1 : 0,
                                            gate != nullptr ? &gate : nullptr));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    return list;
  }

  static ze_result_t execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
                             ze_fence_handle_t fence = nullptr) {
    return zeCommandQueueExecuteCommandLists(queue, 1, &list, fence);
  }

  static inline const ze_command_queue_handle_t untouched =
      reinterpret_cast<ze_command_queue_handle_t>(0x1234);
};

TEST_F(CommandQueue, given_legal_descriptors_when_created_then_they_are_taken) {
  for (const ze_command_queue_flags_t flags : {0U, 1U, 2U}) {
    for (const auto queue_mode : {ZE_COMMAND_QUEUE_MODE_DEFAULT, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                  ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS}) {
      for (const auto priority : {ZE_COMMAND_QUEUE_PRIORITY_NORMAL, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW,
                                  ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH}) {
        ze_command_queue_desc_t description = legal();
        description.flags = flags;
        description.mode = queue_mode;
        description.priority = priority;
        EXPECT_EQ(ZE_RESULT_SUCCESS, create_code(description))
            << flags << ", " << queue_mode << ", " << priority;
      }
    }
  }
}

TEST_F(CommandQueue, given_illegal_descriptors_when_created_then_each_has_its_code) {
  ze_command_queue_desc_t description = legal();
  description.flags = 0x8;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_code(description));
  description = legal();
  description.mode = static_cast<ze_command_queue_mode_t>(3);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_code(description));
  description = legal();
  description.priority = static_cast<ze_command_queue_priority_t>(3);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_code(description));
  description = legal();
  description.ordinal = 7;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(description));
  description = legal();
  description.index = 1'000'000;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(description));
  description = legal();
  description.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(description));
  description = legal();
  ze_command_queue_handle_t made = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeCommandQueueCreate(context(), device(), nullptr, &made));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandQueueCreate(context(), device(), &description, nullptr));
}

TEST_F(CommandQueue, given_bad_execution_arguments_when_executed_then_each_has_its_code) {
  ze_command_list_handle_t none = nullptr;
  if (null_arrays_reach_the_driver()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
              zeCommandQueueExecuteCommandLists(queue(), 1, nullptr, nullptr));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, zeCommandQueueExecuteCommandLists(queue(), 0, &none, nullptr));
}

TEST_F(CommandQueue,
       given_a_fence_of_another_queue_when_executed_then_the_synchronisation_object_is_invalid) {
  const OwnedQueue other = create_queue(context(), device());
  const OwnedFence fence = create_fence(other);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, execute(queue(), list, fence));
}

TEST_F(CommandQueue, given_an_idle_queue_when_waited_for_then_every_time_out_succeeds_at_once) {
  for (const std::uint64_t timeout :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'000'000}, UINT64_MAX}) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), timeout)) << timeout;
  }
}

TEST_F(CommandQueue,
       given_work_that_waits_when_synchronised_then_time_outs_are_kept_and_infinity_ends_with_the_work) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::device, 64);
  const OwnedList list = copy_list(to, from, gate, nullptr);
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(queue(), list));

  const auto start = Clock::now();
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue(), 0));
  const auto after_poll = Clock::now();
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue(), 30'000'000));
  const auto after_wait = Clock::now();
  EXPECT_LT(after_poll - start, std::chrono::milliseconds(500)) << "a time-out of 0 does not wait";
  EXPECT_GE(after_wait - after_poll, std::chrono::milliseconds(30)) << "never shorter than asked for";
  EXPECT_LT(after_wait - after_poll, std::chrono::seconds(2));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), UINT64_MAX));
}

TEST_F(CommandQueue, given_a_synchronous_queue_when_executed_then_the_work_is_done_on_return) {
  const OwnedQueue synchronous = create_queue(context(), device(), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::shared, 64);
  write_pattern(from.get(), 64, 5);
  const OwnedList list = copy_list(to, from, nullptr, nullptr);
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(synchronous, list));
  EXPECT_TRUE(same_bytes(from.get(), to.get(), 64));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(synchronous, 0));
}

TEST_F(CommandQueue, given_several_lists_in_one_call_when_executed_then_all_run) {
  const OwnedMemory from = memory(MemoryKind::host, 64);
  write_pattern(from.get(), 64, 6);
  std::vector<OwnedMemory> targets;
  std::vector<OwnedList> lists;
  std::vector<ze_command_list_handle_t> handles;
  for (int i = 0; i < 20; ++i) {
    targets.push_back(memory(MemoryKind::shared, 64));
    std::memset(targets.back().get(), 0, 64);
    lists.push_back(copy_list(targets.back(), from, nullptr, nullptr));
    handles.push_back(lists.back());
  }
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 20, handles.data(), nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
  for (const OwnedMemory& target : targets) {
    EXPECT_TRUE(same_bytes(from.get(), target.get(), 64));
  }
}

TEST_F(CommandQueue, given_one_open_list_among_several_when_executed_then_none_of_them_runs) {
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::shared, 64);
  write_pattern(from.get(), 64, 6);
  std::memset(to.get(), 0, 64);
  const OwnedList closed = copy_list(to, from, nullptr, nullptr);
  const OwnedList open = create_list(context(), device());
  ze_command_list_handle_t handles[] = {closed, open};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandQueueExecuteCommandLists(queue(), 2, handles, nullptr));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
  EXPECT_TRUE(same_bytes(Bytes(64, 0).data(), to.get(), 64)) << "a failed call leaves everything as it was";
}

TEST_F(CommandQueue, given_lists_executed_one_after_the_other_when_waited_for_once_then_all_are_done) {
  const std::size_t rounds = by_board<std::size_t>(500, 40);
  const OwnedMemory counter = memory(MemoryKind::device, 8 * rounds);
  std::vector<OwnedList> lists;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    OwnedList list = create_list(context(), device());
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryFill(list, counter.bytes() + 8 * i, &i, 8, 8, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute(queue(), list));
    lists.push_back(std::move(list));
  }
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
  const Bytes found = download(counter.get(), 8 * rounds);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, found.data() + 8 * i, 8);
    ASSERT_EQ(i, value);
  }
}

TEST_F(CommandQueue,
       given_more_queues_than_rings_when_each_waits_for_the_next_and_the_last_goes_last_then_all_finish) {
  constexpr std::size_t count = 100;  // the board has 64 rings
  const OwnedEventPool pool = create_event_pool(context(), count);
  const OwnedMemory from = memory(MemoryKind::host, 64);
  write_pattern(from.get(), 64, 17);
  std::vector<OwnedEvent> events;
  std::vector<OwnedQueue> queues;
  std::vector<OwnedMemory> targets;
  std::vector<OwnedList> lists;
  for (std::uint32_t i = 0; i < count; ++i) {
    events.push_back(create_event(pool, i));
    queues.push_back(create_queue(context(), device()));
    targets.push_back(memory(MemoryKind::shared, 64));
    std::memset(targets.back().get(), 0, 64);
  }
  // Queue i waits for event i + 1: submitted from 0 on, nothing can run before the last submission.
  for (std::size_t i = 0; i < count; ++i) {
    lists.push_back(copy_list(targets[i], from, i + 1 < count ? events[i + 1].get() : nullptr, events[i]));
  }
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute(queues[i], lists[i])) << "queue " << i;
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(events[0], patience_ns));
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queues[i], patience_ns)) << "queue " << i;
    EXPECT_TRUE(same_bytes(from.get(), targets[i].get(), 64)) << "queue " << i;
  }
}

TEST_F(CommandQueue, given_queues_that_wait_when_another_has_work_then_it_is_done_meanwhile) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::shared, 64);
  std::vector<OwnedQueue> waiting;
  std::vector<OwnedList> lists;
  for (int i = 0; i < 16; ++i) {
    waiting.push_back(create_queue(context(), device()));
    lists.push_back(copy_list(to, from, gate, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute(waiting.back(), lists.back()));
  }
  const Bytes bytes = pattern(3000, 2);
  const OwnedMemory block = memory(MemoryKind::device, 3000);
  upload(block.get(), bytes);
  EXPECT_TRUE(same_bytes(bytes, download(block.get(), 3000)));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  for (const OwnedQueue& one : waiting) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(one, patience_ns));
  }
}

TEST_F(CommandQueue,
       given_long_work_in_one_queue_when_another_has_short_copies_then_they_do_not_wait_their_turn) {
  const std::size_t bytes = by_board<std::size_t>(std::size_t{128} << 20U, 1U << 20U);
  const OwnedEventPool pool = create_event_pool(context(), 4, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const OwnedEvent gate = create_event(pool, 0);
  const OwnedEvent long_starts = create_event(pool, 1);
  const OwnedEvent long_done = create_event(pool, 2);
  const OwnedEvent short_done = create_event(pool, 3);
  const OwnedMemory large = memory(MemoryKind::device, bytes);
  const OwnedMemory small = memory(MemoryKind::device, 4096);
  const OwnedMemory from = memory(MemoryKind::host, 4096);
  const OwnedQueue busy = create_queue(context(), device());

  // The long work itself lets the short copies go: which of the two the host submits or wakes first is then
  // no matter.
  const OwnedList long_list = create_list(context(), device());
  const unsigned char value = 0x3c;
  ze_event_handle_t awaited = gate;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(long_list, long_starts, 1, &awaited));
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryFill(long_list, large.get(), &value, 1, bytes, long_done, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(long_list));
  // One after the other, so that the first may come before the fill and the last still runs beside it.
  constexpr int copies = 16;
  const OwnedList short_list = create_list(context(), device());
  awaited = long_starts;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(short_list, nullptr, 1, &awaited));
  for (int i = 1; i <= copies; ++i) {
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(short_list, small.get(), from.get(), 4096,
                                            i == copies ? short_done.get() : nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(short_list, nullptr, 0, nullptr));
  }
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(short_list));

  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(busy, long_list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(queue(), short_list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(busy, patience_ns));
  ze_kernel_timestamp_result_t of_long{};
  ze_kernel_timestamp_result_t of_short{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventQueryKernelTimestamp(long_done, &of_long));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventQueryKernelTimestamp(short_done, &of_short));
  EXPECT_LT(of_short.global.kernelEnd, of_long.global.kernelEnd);
  EXPECT_LT(of_long.global.kernelStart, of_short.global.kernelEnd) << "they were under way together";
}

TEST_F(CommandQueue,
       given_one_queue_that_waits_when_a_later_list_has_no_wait_then_it_starts_after_the_earlier) {
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const OwnedEvent gate = create_event(pool, 0);
  const OwnedEvent done = create_event(pool, 1);
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::shared, 64);
  const OwnedList first = copy_list(to, from, gate, nullptr);
  const OwnedList second = copy_list(to, from, nullptr, done);
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(queue(), first));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(queue(), second));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 10'000'000))
      << "commands of a queue start in order";
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(done, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
}

TEST_F(CommandQueue, given_queues_created_and_destroyed_many_times_then_there_is_always_another) {
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::device, 64);
  const OwnedList list = copy_list(to, from, nullptr, nullptr);
  for (int i = 0; i < by_board(500, 80); ++i) {
    OwnedQueue one = create_queue(context(), device());
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute(one, list)) << "round " << i;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(one, patience_ns)) << "round " << i;
    ASSERT_EQ(ZE_RESULT_SUCCESS, one.destroy()) << "round " << i;
  }
}

}  // namespace
}  // namespace datum::test
