#include <csignal>
#include <sys/resource.h>
#include <sys/time.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "driver/device/host_clock.hpp"
#include "driver/device/interrupt_hub.hpp"
#include "tests/unit/device/fake_function.hpp"

namespace datum::test {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t patience = 10'000 * ms;

std::uint64_t processor_time_ns() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto in_ns = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_usec) * 1'000U;
  };
  return in_ns(used.ru_utime) + in_ns(used.ru_stime);
}

class InterruptHubTest : public ::testing::Test {
 protected:
  FakeFunction function_;
  InterruptHub hub_{function_};
};

TEST_F(InterruptHubTest, given_something_that_is_ready_when_waited_for_then_the_board_is_not_asked) {
  EXPECT_TRUE(hub_.wait([] { return true; }, 0).ok());
  EXPECT_EQ(function_.wait_calls, 0U);
}

TEST_F(InterruptHubTest, given_a_time_out_of_0_when_waited_then_it_returns_at_once_having_let_the_board_run) {
  EXPECT_EQ(hub_.wait([] { return false; }, 0).error().code, ErrorCode::not_ready);
  EXPECT_EQ(function_.wait_calls, 0U);
  EXPECT_GE(function_.relax_calls, 1U);
}

TEST_F(InterruptHubTest, given_a_finite_time_out_when_nothing_happens_then_it_is_kept) {
  const std::uint64_t begun = host_now_ns();
  EXPECT_EQ(hub_.wait([] { return false; }, 50 * ms).error().code, ErrorCode::not_ready);
  EXPECT_GE(host_now_ns() - begun, 50 * ms);
}

TEST_F(InterruptHubTest,
       given_signals_that_interrupt_system_calls_when_waited_then_the_time_out_is_not_shortened) {
  std::signal(SIGALRM, [](int) {});
  itimerval every{{0, 1000}, {0, 1000}};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  const std::uint64_t begun = host_now_ns();
  EXPECT_EQ(hub_.wait([] { return false; }, 60 * ms).error().code, ErrorCode::not_ready);
  const std::uint64_t waited = host_now_ns() - begun;
  every = {};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  std::signal(SIGALRM, SIG_IGN);  // one may be on its way
  EXPECT_GE(waited, 60 * ms);
}

TEST_F(InterruptHubTest, given_many_waiters_when_the_board_raises_one_interrupt_then_all_look_again) {
  std::atomic<bool> word{false};
  std::atomic<int> ended{0};
  std::vector<std::thread> threads;
  for (int index = 0; index < 8; ++index) {
    threads.emplace_back([&] { ended += hub_.wait([&] { return word.load(); }, patience).ok() ? 1 : 0; });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(ended, 0);
  word = true;
  function_.raise();
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(ended, 8);
}

TEST_F(InterruptHubTest, given_waiters_for_different_words_when_one_is_served_then_the_others_go_on_waiting) {
  std::atomic<int> turn{0};
  std::vector<std::thread> threads;
  std::atomic<int> ended{0};
  for (int index = 1; index <= 4; ++index) {
    threads.emplace_back([&, index] {
      ended += hub_.wait([&, index] { return turn.load() >= index; }, patience).ok() ? 1 : 0;
    });
  }
  for (int index = 1; index <= 4; ++index) {
    turn = index;
    function_.raise();
    while (ended != index) {
      std::this_thread::yield();
    }
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(ended, 4);
}

TEST_F(InterruptHubTest, given_a_word_that_the_host_changes_when_notified_then_waiters_look_again) {
  std::atomic<bool> word{false};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    word = true;
    hub_.notify();
  });
  EXPECT_TRUE(hub_.wait([&] { return word.load(); }, patience).ok());
  other.join();
}

TEST_F(InterruptHubTest, given_a_board_that_is_lost_when_waited_without_limit_then_every_waiter_hears_it) {
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int index = 0; index < 3; ++index) {
    threads.emplace_back([&] {
      Status waited = hub_.wait([] { return false; }, ~0ULL);
      lost += !waited && waited.error().code == ErrorCode::device_lost ? 1 : 0;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  function_.lose();
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(lost, 3);
}

TEST_F(InterruptHubTest, given_a_sleeping_waiter_then_it_costs_no_processor_time) {
  const std::uint64_t before = processor_time_ns();
  EXPECT_EQ(hub_.wait([] { return false; }, 300 * ms).error().code, ErrorCode::not_ready);
  EXPECT_LT(processor_time_ns() - before, 60 * ms);
}

/// A board whose clock is not the host's, and which never has anything to do.
class QuiescentBoard : public ::testing::Test {
 protected:
  QuiescentBoard() : hub_(made_quiescent(function_)) {}

  static FakeFunction& made_quiescent(FakeFunction& function) {
    function.stepped = true;
    return function;
  }

  FakeFunction function_;
  InterruptHub hub_;
};

TEST_F(QuiescentBoard, given_a_time_out_when_waited_then_the_waiter_sleeps_and_keeps_it) {
  const std::uint64_t before = processor_time_ns();
  const std::uint64_t begun = host_now_ns();
  EXPECT_EQ(hub_.wait([] { return false; }, 200 * ms).error().code, ErrorCode::not_ready);
  EXPECT_GE(host_now_ns() - begun, 200 * ms);
  EXPECT_LT(processor_time_ns() - before, 60 * ms);
  EXPECT_LT(function_.wait_calls, 50U);
}

TEST_F(QuiescentBoard, given_a_time_out_when_waited_again_then_the_board_gets_as_many_calls_as_before) {
  std::signal(SIGALRM, [](int) {});
  std::vector<std::uint64_t> calls;
  for (const bool disturbed : {false, true, false}) {
    const itimerval every{{0, disturbed ? 700 : 0}, {0, disturbed ? 700 : 0}};
    ::setitimer(ITIMER_REAL, &every, nullptr);
    function_.wait_calls = 0;
    function_.relax_calls = 0;
    EXPECT_EQ(hub_.wait([] { return false; }, 60 * ms).error().code, ErrorCode::not_ready);
    calls.push_back(function_.wait_calls * 10'000 + function_.relax_calls);
  }
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, SIG_IGN);  // one may be on its way
  EXPECT_EQ(calls[0] / 10'000, 6U) << "pauses of 1, 2, 4, 8, 16 and the rest of 29 ms";
  EXPECT_EQ(calls[1], calls[0]);
  EXPECT_EQ(calls[2], calls[0]);
}

TEST_F(QuiescentBoard, given_a_sleeping_waiter_when_the_board_gets_work_then_the_waiter_turns_to_it_again) {
  std::atomic<bool> word{false};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    word = true;
    hub_.board_has_work();
  });
  EXPECT_TRUE(hub_.wait([&] { return word.load(); }, patience).ok());
  other.join();
}

}  // namespace
}  // namespace datum::test
