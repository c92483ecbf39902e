// Interrupts and waiting.
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

#include <datum/base/unique_fd.hpp>

#include "tests/unit/vfio/card_test.hpp"

namespace datum::test {

class Waiting : public EitherInterface {
 protected:
  void SetUp() override { open_it(); }

  static bool readable(int fd) {
    pollfd entry{fd, POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }

  board::WaitOutcome wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) {
    const auto outcome = function_->wait(vector, wake_fd, deadline_ns);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *outcome : board::WaitOutcome::quiescent;
  }

  void raise(unsigned vector) { registers().write32(RegisterCard::raise, vector); }
};

DATUM_THROUGH_EITHER(Waiting);

TEST_P(Waiting, an_interrupt_that_came_before_the_wait_is_seen_once) {
  raise(2);
  EXPECT_EQ(wait(2, -1, in_ms(1000)), board::WaitOutcome::interrupt);
  EXPECT_EQ(wait(2, -1, in_ms(1)), board::WaitOutcome::deadline);
}

TEST_P(Waiting, a_vector_hears_only_itself_and_any_vector_hears_all) {
  raise(1);
  EXPECT_EQ(wait(0, -1, in_ms(1)), board::WaitOutcome::deadline);
  EXPECT_EQ(wait(board::any_vector, -1, in_ms(1000)), board::WaitOutcome::interrupt);
  EXPECT_EQ(wait(1, -1, 0), board::WaitOutcome::deadline) << "any_vector has consumed it";
}

TEST_P(Waiting, an_interrupt_ends_a_wait_without_a_deadline) {
  std::thread card([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    card_->raise_vector(3);
  });
  EXPECT_EQ(wait(3, -1, board::no_deadline), board::WaitOutcome::interrupt);
  card.join();
}

TEST_P(Waiting, a_wait_ends_at_its_deadline_and_not_before) {
  const std::uint64_t start = function_->clock().now_ns;
  EXPECT_EQ(wait(0, -1, start + 5'000'000), board::WaitOutcome::deadline);
  EXPECT_GE(function_->clock().now_ns, start + 5'000'000);
  EXPECT_EQ(wait(board::any_vector, -1, 0), board::WaitOutcome::deadline);
}

TEST_P(Waiting, the_callers_descriptor_wakes_and_is_not_consumed) {
  const UniqueFd wake(::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
  EXPECT_EQ(wait(0, wake.get(), board::no_deadline), board::WaitOutcome::woken);
  EXPECT_EQ(wait(0, wake.get(), board::no_deadline), board::WaitOutcome::woken);
  raise(0);
  EXPECT_EQ(wait(0, wake.get(), board::no_deadline), board::WaitOutcome::interrupt);
  EXPECT_TRUE(readable(wake.get()));
}

TEST_P(Waiting, the_eventfd_of_a_vector_becomes_readable_and_wait_consumes_it) {
  const auto fd = function_->interrupt_fd(1);
  ASSERT_TRUE(fd);
  EXPECT_EQ(*function_->interrupt_fd(1), *fd);
  EXPECT_FALSE(readable(*fd));
  raise(1);
  EXPECT_TRUE(readable(*fd));
  EXPECT_EQ(wait(1, -1, in_ms(1000)), board::WaitOutcome::interrupt);
  EXPECT_FALSE(readable(*fd));
}

TEST_P(Waiting, vectors_that_do_not_exist_are_invalid) {
  EXPECT_EQ(function_->interrupt_fd(4).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(function_->wait(4, -1, 0).error().code, ErrorCode::invalid_argument);
}

TEST_P(Waiting, a_signal_in_between_does_not_end_the_wait) {
  raise(0);
  kernel_.fail_call(1, EINTR);
  EXPECT_EQ(wait(0, -1, in_ms(1000)), board::WaitOutcome::interrupt);
  EXPECT_TRUE(kernel_.failure_given());
}

TEST_P(Waiting, a_wait_that_the_kernel_fails_is_an_error) {
  kernel_.fail_call(1, ENOMEM);
  const auto outcome = function_->wait(0, -1, in_ms(1000));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().errno_value, ENOMEM);
}

class SettingInterruptsUp : public EitherInterface {};

DATUM_THROUGH_EITHER(SettingInterruptsUp);

TEST_P(SettingInterruptsUp, too_few_vectors_in_the_machine_are_told_with_both_numbers) {
  kernel_.machine.traits.vectors_left = 3;
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::out_of_host_memory);
  EXPECT_TRUE(has(error.message, "3 interrupt vectors left for it, it needs 4")) << error.message;
}

TEST_P(SettingInterruptsUp, a_card_without_interrupts_is_refused) {
  plug({.vectors = 0});
  EXPECT_EQ(refused().code, ErrorCode::unsupported_feature);
}

TEST_P(SettingInterruptsUp,
       opened_and_closed_a_hundred_times_no_descriptor_is_left_and_each_interrupt_arrives) {
  for (int round = 0; round < 100; ++round) {
    open_it();
    registers().write32(RegisterCard::raise, 1);
    const auto outcome = function_->wait(1, -1, in_ms(1000));
    ASSERT_TRUE(outcome);
    ASSERT_EQ(*outcome, board::WaitOutcome::interrupt) << round;
    registers().write32(RegisterCard::raise, 2);  // nobody waits for this one any more
    function_.reset();
    ASSERT_EQ(kernel_.open_descriptors(), 0U) << round;
  }
}

TEST_P(SettingInterruptsUp, many_vectors_are_no_trouble) {
  plug({.vectors = 66});
  open_it();
  EXPECT_EQ(function_->info().vectors, 66U);
  card_->raise_vector(65);
  const auto outcome = function_->wait(board::any_vector, -1, in_ms(1000));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
}

}  // namespace datum::test
