// Handles of event pools, and pools opened from them, in one process.
#include <chrono>
#include <cstring>
#include <ctime>

#include "tests/support/api_session.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

constexpr ze_event_pool_flags_t ipc_pool_flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC;

std::uint64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

class EventIpc : public ApiTest {
 protected:
  [[nodiscard]] static ze_ipc_event_pool_handle_t get(ze_event_pool_handle_t pool) {
    ze_ipc_event_pool_handle_t handle{};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolGetIpcHandle(pool, &handle)) << last_error_text();
    return handle;
  }

  [[nodiscard]] ze_event_pool_handle_t open(const ze_ipc_event_pool_handle_t& handle) const {
    ze_event_pool_handle_t pool = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolOpenIpcHandle(context(), handle, &pool)) << last_error_text();
    return pool;
  }

  void expect_refused(const ze_ipc_event_pool_handle_t& handle) const {
    ze_event_pool_handle_t pool = nullptr;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventPoolOpenIpcHandle(context(), handle, &pool));
    EXPECT_EQ(nullptr, pool);
  }
};

TEST_F(EventIpc, given_an_opened_pool_when_asked_then_it_has_the_flags_the_context_and_the_count) {
  const OwnedEventPool pool =
      create_event_pool(context(), 3, ipc_pool_flags | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const OwnedContext other = create_context(driver());
  ze_event_pool_handle_t opened = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventPoolOpenIpcHandle(other, get(pool), &opened)) << last_error_text();
  ze_event_pool_flags_t flags = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolGetFlags(opened, &flags));
  EXPECT_EQ(ipc_pool_flags | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, flags);
  if (mode() != Mode::wrapped) {
    ze_context_handle_t of = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolGetContextHandle(opened, &of));
    EXPECT_EQ(other.get(), of);
  }
  const ze_event_desc_t beyond{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 3, 0, 0};
  ze_event_handle_t event = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventCreate(opened, &beyond, &event));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(opened));
}

TEST_F(EventIpc, given_the_same_index_in_two_openings_when_one_is_signalled_or_reset_then_all_see_it) {
  const OwnedEventPool pool = create_event_pool(context(), 2, ipc_pool_flags);
  const ze_ipc_event_pool_handle_t handle = get(pool);
  const OwnedEvent own = create_event(pool, 1);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(own));
  ze_event_pool_handle_t first = open(handle);
  ze_event_pool_handle_t second = open(handle);
  ASSERT_NE(first, second);
  {
    const OwnedEvent in_first = create_event(first, 1);
    const OwnedEvent in_second = create_event(second, 1);
    const OwnedEvent neighbour = create_event(second, 0);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(in_first))
        << "creating it in an opened pool resets nothing";
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(in_second));
    EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(neighbour));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(in_second));
    EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(own));
    EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(in_first, 0));
    ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, in_first));
              }));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(in_second, patience_ns));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(own, patience_ns));
    ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendEventReset(list, own));
              }));
    EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(in_second));
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(first));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(second));
}

TEST_F(EventIpc, given_events_left_in_an_opened_pool_when_it_is_closed_then_they_go_with_it) {
  const OwnedEventPool pool = create_event_pool(context(), 4, ipc_pool_flags);
  ze_event_pool_handle_t opened = open(get(pool));
  if (!under_validation() && stale_handles_are_survivable()) {
    OwnedEvent left = create_event(opened, 2);
    EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeEventPoolDestroy(opened))
        << "closing is what ends events";
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(opened)) << last_error_text();
    EXPECT_NE(ZE_RESULT_SUCCESS, zeEventDestroy(left.release()));
  } else {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(opened));
  }
}

TEST_F(EventIpc, given_put_close_and_destroy_in_any_order_then_each_answers_and_descriptors_return) {
  {
    static_cast<void>(get(create_event_pool(context(), 1, ipc_pool_flags)));
  }  // starts the exporter's thread
  const std::size_t before = open_descriptors();
  for (int order = 0; order < 4; ++order) {
    OwnedEventPool pool = create_event_pool(context(), 100, ipc_pool_flags);
    const ze_ipc_event_pool_handle_t handle = get(pool);
    const ze_ipc_event_pool_handle_t again = get(pool);
    EXPECT_EQ(0, std::memcmp(&handle, &again, sizeof handle));
    ze_event_pool_handle_t opened = open(handle);
    if ((order & 1) != 0) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, pool.destroy());
      expect_refused(handle);
    }
    if ((order & 2) != 0) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(opened));
    }
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolPutIpcHandle(context(), handle));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolPutIpcHandle(context(), handle));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventPoolPutIpcHandle(context(), handle)) << "got twice";
    if ((order & 2) == 0) {
      {
        const OwnedEvent event = create_event(opened, 99);
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(event));
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(event, 0));
      }
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(opened));
    }
  }
  EXPECT_EQ(before, open_descriptors());
}

