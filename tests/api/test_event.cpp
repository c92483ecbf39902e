// Events and pools: signalled and waited for by host and board.
#include <chrono>
#include <cstring>
#include <signal.h>
#include <sys/time.h>
#include <thread>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

using EventClock = std::chrono::steady_clock;

class Event : public ApiTest {
 protected:
  [[nodiscard]] ze_result_t create_pool_code(const ze_event_pool_desc_t& description) {
    ze_event_pool_handle_t made = untouched_pool;
    const ze_result_t result = zeEventPoolCreate(context(), &description, 0, nullptr, &made);
    if (result == ZE_RESULT_SUCCESS) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolDestroy(made));
    } else {
      EXPECT_EQ(untouched_pool, made);
    }
    return result;
  }

  [[nodiscard]] ze_result_t create_event_code(ze_event_pool_handle_t pool,
                                              const ze_event_desc_t& description) {
    ze_event_handle_t made = untouched_event;
    const ze_result_t result = zeEventCreate(pool, &description, &made);
    if (result == ZE_RESULT_SUCCESS) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventDestroy(made));
    } else {
      EXPECT_EQ(untouched_event, made);
    }
    return result;
  }

  ze_result_t execute(ze_command_list_handle_t list) {
    return zeCommandQueueExecuteCommandLists(queue(), 1, &list, nullptr);
  }

  static inline const ze_event_pool_handle_t untouched_pool =
      reinterpret_cast<ze_event_pool_handle_t>(0x1234);
  static inline const ze_event_handle_t untouched_event = reinterpret_cast<ze_event_handle_t>(0x1234);
};

TEST_F(Event, given_pool_descriptors_when_created_then_each_has_its_code) {
  const auto description = [](ze_event_pool_flags_t flags, std::uint32_t count) {
    return ze_event_pool_desc_t{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, flags, count};
  };
  for (const ze_event_pool_flags_t flags : {0x0U, 0x1U, 0x2U, 0x3U, 0x4U, 0x5U, 0x7U}) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, create_pool_code(description(flags, 3))) << "flags " << flags;
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, create_pool_code(description(0, 0)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_pool_code(description(0x10, 1)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_pool_code(description(0x80000000U, 1)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION,
            create_pool_code(description(
                ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP, 1)))
      << "the two cannot be combined";
  ze_event_pool_desc_t wrong = description(0, 1);
  wrong.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_pool_code(wrong));
  ze_event_pool_handle_t made = nullptr;
  const ze_event_pool_desc_t legal = description(0, 1);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeEventPoolCreate(context(), nullptr, 0, nullptr, &made));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeEventPoolCreate(context(), &legal, 0, nullptr, nullptr));
  if (null_arrays_reach_the_driver()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, zeEventPoolCreate(context(), &legal, 1, nullptr, &made));
  }
  ze_device_handle_t one = device();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCreate(context(), &legal, 1, &one, &made));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolDestroy(made));
}

TEST_F(Event,
       given_an_absurd_number_of_events_when_the_pool_is_created_then_it_is_an_error_or_works_but_no_end) {
  const ze_result_t result = create_pool_code({ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, UINT32_MAX});
  EXPECT_TRUE(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ||
              result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
      << result_text(result);
}

TEST_F(Event, given_event_descriptors_when_created_then_each_has_its_code) {
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const auto description = [](std::uint32_t index, ze_event_scope_flags_t signal,
                              ze_event_scope_flags_t wait) {
    return ze_event_desc_t{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index, signal, wait};
  };
  for (ze_event_scope_flags_t scope = 0; scope <= 7; ++scope) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, create_event_code(pool, description(0, scope, 7 - scope)));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_event_code(pool, description(2, 0, 0)))
      << "the pool has events 0 and 1";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_event_code(pool, description(UINT32_MAX, 0, 0)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_event_code(pool, description(0, 8, 0)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_event_code(pool, description(0, 0, 8)));
  ze_event_desc_t wrong = description(0, 0, 0);
  wrong.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_event_code(pool, wrong));
  const ze_event_desc_t legal = description(0, 0, 0);
  ze_event_handle_t made = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeEventCreate(pool, nullptr, &made));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeEventCreate(pool, &legal, nullptr));
}

TEST_F(Event,
       given_an_index_in_use_when_a_second_event_is_made_there_then_it_is_invalid_and_the_first_lives_on) {
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const OwnedEvent first = create_event(pool, 1);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            create_event_code(pool, {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 1, 0, 0}));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(first));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(first));
}

TEST_F(Event, given_a_new_event_when_asked_then_it_is_not_signalled_until_the_host_signals_and_after_reset) {
  const OwnedEventPool pool = create_event_pool(context(), 3);
  const OwnedEvent event = create_event(pool, 1);
  const OwnedEvent neighbour = create_event(pool, 2);
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, 0));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(event));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(event));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(event, UINT64_MAX));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(event)) << "signalling a signalled event is valid";
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(event)) << "it does not reset itself";
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(neighbour));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(event));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
}

TEST_F(Event, given_an_event_made_again_at_the_same_index_then_it_starts_unsignalled) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  {
    const OwnedEvent event = create_event(pool);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(event));
  }
  const OwnedEvent event = create_event(pool);
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
}

TEST_F(Event, given_a_copy_with_a_signal_when_executed_then_the_event_comes_after_the_bytes) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent done = create_event(pool);
  const std::size_t bytes = by_board<std::size_t>(300'000, 5000);
  const OwnedMemory from = memory(MemoryKind::host, bytes);
  const OwnedMemory to = memory(MemoryKind::shared, bytes);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, to.get(), from.get(), bytes, done, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  for (std::uint64_t round = 0; round < 4; ++round) {
    write_pattern(from.get(), bytes, round);
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute(list));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(done, patience_ns));
    ASSERT_TRUE(same_bytes(from.get(), to.get(), bytes)) << "round " << round;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(done));
  }
}

