// Handles of counter-based events, and events opened from them, in one process.
#include <cstring>

#include "tests/support/api_session.hpp"
#include "tests/support/counter_event.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

constexpr ze_event_counter_based_flags_t ipc_counter_flags =
    ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_IPC;

class CounterIpc : public ApiTest {
 protected:
  [[nodiscard]] OwnedEvent create(ze_event_counter_based_flags_t flags = ipc_counter_flags) const {
    return create_counter_event(context(), device(), flags);
  }

  [[nodiscard]] OwnedList in_order() const {
    return create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                 ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  }

  [[nodiscard]] ze_event_handle_t open(const ze_ipc_event_counter_based_handle_t& handle) const {
    ze_event_handle_t event = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventCounterBasedOpenIpcHandle(context(), handle, &event))
        << last_error_text();
    return event;
  }

  void expect_refused(const ze_ipc_event_counter_based_handle_t& handle) const {
    ze_event_handle_t event = nullptr;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventCounterBasedOpenIpcHandle(context(), handle, &event));
    EXPECT_EQ(nullptr, event);
  }

  static void close(ze_event_handle_t event) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventCounterBasedCloseIpcHandle(event)) << last_error_text();
  }
};

TEST_F(CounterIpc, given_a_signal_on_its_way_when_opened_then_host_and_board_wait_for_that_point) {
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const OwnedEvent gate = create_event(pool, 0);
  const OwnedEvent passed = create_event(pool, 1);
  const OwnedEvent event = create();
  const OwnedList signalling = in_order();
  const OwnedList waiting = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ze_event_handle_t awaited = gate;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(signalling, event, 1, &awaited));
  ze_event_handle_t opened = open(ipc_handle_of(event));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(waiting, passed, 1, &opened));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(opened));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(opened, 3'000'000));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(passed));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(opened, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(passed, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(event, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(waiting, patience_ns));
  close(opened);
}

TEST_F(CounterIpc, given_an_event_that_moves_on_after_its_handle_was_got_then_the_opened_one_stays) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  const OwnedEvent event = create();
  OwnedList first = in_order();
  const OwnedList other = in_order();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(first, event));
  const ze_ipc_event_counter_based_handle_t handle = ipc_handle_of(event);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(first, patience_ns));
  ze_event_handle_t awaited = gate;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(other, event, 1, &awaited));
  EXPECT_EQ(ZE_RESULT_SUCCESS, first.destroy());
  ze_event_handle_t opened = open(handle);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(opened)) << "its point was reached";
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(event)) << "it follows the other list";
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(event, patience_ns));
  close(opened);
}

TEST_F(CounterIpc, given_an_event_that_nothing_signalled_when_opened_then_nothing_is_waited_for) {
  const OwnedEvent event = create();
  const ze_ipc_event_counter_based_handle_t handle = ipc_handle_of(event);
  const OwnedList list = in_order();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, event));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  ze_event_handle_t opened = open(handle);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(opened));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(opened, 0));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &opened));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  close(opened);
}

TEST_F(CounterIpc,
       given_an_opened_event_when_signalled_here_then_it_follows_that_and_the_first_one_does_not) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  const OwnedEvent event = create();
  const OwnedList list = in_order();
  const OwnedList here = in_order();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, event));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  ze_event_handle_t opened = open(ipc_handle_of(event));
  ze_event_handle_t awaited = gate;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(here, opened, 1, &awaited));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(opened));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(event));
  ze_event_handle_t third = open(ipc_handle_of(opened));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(third)) << "its new point can be shared in turn";
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(third, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(opened, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(here, patience_ns));
  close(third);
  close(opened);
}

TEST_F(CounterIpc, given_private_and_shared_events_in_one_list_then_each_follows_its_own_command) {
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const OwnedEvent gate = create_event(pool, 0);
  const OwnedEvent second_gate = create_event(pool, 1);
  const OwnedEvent common = create();
  const OwnedEvent own = create(0);
  const OwnedList list = in_order();
  ze_event_handle_t awaited = gate;
  ze_event_handle_t awaited_second = second_gate;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, own, 1, &awaited));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, common, 1, &awaited_second));
  ze_event_handle_t opened = open(ipc_handle_of(common));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(own, patience_ns));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(common));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(opened));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(second_gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(common, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(opened, patience_ns));
  close(opened);
}

TEST_F(CounterIpc, given_an_opened_event_when_asked_then_it_has_the_flags_and_scopes_but_no_times) {
  const OwnedEvent event = create(ipc_counter_flags | ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP);
  const OwnedList list = in_order();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, event));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  ze_event_handle_t opened = open(ipc_handle_of(event));
  ze_event_counter_based_flags_t flags = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventGetCounterBasedFlags(opened, &flags));
  EXPECT_EQ(ipc_counter_flags, flags) << "the times lie in the memory of who made it";
  ze_event_scope_flags_t scope = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventGetSignalScope(opened, &scope));
  EXPECT_EQ(ZE_EVENT_SCOPE_FLAG_DEVICE, static_cast<int>(scope));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventGetWaitScope(opened, &scope));
  EXPECT_EQ(ZE_EVENT_SCOPE_FLAG_HOST, static_cast<int>(scope));
  ze_kernel_timestamp_result_t times{};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventQueryKernelTimestamp(opened, &times));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryKernelTimestamp(event, &times));
  close(opened);
}

TEST_F(CounterIpc, given_the_descriptor_alone_when_opened_then_it_waits_for_the_last_point_of_the_queue) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  const OwnedEvent event = create();
  const OwnedList list = in_order();
  ze_event_handle_t awaited = gate;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, event, 1, &awaited));
  ze_ipc_event_counter_based_handle_t handle = ipc_handle_of(event);
  std::memset(handle.data + 4, 0, sizeof handle.data - 4);
  ze_event_handle_t opened = open(handle);
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(opened));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(opened, patience_ns));
  close(opened);
}

