#include <algorithm>

#include "tests/rtl/copy_setup.hpp"

namespace datum::rtl_test {
namespace {

constexpr std::uint64_t message_address = 0x5'fee0'0000;
constexpr std::uint32_t pending_offset = 0x1000;
constexpr unsigned fault_vector = 64;

class BoardInterrupt : public CopySetup {
 protected:
  void set_vector(unsigned vector, bool masked) {
    const auto entry = 16 * vector;
    bench_.table_write32(entry, static_cast<std::uint32_t>(message_address + 4 * vector));
    bench_.table_write32(entry + 4, static_cast<std::uint32_t>(message_address >> 32U));
    bench_.table_write32(entry + 8, 0x4100 + vector);
    bench_.table_write32(entry + 12, masked ? 1 : 0);
  }

  std::uint32_t message(unsigned vector) {
    return bench_.host.memory.get<std::uint32_t>(message_address + 4 * vector);
  }

  void copy_with_interrupt() {
    const auto sequence = ring_->add(copy(device_va, host_va, 64).set_flag_interrupt(true));
    ring_->ring_doorbell();
    ASSERT_TRUE(ring_->wait(sequence));
    ASSERT_TRUE(bench_.run_until_quiescent());
  }
};

TEST_F(BoardInterrupt, given_an_unmasked_vector_when_its_ring_raises_it_then_the_message_follows_the_record) {
  set_vector(0, false);
  copy_with_interrupt();
  EXPECT_EQ(message(0), 0x4100U);
  const auto& written = bench_.host.written_bursts();
  const auto record = std::find(written.begin(), written.end(), ring_->record_address());
  const auto interrupt = std::find(written.begin(), written.end(), message_address);
  ASSERT_NE(interrupt, written.end());
  EXPECT_LT(record, interrupt);
  EXPECT_EQ(bench_.read64(hw::interrupt_rings), 1U);
  bench_.write64(hw::interrupt_rings, 1);
  EXPECT_EQ(bench_.read64(hw::interrupt_rings), 0U);
}

TEST_F(BoardInterrupt, given_a_masked_vector_when_raised_then_it_is_pending_until_it_is_unmasked) {
  set_vector(0, true);
  copy_with_interrupt();
  EXPECT_EQ(message(0), 0U);
  EXPECT_EQ(bench_.table_read32(pending_offset), 1U);
  bench_.table_write32(12, 0);
  ASSERT_TRUE(bench_.run_until_quiescent());
  EXPECT_EQ(message(0), 0x4100U);
  EXPECT_EQ(bench_.table_read32(pending_offset), 0U);
}

TEST_F(BoardInterrupt, given_a_table_when_written_then_it_reads_back_and_vectors_begin_masked) {
  EXPECT_EQ(bench_.table_read32(16 * 65 + 12), 1U);
  set_vector(65, true);
  EXPECT_EQ(bench_.table_read32(16 * 65), static_cast<std::uint32_t>(message_address + 4 * 65));
  EXPECT_EQ(bench_.table_read32(16 * 65 + 4), 5U);
  EXPECT_EQ(bench_.table_read32(16 * 65 + 8), 0x4100U + 65);
  EXPECT_EQ(bench_.table_read32(16 * 66), 0U) << "behind the table";
}

TEST_F(BoardInterrupt, given_a_fault_when_it_stops_a_ring_then_its_vector_and_the_fault_vector_are_raised) {
  set_vector(0, false);
  set_vector(fault_vector, false);
  const auto sequence = ring_->add(copy(0x6666'0000, host_va, 64));
  ring_->ring_doorbell();
  ASSERT_TRUE(ring_->wait(sequence));
  ASSERT_TRUE(bench_.run_until_quiescent());
  EXPECT_EQ(ring_->record().status(), hw::Status::mmu);
  EXPECT_EQ(ring_->record().reason(), hw::FaultReason::not_present);
  EXPECT_EQ(message(0), 0x4100U);
  EXPECT_EQ(message(fault_vector), 0x4100U + fault_vector);
  EXPECT_EQ(bench_.read32(hw::interrupt_global), 1U);
  bench_.write32(hw::interrupt_global, 3);
  EXPECT_EQ(bench_.read32(hw::interrupt_global), 0U);
}

TEST_F(BoardInterrupt, given_the_table_when_the_board_is_reset_then_it_stays_and_nothing_is_pending) {
  set_vector(0, true);
  copy_with_interrupt();
  bench_.write32(hw::reset, 1);
  ASSERT_TRUE(bench_.run_until_quiescent());
  EXPECT_EQ(bench_.table_read32(8), 0x4100U);
  EXPECT_EQ(bench_.table_read32(pending_offset), 0U);
  bench_.table_write32(12, 0);
  ASSERT_TRUE(bench_.run_until_quiescent());
  EXPECT_EQ(message(0), 0U);
}

}  // namespace
}  // namespace datum::rtl_test
