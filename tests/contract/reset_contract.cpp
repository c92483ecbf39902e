// Stopping rings, resetting the board, losing it.

#include <cstring>

#include "tests/contract/contract_board.hpp"

namespace datum::test {

class ResetContract : public Contract {
 protected:
  static constexpr std::uint64_t area_bytes = 1ULL << 20U;

  void SetUp() override {
    host_ = driver().host(area_bytes);
    driver().map_host(space, host_va, *host_);
    device_ = driver().device_memory(area_bytes);
    driver().map_device(space, device_va, device_, area_bytes);
  }

  void expect_working_board() {
    TestRing ring(driver(), 1, 4, {space});
    auto memory = driver().host(0x1000);
    driver().map_host(space, host_va, *memory);
    ASSERT_TRUE(ring.wait_for(ring.submit(write_value_descriptor(space, host_va, 42))));
    EXPECT_EQ(ring.record().status(), hw::Status::ok);
    EXPECT_EQ(memory->word(0), 42U);
  }

  std::unique_ptr<HostBuffer> host_;
  std::uint64_t device_ = 0;
};

DATUM_ON_EVERY_BOARD(ResetContract);

TEST_P(ResetContract, the_reset_register_brings_reset_values_and_keeps_memory) {
  auto& registers = driver().registers();
  driver().aperture().write64(device_ + area_bytes - 8, 0x5eed);
  registers.write64(hw::scratch, 1);
  registers.write32(hw::reset, 1);
  ASSERT_TRUE(driver().until([&] { return !hw::ResetRegister{registers.read32(hw::reset)}.busy(); }));
  EXPECT_EQ(registers.read64(hw::scratch), 0U);
  EXPECT_EQ(registers.read64(hw::space_root(space)), 0U);
  EXPECT_EQ(driver().aperture().read64(device_ + area_bytes - 8), 0x5eedU);
  expect_working_board();
}

TEST_P(ResetContract, the_reset_register_ends_work_in_flight) {
  auto& registers = driver().registers();
  TestRing ring(driver(), 0, 4, {space});
  ring.submit(copy_descriptor(space, host_va, space, device_va, area_bytes));
  ring.submit(copy_descriptor(space, device_va, space, host_va, area_bytes));
  registers.write32(hw::reset, 1);
  ASSERT_TRUE(driver().until([&] { return !hw::ResetRegister{registers.read32(hw::reset)}.busy(); }));
  EXPECT_EQ(ring.state(), hw::RingState::disabled);
  ASSERT_TRUE(driver().until_quiescent());
  expect_working_board();
}

TEST_P(ResetContract, a_function_reset_ends_work_in_flight_and_keeps_mappings) {
  TestRing ring(driver(), 0, 4, {space});
  ring.submit(copy_descriptor(space, host_va, space, device_va, area_bytes));
  ASSERT_TRUE(function().reset(board::ResetKind::function));
  EXPECT_TRUE(function().health());
  EXPECT_EQ(ring.state(), hw::RingState::disabled);
  EXPECT_EQ(driver().registers().read64(hw::ring_base(0)), 0U);
  EXPECT_TRUE(function().dma_unmap(host_->iova(), area_bytes)) << "DMA mappings survive";
  ASSERT_TRUE(function().dma_map(host_->iova(), host_->bytes(), board::DmaAccess::read_write));
  expect_working_board();
}

TEST_P(ResetContract, a_hot_reset_works_too_and_interrupts_still_come) {
  const Status status = function().reset(board::ResetKind::hot);
  ASSERT_TRUE(status) << status.error().message;
  TestRing ring(driver(), 2, 4, {space});
  ring.push(plain_descriptor(hw::Opcode::nop).set_flag_interrupt(true));
  ring.ring_doorbell();
  const auto clock = function().clock();
  const auto outcome = function().wait(2, -1, clock.now_ns + 5'000'000'000ULL * clock.wait_scale);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
}

TEST_P(ResetContract, a_stopped_ring_forgets_its_descriptors_and_starts_anew) {
  TestRing ring(driver(), 0, 4, {space});
  ring.submit(wait_descriptor(space, host_va, hw::WaitCondition::equal, 1));
  ring.submit(write_value_descriptor(space, host_va + 8, 1));
  ASSERT_TRUE(ring.wait_for_state(hw::RingState::parked));
  ring.disable();
  EXPECT_EQ(ring.state(), hw::RingState::disabled);
  host_->set_word(0, 1);
  driver().registers().write32(hw::kick_all, 1);
  ring.enable();
  EXPECT_EQ(ring.head(), 0U);
  ASSERT_TRUE(ring.wait_for(ring.submit(write_value_descriptor(space, host_va + 16, 1))));
  EXPECT_EQ(host_->word(8), 0U);
  EXPECT_EQ(host_->word(16), 1U);
}

TEST_P(ResetContract, a_ring_stopped_amid_a_transfer_leaves_others_alone) {
  TestRing ring(driver(), 0, 4, {space});
  TestRing other(driver(), 1, 4, {space});
  ring.submit(copy_descriptor(space, host_va, space, device_va, area_bytes));
  const auto sequence = other.submit(fill_descriptor(space, host_va + 0x8000, 0x1000, 0, 9));
  ring.disable();
  EXPECT_EQ(ring.state(), hw::RingState::disabled);
  ASSERT_TRUE(other.wait_for(sequence));
  EXPECT_EQ(other.record().status(), hw::Status::ok);
  EXPECT_EQ(host_->data()[0x8fff], std::byte{9});
}

TEST_P(ResetContract, doorbells_of_a_disabled_ring_do_nothing) {
  auto& registers = driver().registers();
  registers.write32(hw::ring_tail(3), 5);
  registers.write32(hw::ring_kick(3), 1);
  ASSERT_TRUE(driver().until_quiescent());
  EXPECT_EQ(registers.read32(hw::ring_state(3)), static_cast<std::uint32_t>(hw::RingState::disabled));
  EXPECT_EQ(registers.read32(hw::ring_head(3)), 0U);
}

TEST_P(ResetContract, a_board_may_go_while_it_works) {
  auto address = GetParam();
  auto opened = open_board(address);
  ASSERT_TRUE(opened);
  auto function = std::move(opened).value();
  auto busy = std::make_unique<BoardDriver>(*function);
  auto memory = busy->host(area_bytes);
  busy->map_host(space, host_va, *memory);
  const auto ring =
      std::make_unique<HostBuffer>(*function, Iova{0x1000}, 0x1000, board::DmaAccess::read_write);
  auto& registers = busy->registers();
  registers.write64(hw::ring_base(0), 0x1000);
  registers.write64(hw::ring_completion(0), 0x1800);
  registers.write64(hw::ring_spaces(0), 0x8000U | space);
  registers.write32(hw::ring_size_log2(0), 4);
  registers.write32(hw::ring_control(0), 1);
  const auto descriptor = fill_descriptor(space, host_va, area_bytes, 0, 1);
  std::memcpy(ring->data(), descriptor.words.data(), sizeof descriptor);
  registers.write32(hw::ring_tail(0), 1);
  memory->unmap();
  ring->unmap();
  function.reset();
}

}  // namespace datum::test