TEST_F(CounterIpc, given_forged_handles_and_those_of_memory_and_pools_then_they_are_refused) {
  const OwnedEvent event = create();
  const OwnedList list = in_order();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, event));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  const ze_ipc_event_counter_based_handle_t handle = ipc_handle_of(event);
  expect_refused({});
  // Format, kind, flags, scopes, value, token, file.
  for (const std::size_t byte : {4U, 8U, 9U, 10U, 11U, 16U, 23U, 24U, 30U, 40U, 48U}) {
    ze_ipc_event_counter_based_handle_t forged = handle;
    forged.data[byte] = static_cast<char>(forged.data[byte] ^ 0xaa);
    expect_refused(forged);
  }
  ze_ipc_event_pool_handle_t as_pool{};
  std::memcpy(as_pool.data, handle.data, sizeof as_pool.data);
  ze_event_pool_handle_t pool = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventPoolOpenIpcHandle(context(), as_pool, &pool));
  std::memset(as_pool.data + 4, 0, sizeof as_pool.data - 4);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventPoolOpenIpcHandle(context(), as_pool, &pool));
  ze_ipc_mem_handle_t as_memory{};
  std::memcpy(as_memory.data, handle.data, sizeof as_memory.data);
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemOpenIpcHandle(context(), device(), as_memory, 0, &pointer));
  std::memset(as_memory.data + 4, 0, sizeof as_memory.data - 4);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemOpenIpcHandle(context(), device(), as_memory, 0, &pointer));
  const OwnedEventPool shared_pool = create_event_pool(context(), 1, ZE_EVENT_POOL_FLAG_IPC);
  ze_ipc_event_pool_handle_t of_pool{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventPoolGetIpcHandle(shared_pool, &of_pool));
  ze_ipc_event_counter_based_handle_t mistaken{};
  std::memcpy(mistaken.data, of_pool.data, sizeof mistaken.data);
  expect_refused(mistaken);
  std::memset(mistaken.data + 4, 0, sizeof mistaken.data - 4);
  expect_refused(mistaken);
}

TEST_F(CounterIpc, given_events_that_are_not_shared_or_not_opened_then_the_calls_refuse_them) {
  const OwnedEvent own = create(0);
  const OwnedEventPool pool = create_event_pool(context(), 1, ZE_EVENT_POOL_FLAG_IPC);
  const OwnedEvent plain = create_event(pool);
  ze_ipc_event_counter_based_handle_t handle{};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventCounterBasedGetIpcHandle(own, &handle));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventCounterBasedGetIpcHandle(plain, &handle));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventCounterBasedCloseIpcHandle(own));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventCounterBasedCloseIpcHandle(plain));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeEventCounterBasedGetIpcHandle(own, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeEventCounterBasedOpenIpcHandle(context(), handle, nullptr));
  const OwnedEvent shared = create();
  ze_event_handle_t opened = open(ipc_handle_of(shared));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventCounterBasedGetIpcHandle(opened, &handle))
      << "what was opened is sent on by the handle that it was opened from";
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventDestroy(opened)) << "destroying it closes it, too";
}

TEST_F(CounterIpc, given_no_handles_of_objects_when_called_then_each_function_names_them) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  ze_ipc_event_counter_based_handle_t handle{};
  ze_event_handle_t event = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeEventCounterBasedGetIpcHandle(nullptr, &handle));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeEventCounterBasedOpenIpcHandle(nullptr, handle, &event));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeEventCounterBasedCloseIpcHandle(nullptr));
}

TEST_F(CounterIpc, given_a_thousand_shared_events_of_one_queue_then_they_cost_one_descriptor_and_it_returns) {
  { static_cast<void>(ipc_handle_of(create())); }  // starts the exporter's thread
  const std::size_t before = open_descriptors();
  {
    const OwnedList list = in_order();
    std::vector<OwnedEvent> events;
    for (int index = 0; index < by_board(1000, 20); ++index) {
      events.push_back(create());
      ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, events.back()));
      static_cast<void>(ipc_handle_of(events.back()));
    }
    EXPECT_EQ(before + 1, open_descriptors());
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  }
  EXPECT_EQ(before, open_descriptors());
}

TEST_F(CounterIpc, given_an_event_and_a_queue_that_are_gone_when_opened_then_the_handle_is_stale) {
  ze_ipc_event_counter_based_handle_t handle{};
  ze_event_handle_t opened = nullptr;
  {
    const OwnedEvent event = create();
    const OwnedList list = in_order();
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, event));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
    handle = ipc_handle_of(event);
    opened = open(handle);
  }
  expect_refused(handle);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(opened, 0)) << "what was opened before stays";
  close(opened);
}

TEST_F(CounterIpc, given_work_that_fails_when_waited_for_by_the_opened_event_then_it_is_unknown) {
  const ze_host_mem_alloc_desc_t read_only{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr,
                                           ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY};
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(context(), &read_only, 4096, 0, &pointer));
  const OwnedMemory guarded(context(), pointer);
  const OwnedMemory source = memory(MemoryKind::device, 64);
  const OwnedEvent good = create();
  const OwnedEvent bad = create();
  const OwnedList list = in_order();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, good));
  ze_event_handle_t opened_good = open(ipc_handle_of(good));
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, guarded.get(), source.get(), 64, bad, 0, nullptr));
  ze_event_handle_t opened_bad = open(ipc_handle_of(bad));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeEventHostSynchronize(opened_bad, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(opened_good, patience_ns));
  close(opened_good);
  close(opened_bad);
}

}  // namespace
}  // namespace datum::test
