// Resets.
#include "tests/unit/vfio/card_test.hpp"

namespace datum::test {

class Resets : public EitherInterface {
 protected:
  void SetUp() override { open_it(); }
};

DATUM_THROUGH_EITHER(Resets);

TEST_P(Resets, registers_are_as_at_power_on_and_mappings_survive) {
  Mapping host = host_pages(0x1000);
  ASSERT_TRUE(function_->dma_map(Iova{0x10000}, host.span(), board::DmaAccess::read_write));
  const unsigned before = slot_->resets;
  registers().write64(RegisterCard::scratch, 7);
  ASSERT_TRUE(function_->reset(board::ResetKind::function));
  EXPECT_EQ(slot_->resets, before + 1);
  EXPECT_EQ(registers().read64(RegisterCard::scratch), 0U);
  EXPECT_EQ(card_->mapping_count(), 1U);
  EXPECT_TRUE(card_->bus_master());
  EXPECT_TRUE(function_->dma_unmap(Iova{0x10000}, 0x1000));
}

TEST_P(Resets, an_interrupt_from_before_is_forgotten_and_later_ones_arrive) {
  card_->raise_vector(0);
  ASSERT_TRUE(function_->reset(board::ResetKind::function));
  EXPECT_EQ(*function_->wait(0, -1, 0), board::WaitOutcome::deadline);
  card_->raise_vector(0);
  EXPECT_EQ(*function_->wait(0, -1, in_ms(1000)), board::WaitOutcome::interrupt);
}

TEST_P(Resets, the_bus_is_reset_if_the_card_is_alone_on_it) {
  ASSERT_TRUE(function_->reset(board::ResetKind::hot));
  EXPECT_EQ(slot_->bus_resets, 1U);
}

TEST_P(Resets, a_bus_with_others_on_it_is_left_alone_and_they_are_named) {
  slot_->bus_neighbours = {"0000:03:00.1", "0000:03:00.2"};
  const Status status = function_->reset(board::ResetKind::hot);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::not_available);
  EXPECT_TRUE(has(status.error().message, "0000:03:00.1, 0000:03:00.2;")) << status.error().message;
  EXPECT_EQ(slot_->bus_resets, 0U);
}

TEST_P(Resets, what_the_card_or_the_slot_cannot_do_is_unsupported) {
  kernel_.machine.traits.function_reset = false;
  kernel_.machine.traits.bus_reset = false;
  EXPECT_EQ(function_->reset(board::ResetKind::function).error().code, ErrorCode::unsupported_feature);
  EXPECT_EQ(function_->reset(board::ResetKind::hot).error().code, ErrorCode::unsupported_feature);
  EXPECT_TRUE(function_->health());
}

TEST_P(Resets, a_reset_that_times_out_is_a_loss) {
  kernel_.fail_call(1, ETIMEDOUT);
  const Status status = function_->reset(board::ResetKind::function);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::device_lost);
  EXPECT_EQ(status.error().errno_value, ETIMEDOUT);
}

TEST_P(Resets, a_card_that_does_not_come_back_is_lost) {
  slot_->gone = true;
  EXPECT_FALSE(function_->reset(board::ResetKind::function));
  slot_->gone = false;
}

}  // namespace datum::test