TEST_F(Event, given_commands_that_wait_for_several_events_when_only_some_are_signalled_then_they_wait) {
  const OwnedEventPool pool = create_event_pool(context(), 4);
  const OwnedEvent one = create_event(pool, 0);
  const OwnedEvent two = create_event(pool, 1);
  const OwnedEvent three = create_event(pool, 2);
  const OwnedEvent done = create_event(pool, 3);
  ze_event_handle_t wait_for[] = {one, two, three};
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 3, wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, done));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(list));
  for (const OwnedEvent* event : {&two, &one}) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(*event));
    EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 5'000'000));
  }
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(three));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(done, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
}

TEST_F(Event, given_a_device_reset_when_executed_then_the_event_is_unsignalled_again) {
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const OwnedEvent event = create_event(pool, 0);
  const OwnedEvent done = create_event(pool, 1);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(event));
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendEventReset(list, event));
              EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, done, 0, nullptr));
            }));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(done));
}

TEST_F(Event, given_a_list_that_resets_its_own_event_when_run_again_and_again_then_each_run_signals_anew) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent event = create_event(pool);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendEventReset(list, event));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, event));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(event));
  }
}

TEST_F(Event,
       given_an_event_reset_by_the_host_while_a_queue_waits_for_it_when_signalled_then_the_queue_goes_on) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  ze_event_handle_t wait_for = gate;
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute(list));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(gate));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue(), 5'000'000));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
}

TEST_F(Event, given_a_thread_that_waits_when_another_signals_then_it_wakes_soon) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent event = create_event(pool);
  ze_result_t waited = ZE_RESULT_ERROR_UNKNOWN;
  std::thread waiter([&] { waited = zeEventHostSynchronize(event, patience_ns); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto signalled = EventClock::now();
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(event));
  waiter.join();
  EXPECT_EQ(ZE_RESULT_SUCCESS, waited);
  EXPECT_LT(EventClock::now() - signalled, std::chrono::seconds(1));
}

void ignore_alarm(int) {}

TEST_F(
    Event,
    given_signals_to_the_process_when_an_event_is_waited_for_then_the_time_out_is_neither_shorter_nor_endless) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent event = create_event(pool);

  struct sigaction action {};

  struct sigaction before {};

  action.sa_handler = ignore_alarm;
  ASSERT_EQ(0, ::sigaction(SIGALRM, &action, &before));
  const itimerval every_millisecond{{0, 1000}, {0, 1000}};
  ASSERT_EQ(0, ::setitimer(ITIMER_REAL, &every_millisecond, nullptr));
  const auto start = EventClock::now();
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, 50'000'000));
  const auto waited = EventClock::now() - start;
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_GE(waited, std::chrono::milliseconds(50));
  EXPECT_LT(waited, std::chrono::milliseconds(600));
}

TEST_F(Event, given_bad_events_in_a_wait_list_when_appended_then_the_synchronisation_object_is_invalid) {
  const OwnedList list = create_list(context(), device());
  if (null_arrays_reach_the_driver()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeCommandListAppendWaitOnEvents(list, 1, nullptr));
  }
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  ze_event_handle_t none = nullptr;
  const ze_result_t expected = under_validation() ? ZE_RESULT_ERROR_INVALID_NULL_HANDLE
                                                  : ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
  const ze_result_t waited = zeCommandListAppendWaitOnEvents(list, 1, &none);
  EXPECT_TRUE(waited == expected || waited == ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT)
      << result_text(waited);
  auto foreign = reinterpret_cast<ze_event_handle_t>(list.get());
  const ze_result_t barrier = zeCommandListAppendBarrier(list, nullptr, 1, &foreign);
  EXPECT_TRUE(barrier == expected || barrier == ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT)
      << result_text(barrier);
}

TEST_F(Event, given_a_pool_with_live_events_when_destroyed_then_it_is_in_use_or_the_events_are_harmless) {
  OwnedEventPool pool = create_event_pool(context(), 1);
  OwnedEvent event = create_event(pool);
  const ze_result_t result = zeEventPoolDestroy(pool);
  if (result != ZE_RESULT_SUCCESS) {
    EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, result);
    EXPECT_EQ(ZE_RESULT_SUCCESS, event.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, pool.destroy());
    return;
  }
  static_cast<void>(pool.release());
  if (stale_handles_are_survivable()) {
    EXPECT_NE(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    static_cast<void>(event.destroy());
  }
  static_cast<void>(event.release());
}

TEST_F(Event, given_thousands_of_pools_and_events_when_made_and_destroyed_then_it_is_quick) {
  const auto start = EventClock::now();
  for (int i = 0; i < 5000; ++i) {
    const OwnedEventPool pool = create_event_pool(context(), 1);
    const OwnedEvent event = create_event(pool);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(event));
  }
  EXPECT_LT(EventClock::now() - start, std::chrono::seconds(5));
}

TEST_F(Event, given_a_large_pool_when_every_event_is_used_then_each_is_its_own) {
  constexpr std::uint32_t count = 4096;
  const OwnedEventPool pool = create_event_pool(context(), count);
  std::vector<OwnedEvent> events;
  for (std::uint32_t i = 0; i < count; ++i) {
    events.push_back(create_event(pool, i));
  }
  for (std::uint32_t i = 0; i < count; i += 3) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(events[i]));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    ASSERT_EQ(i % 3 == 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY, zeEventQueryStatus(events[i])) << i;
  }
}

}  // namespace
}  // namespace datum::test
