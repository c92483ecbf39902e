// Cards that go away.
#include <thread>

#include "tests/unit/vfio/card_test.hpp"

namespace datum::test {

class Loss : public EitherInterface {
 protected:
  void SetUp() override { open_it(); }

  void TearDown() override {
    // A card that is gone cannot be told to stop; the fake would complain of one that is there.
    function_.reset();
    slot_->gone = false;
    CardTest::TearDown();
  }

  void expect_lost(const std::string& reason) {
    const Status health = function_->health();
    ASSERT_FALSE(health);
    EXPECT_EQ(health.error().code, ErrorCode::device_lost);
    EXPECT_TRUE(has(health.error().message, reason)) << health.error().message;
    EXPECT_TRUE(has(health.error().message, card_text)) << health.error().message;
  }
};

DATUM_THROUGH_EITHER(Loss);

TEST_P(Loss, a_healthy_card_is_healthy) { EXPECT_TRUE(function_->health()); }

TEST_P(Loss, a_card_that_was_pulled_out_reads_ones_and_is_lost) {
  slot_->gone = true;
  EXPECT_EQ(registers().read32(0), ~0U);
  EXPECT_EQ(registers().read64(RegisterCard::scratch), ~0ULL);
  registers().write32(RegisterCard::scratch, 1);
  expect_lost("its configuration space reads all ones");
}

TEST_P(Loss, a_card_that_comes_back_is_not_lost_for_ever) {
  slot_->gone = true;
  expect_lost("all ones");
  slot_->gone = false;
  EXPECT_TRUE(function_->health());
}

TEST_P(Loss, registers_that_read_ones_while_the_link_is_up_are_a_loss) {
  std::fill_n(card_->registers(), 4, std::byte{0xff});
  expect_lost("its registers read all ones");
}

TEST_P(Loss, register_accesses_that_the_kernel_fails_read_ones) {
  kernel_.fail_call(1, EIO);
  EXPECT_EQ(registers().read32(0), ~0U);
  kernel_.fail_call(1, EIO);
  EXPECT_EQ(registers().read64(0), ~0ULL);
  std::array<std::byte, 12> block{};
  kernel_.fail_call(1, EIO);
  registers().read_block(0, block);
  EXPECT_EQ(block[0], std::byte{0xff});
  EXPECT_EQ(block[11], std::byte{0xff});
}

TEST_P(Loss, the_kernels_request_ends_every_wait_with_the_reason) {
  std::thread kernel([request_fd = slot_->request_fd] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    FakeKernel::signal(request_fd);
  });
  std::array<Result<board::WaitOutcome>, 2> outcomes{board::WaitOutcome::deadline,
                                                     board::WaitOutcome::deadline};
  std::thread other([&] { outcomes[0] = function_->wait(1, -1, board::no_deadline); });
  outcomes[1] = function_->wait(board::any_vector, -1, board::no_deadline);
  kernel.join();
  other.join();
  for (const auto& outcome : outcomes) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::device_lost);
    EXPECT_TRUE(has(outcome.error().message, "the kernel asked for it back")) << outcome.error().message;
  }
  expect_lost("the kernel asked for it back");
}

TEST_P(Loss, a_card_that_the_kernel_asked_for_is_closed_though_the_function_lives) {
  function_.reset();
  plug({.registers_in_memory = true});
  open_it();
  board::Bar& kept = registers();
  board::Bar& window = memory();
  Mapping host = host_pages(0x1000);
  ASSERT_TRUE(function_->dma_map(Iova{0x10000}, host.span(), board::DmaAccess::read_write));
  EXPECT_TRUE(slot_->opened);
  FakeKernel::signal(slot_->request_fd);
  expect_lost("the kernel asked for it back");
  EXPECT_FALSE(slot_->opened) << "the kernel has it";
  EXPECT_FALSE(card_->bus_master());
  EXPECT_TRUE(slot_->vector_fds.empty());
  EXPECT_EQ(kept.read32(0), ~0U);
  EXPECT_EQ(window.read64(0x100), ~0ULL);
  kept.write32(RegisterCard::scratch, 5);
  EXPECT_NE(card_->registers()[RegisterCard::scratch], std::byte{5})
      << "what is written does not reach the card";
  EXPECT_TRUE(function_->dma_unmap(Iova{0x10000}, 0x1000));
  EXPECT_FALSE(function_->reset(board::ResetKind::function));
  const auto outcome = function_->wait(0, -1, board::no_deadline);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::device_lost);
  expect_lost("the kernel asked for it back");
}

TEST_P(Loss, a_card_that_cannot_be_closed_is_lost_all_the_same) {
  for (unsigned nth = 1; nth < 12; ++nth) {
    function_.reset();
    open_it();
    FakeKernel::signal(slot_->request_fd);
    kernel_.fail_call(nth + 1, ENOMEM);  // behind the look at the notices
    expect_lost("the kernel asked for it back");
    kernel_.fail_call(~0U, 0);
  }
  kernel_.machine.complaints.clear();  // that the fake could not be told to stop is one
}

TEST_P(Loss, an_error_report_is_a_loss_until_a_reset) {
  FakeKernel::signal(slot_->error_fd);
  expect_lost("uncorrectable PCIe error");
  const auto outcome = function_->wait(0, -1, board::no_deadline);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::device_lost);
  EXPECT_TRUE(function_->reset(board::ResetKind::function));
  EXPECT_TRUE(function_->health());
}

TEST_P(Loss, an_interrupt_that_was_raised_before_is_still_given) {
  card_->raise_vector(0);
  FakeKernel::signal(slot_->error_fd);
  const auto outcome = function_->wait(0, -1, board::no_deadline);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
}

TEST_P(Loss, a_card_that_does_not_answer_cannot_be_opened) {
  function_.reset();
  slot_->gone = true;
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::device_lost);
  EXPECT_TRUE(has(error.message, "does not answer")) << error.message;
}

}  // namespace datum::test
