// Hundreds of threads that wait, thousands of events.
#include <atomic>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/api_session.hpp"
#include "tests/support/result_text.hpp"

namespace datum::test {
namespace {

std::uint64_t process_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

class Waiters : public ApiTest {
 protected:
  [[nodiscard]] static unsigned thread_count() { return by_board(sanitized() ? 64U : 256U, 16U); }

  [[nodiscard]] static unsigned events_of_each() { return by_board(16U, 2U); }

  /// A closed list that waits for event 0 of the pool and then signals all others, one by one.
  [[nodiscard]] OwnedList signals_behind_gate(const std::vector<OwnedEvent>& events) const {
    OwnedList list = create_list(context(), device());
    ze_event_handle_t gate = events.front();
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &gate));
    for (std::size_t index = 1; index < events.size(); ++index) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, events[index]));
    }
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    return list;
  }

  [[nodiscard]] static std::vector<OwnedEvent> all_events(ze_event_pool_handle_t pool, std::uint32_t count) {
    std::vector<OwnedEvent> events;
    for (std::uint32_t index = 0; index < count; ++index) {
      events.push_back(create_event(pool, index));
    }
    return events;
  }
};

TEST_F(Waiters, given_hundreds_of_threads_when_the_board_signals_thousands_of_events_then_each_sees_its_own) {
  const unsigned threads = thread_count();
  const unsigned each = events_of_each();
  const OwnedEventPool pool = create_event_pool(context(), 1 + threads * each);
  const std::vector<OwnedEvent> events = all_events(pool, 1 + threads * each);
  const OwnedList list = signals_behind_gate(events);
  ze_command_list_handle_t executed = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &executed, nullptr));
  std::atomic<unsigned> seen{0};
  std::atomic<unsigned> begun{0};
  std::vector<std::thread> waiting;
  for (unsigned thread = 0; thread < threads; ++thread) {
    waiting.emplace_back([&, thread] {
      ++begun;
      for (unsigned index = 0; index < each; ++index) {
        // Neighbours in the list belong to different threads, so that all wait all the time.
        if (zeEventHostSynchronize(events[1 + index * threads + thread], patience_ns) == ZE_RESULT_SUCCESS) {
          ++seen;
        }
      }
    });
  }
  while (begun != threads) {
    std::this_thread::yield();
  }
  EXPECT_EQ(0U, seen);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(events.front()));
  for (std::thread& thread : waiting) {
    thread.join();
  }
  EXPECT_EQ(threads * each, seen);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
}

TEST_F(Waiters, given_hundreds_of_threads_that_wait_in_vain_then_they_cost_next_to_nothing_and_end_in_time) {
  const unsigned threads = thread_count();
  const OwnedEventPool pool = create_event_pool(context(), threads);
  const std::vector<OwnedEvent> events = all_events(pool, threads);
  constexpr std::uint64_t wait_ns = 500'000'000;
  std::atomic<unsigned> ended{0};
  std::vector<std::thread> waiting;
  const auto start = std::chrono::steady_clock::now();
  for (unsigned thread = 0; thread < threads; ++thread) {
    waiting.emplace_back([&, thread] {
      if (zeEventHostSynchronize(events[thread], wait_ns) == ZE_RESULT_NOT_READY) {
        ++ended;
      }
    });
  }
  const std::uint64_t before_ns = process_cpu_ns();
  for (std::thread& thread : waiting) {
    thread.join();
  }
  const std::uint64_t spent_ns = process_cpu_ns() - before_ns;
  EXPECT_EQ(threads, ended);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::nanoseconds(wait_ns));
  if (!on_rtl() &&
      !sanitized()) {  // a board that is simulated clock by clock is advanced by who waits for it
    EXPECT_LT(spent_ns, wait_ns / 4) << "of one core";
  }
}

TEST_F(Waiters, given_a_wait_list_of_a_thousand_events_when_the_last_is_signalled_then_the_command_runs) {
  const std::uint32_t count = by_board(1000U, 40U);
  const OwnedEventPool pool = create_event_pool(context(), count + 1);
  const std::vector<OwnedEvent> events = all_events(pool, count + 1);
  std::vector<ze_event_handle_t> awaited(events.begin(), events.end() - 1);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, events.back(), count, awaited.data()));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t executed = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &executed, nullptr));
  for (std::uint32_t index = count - 1; index > 0; --index) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(events[index]));
  }
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(events.back(), 2'000'000));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(events.front()));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(events.back(), patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
}

}  // namespace
}  // namespace datum::test