TEST_F(EventIpc, given_forged_handles_and_those_of_memory_then_they_are_refused) {
  const OwnedEventPool pool = create_event_pool(context(), 1, ipc_pool_flags);
  const ze_ipc_event_pool_handle_t handle = get(pool);
  expect_refused({});
  for (const std::size_t byte : {4U, 8U, 16U, 24U, 30U, 40U, 48U}) {
    ze_ipc_event_pool_handle_t forged = handle;
    forged.data[byte] = static_cast<char>(forged.data[byte] ^ 0x55);
    expect_refused(forged);
  }
  const OwnedMemory block = memory(MemoryKind::host, 4096);
  ze_ipc_mem_handle_t of_memory{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), block.get(), &of_memory));
  ze_ipc_event_pool_handle_t mistaken{};
  std::memcpy(mistaken.data, of_memory.data, sizeof mistaken.data);
  expect_refused(mistaken);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventPoolPutIpcHandle(context(), mistaken));
  std::memset(mistaken.data + 4, 0, sizeof mistaken.data - 4);
  expect_refused(mistaken);
  std::memcpy(of_memory.data, handle.data, sizeof of_memory.data);
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemOpenIpcHandle(context(), device(), of_memory, 0, &pointer));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemPutIpcHandle(context(), of_memory));
  std::memset(of_memory.data + 4, 0, sizeof of_memory.data - 4);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemOpenIpcHandle(context(), device(), of_memory, 0, &pointer));
  EXPECT_EQ(nullptr, pointer);
}

TEST_F(EventIpc,
       given_an_event_that_nobody_signals_when_waited_for_then_the_wait_ends_in_time_and_costs_little) {
  const OwnedEventPool pool = create_event_pool(context(), 1, ipc_pool_flags);
  const OwnedEvent event = create_event(pool);
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t before_ns = thread_cpu_ns();
  constexpr std::uint64_t wait_ns = 300'000'000;
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, wait_ns));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::nanoseconds(wait_ns));
  if (!on_rtl() && !sanitized()) {  // who waits for a board that is simulated clock by clock advances it
    EXPECT_LT(thread_cpu_ns() - before_ns, wait_ns / 4);
  }
}

TEST_F(EventIpc, given_an_event_destroyed_while_work_waits_for_it_then_another_opening_still_ends_the_wait) {
  const OwnedEventPool pool = create_event_pool(context(), 1, ipc_pool_flags);
  ze_event_pool_handle_t opened = open(get(pool));
  OwnedEvent gate = create_event(pool);
  ze_event_handle_t awaited = gate;
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &awaited));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t executed = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &executed, nullptr));
  EXPECT_EQ(ZE_RESULT_SUCCESS, gate.destroy());
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue(), 1'000'000));
  {
    const OwnedEvent same = create_event(opened);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(same));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns)) << last_error_text();
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(opened));
}

TEST_F(EventIpc, given_no_handles_of_objects_when_called_then_each_function_names_them) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  ze_ipc_event_pool_handle_t handle{};
  ze_event_pool_handle_t pool = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeEventPoolGetIpcHandle(nullptr, &handle));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeEventPoolPutIpcHandle(nullptr, handle));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeEventPoolOpenIpcHandle(nullptr, handle, &pool));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeEventPoolCloseIpcHandle(nullptr));
}

TEST_F(EventIpc, given_the_descriptor_alone_when_opened_then_it_is_a_handle_too) {
  const OwnedEventPool pool = create_event_pool(context(), 5, ipc_pool_flags);
  ze_ipc_event_pool_handle_t handle = get(pool);
  std::memset(handle.data + 4, 0, sizeof handle.data - 4);
  ze_event_pool_handle_t opened = open(handle);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(opened));
}

TEST_F(EventIpc, given_pools_that_were_not_made_to_be_shared_then_no_handle_is_given) {
  const OwnedEventPool plain = create_event_pool(context(), 1);
  ze_ipc_event_pool_handle_t handle{};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventPoolGetIpcHandle(plain, &handle));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeEventPoolGetIpcHandle(plain, nullptr));
  const OwnedEventPool shared = create_event_pool(context(), 1, ipc_pool_flags);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeEventPoolOpenIpcHandle(context(), get(shared), nullptr));
  ze_event_pool_handle_t opened = open(get(shared));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventPoolGetIpcHandle(opened, &handle));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(opened));
  if (mode() == Mode::single) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventPoolCloseIpcHandle(shared)) << "it was not opened";
  }
  ze_event_pool_counter_based_exp_desc_t counting{};
  counting.stype = ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC;
  const ze_event_pool_desc_t both{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, &counting, ipc_pool_flags, 1};
  ze_event_pool_handle_t made = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, zeEventPoolCreate(context(), &both, 0, nullptr, &made));
}

}  // namespace
}  // namespace datum::test
