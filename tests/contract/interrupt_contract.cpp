// Interrupts and waiting.

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "tests/contract/contract_board.hpp"

namespace datum::test {

/// The process gets no further descriptor in this scope.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(STDERR_FILENO);
    ::close(next);
    const rlimit no_more{static_cast<rlim_t>(next), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &no_more);
  }

  ~NoDescriptorsLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  NoDescriptorsLeft(const NoDescriptorsLeft&) = delete;
  NoDescriptorsLeft& operator=(const NoDescriptorsLeft&) = delete;

 private:
  rlimit before_{};
};

class InterruptContract : public Contract {
 protected:
  static bool readable(int fd) {
    pollfd entry{fd, POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }

  std::uint64_t in_ms(std::uint64_t ms) {
    const auto clock = function().clock();
    return clock.now_ns + ms * 1'000'000U * clock.wait_scale;
  }

  static hw::Descriptor interrupting_nop() {
    return plain_descriptor(hw::Opcode::nop).set_flag_interrupt(true);
  }

  /// Step-locked boards say that nothing will come instead of waiting for it.
  void expect_nothing(const Result<board::WaitOutcome>& outcome) {
    ASSERT_TRUE(outcome);
    EXPECT_EQ(*outcome, step_locked() ? board::WaitOutcome::quiescent : board::WaitOutcome::deadline);
  }
};

DATUM_ON_EVERY_BOARD(InterruptContract);

TEST_P(InterruptContract, a_wait_on_an_idle_board_ends_at_its_deadline) {
  const auto start = function().clock().now_ns;
  expect_nothing(function().wait(0, -1, start + 20'000'000));
  if (!step_locked()) {
    EXPECT_GE(function().clock().now_ns, start + 20'000'000);
  }
}

TEST_P(InterruptContract, board_time_comes_to_the_deadline_of_who_waits_again_and_again) {
  const auto deadline = function().clock().now_ns + 5'000'000;
  unsigned waits = 0;
  for (;; ++waits) {
    const auto outcome = function().wait(0, -1, deadline);
    ASSERT_TRUE(outcome);
    if (*outcome == board::WaitOutcome::deadline) {
      break;
    }
    ASSERT_EQ(*outcome, board::WaitOutcome::quiescent);
    ASSERT_LT(waits, 10000U);
  }
  EXPECT_GE(function().clock().now_ns, deadline);
}

TEST_P(InterruptContract, a_deadline_that_has_passed_ends_the_wait_at_once) {
  const auto outcome = function().wait(board::any_vector, -1, 0);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, board::WaitOutcome::deadline);
}

TEST_P(InterruptContract, a_vector_that_does_not_exist_is_refused) {
  const auto outcome = function().wait(function().info().vectors, -1, 0);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::invalid_argument);
  const auto fd = function().interrupt_fd(function().info().vectors);
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().code, ErrorCode::invalid_argument);
}

TEST_P(InterruptContract, a_ring_raises_its_vector_once_after_the_record) {
  TestRing ring(driver(), 5, 4, {space});
  const auto sequence = ring.push(interrupting_nop());
  ring.ring_doorbell();
  auto outcome = function().wait(5, -1, in_ms(10'000));
  ASSERT_TRUE(outcome);
  ASSERT_EQ(*outcome, board::WaitOutcome::interrupt);
  EXPECT_EQ(ring.record().sequence(), sequence);
  EXPECT_EQ(driver().registers().read64(hw::interrupt_rings), 1ULL << 5U);
  driver().registers().write64(hw::interrupt_rings, 1ULL << 5U);
  EXPECT_EQ(driver().registers().read64(hw::interrupt_rings), 0U);
  expect_nothing(function().wait(5, -1, in_ms(1)));
}

TEST_P(InterruptContract, a_process_without_descriptors_can_wait_all_the_same) {
  TestRing ring(driver(), 5, 4, {space});
  const NoDescriptorsLeft limit;
  expect_nothing(function().wait(5, -1, in_ms(1)));
  for (const unsigned vector : {5U, board::any_vector}) {
    ring.push(interrupting_nop());
    ring.ring_doorbell();
    const auto outcome = function().wait(vector, -1, in_ms(10'000));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
  }
}

TEST_P(InterruptContract, an_interrupt_that_came_before_the_wait_is_not_lost) {
  TestRing ring(driver(), 2, 4, {space});
  const auto sequence = ring.push(interrupting_nop());
  ring.ring_doorbell();
  ASSERT_TRUE(ring.wait_for(sequence));
  ASSERT_TRUE(driver().until_quiescent());
  const auto outcome = function().wait(2, -1, in_ms(1000));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
}

TEST_P(InterruptContract, any_vector_hears_every_ring_and_other_vectors_do_not) {
  TestRing first(driver(), 1, 4, {space});
  TestRing second(driver(), 63, 4, {space});
  for (auto* ring : {&first, &second}) {
    ring->push(interrupting_nop());
    ring->ring_doorbell();
    const auto outcome = function().wait(board::any_vector, -1, in_ms(10'000));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
  }
  expect_nothing(function().wait(2, -1, in_ms(1)));
}

TEST_P(InterruptContract, the_eventfd_of_a_vector_becomes_readable_and_wait_consumes_it) {
  const auto fd = function().interrupt_fd(7);
  ASSERT_TRUE(fd);
  EXPECT_EQ(*function().interrupt_fd(7), *fd);
  EXPECT_FALSE(readable(*fd));
  TestRing ring(driver(), 7, 4, {space});
  ring.push(interrupting_nop());
  ring.ring_doorbell();
  EXPECT_TRUE(driver().until([&] { return readable(*fd); }));
  const auto outcome = function().wait(7, -1, in_ms(1000));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
  EXPECT_FALSE(readable(*fd));
}

TEST_P(InterruptContract, an_eventfd_made_after_the_interrupt_is_readable) {
  TestRing ring(driver(), 4, 4, {space});
  const auto sequence = ring.push(interrupting_nop());
  ring.ring_doorbell();
  ASSERT_TRUE(ring.wait_for(sequence));
  ASSERT_TRUE(driver().until_quiescent());
  const auto fd = function().interrupt_fd(4);
  ASSERT_TRUE(fd);
  // A card's interrupt is a posted write and may still be on its way when the board has nothing left to do.
  EXPECT_TRUE(driver().until([&] { return readable(*fd); }));
}

TEST_P(InterruptContract, the_callers_descriptor_wakes_the_wait_and_is_not_consumed) {
  const UniqueFd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(wake.get(), &one, sizeof one), 8);
  for (int times = 0; times < 2; ++times) {
    const auto outcome = function().wait(0, wake.get(), in_ms(10'000));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(*outcome, board::WaitOutcome::woken);
  }
  EXPECT_TRUE(readable(wake.get()));
}

TEST_P(InterruptContract, another_thread_can_wake_a_wait) {
  const UniqueFd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  std::jthread other([&] {  // which a board that fails must not leave behind
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(wake.get(), &one, sizeof one), 8);
  });
  for (;;) {
    const auto outcome = function().wait(0, wake.get(), board::no_deadline);
    ASSERT_TRUE(outcome);
    if (*outcome == board::WaitOutcome::woken) {
      break;
    }
    ASSERT_EQ(*outcome, board::WaitOutcome::quiescent);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_P(InterruptContract, a_descriptor_without_the_flag_raises_nothing) {
  TestRing ring(driver(), 3, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(plain_descriptor(hw::Opcode::nop))));
  ASSERT_TRUE(driver().until_quiescent());
  expect_nothing(function().wait(3, -1, in_ms(1)));
}

}  // namespace datum::test
