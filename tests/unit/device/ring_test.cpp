#include <array>

#include <gtest/gtest.h>

#include "driver/device/board.hpp"
#include "driver/device/ring.hpp"
#include "tests/unit/device/fake_function.hpp"

namespace datum::test {
namespace {

constexpr unsigned ring_index = 2;

class RingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto function = std::make_unique<FakeFunction>();
    fake_ = function.get();
    registers_ = function->registers;
    board_ = std::move(Board::adopt(std::move(function))).value();
    memory_ = {slots_.data(), Iova{0x10000}, record_.words.data(), Iova{0x20000}, 3};
    ring_.emplace(*board_, ring_index, memory_);
    SpaceSet spaces;
    spaces.add(4);
    spaces.add(6);
    ASSERT_TRUE(ring_->start(spaces).ok());
  }

  void put(unsigned count) {
    for (unsigned done = 0; done < count; ++done) {
      hw::Descriptor descriptor;
      ring_->put(descriptor.set_opcode(hw::Opcode::nop));
    }
    ring_->ring_doorbell();
  }

  void complete(std::uint32_t sequence, hw::Status status = hw::Status::ok,
                hw::FaultReason reason = hw::FaultReason::none, unsigned ring = ring_index) {
    hw::CompletionRecord written;
    written.set_sequence(sequence).set_status(status).set_reason(reason).set_ring(
        static_cast<std::uint16_t>(ring));
    record_ = written;
  }

  FakeFunction* fake_ = nullptr;
  std::shared_ptr<FakeBar> registers_;
  std::unique_ptr<Board> board_;
  std::array<hw::Descriptor, 8> slots_{};
  hw::CompletionRecord record_;
  RingMemory memory_;
  std::optional<Ring> ring_;
};

TEST_F(RingTest, given_a_ring_when_started_then_the_board_knows_its_memory_and_its_spaces) {
  EXPECT_EQ(registers_->read64(hw::ring_base(ring_index)), 0x10000U);
  EXPECT_EQ(registers_->read64(hw::ring_completion(ring_index)), 0x20000U);
  EXPECT_EQ(registers_->read32(hw::ring_size_log2(ring_index)), 3U);
  EXPECT_EQ(registers_->read64(hw::ring_spaces(ring_index)), 0x8006'8004U);
  EXPECT_EQ(registers_->read32(hw::ring_control(ring_index)), 1U);
}

TEST_F(RingTest,
       given_descriptors_when_the_doorbell_rings_then_tail_counts_them_and_each_carries_its_number) {
  put(3);
  EXPECT_EQ(registers_->read32(hw::ring_tail(ring_index)), 3U);
  EXPECT_EQ(slots_[0].sequence(), 1U);
  EXPECT_EQ(slots_[2].sequence(), 3U);
  EXPECT_EQ(ring_->free_slots(), 5U);
}

TEST_F(RingTest,
       given_slots_that_the_board_has_overwritten_when_the_host_looks_then_it_sees_what_it_had_put) {
  hw::Descriptor wait;
  ring_->put(wait.set_opcode(hw::Opcode::wait_value).set_dst_address(0x4000));
  slots_[0].set_dst_address(0xdead'0000'0000);
  EXPECT_EQ(ring_->slot(1).dst_address(), 0x4000U);
}

TEST_F(RingTest, given_a_full_ring_when_some_have_ended_then_slots_are_filled_again_in_turn) {
  put(8);
  EXPECT_EQ(ring_->free_slots(), 0U);
  complete(5);
  EXPECT_FALSE(ring_->poll().has_value());
  EXPECT_EQ(ring_->completed(), 5U);
  EXPECT_EQ(ring_->free_slots(), 5U);
  put(5);
  EXPECT_EQ(slots_[4].sequence(), 13U);
  EXPECT_EQ(registers_->read32(hw::ring_tail(ring_index)), 13U);
}

TEST_F(RingTest, given_no_new_record_when_polled_then_nothing_changes) {
  put(2);
  EXPECT_FALSE(ring_->poll().has_value());
  EXPECT_EQ(ring_->completed(), 0U);
}

TEST_F(RingTest, given_a_record_of_a_descriptor_that_was_never_put_then_the_board_is_not_believed) {
  put(2);
  complete(3);
  std::optional<RingFault> fault = ring_->poll();
  ASSERT_TRUE(fault.has_value());
  EXPECT_TRUE(fault->nonsense);
  EXPECT_EQ(ring_->completed(), 0U);
}

TEST_F(RingTest, given_a_record_that_goes_back_then_the_board_is_not_believed) {
  put(4);
  complete(3);
  EXPECT_FALSE(ring_->poll().has_value());
  complete(2);
  std::optional<RingFault> fault = ring_->poll();
  ASSERT_TRUE(fault.has_value());
  EXPECT_TRUE(fault->nonsense);
  EXPECT_EQ(ring_->completed(), 3U);
}

TEST_F(RingTest, given_the_record_of_another_ring_then_the_board_is_not_believed) {
  put(2);
  complete(1, hw::Status::ok, hw::FaultReason::none, ring_index + 1);
  std::optional<RingFault> fault = ring_->poll();
  ASSERT_TRUE(fault.has_value());
  EXPECT_TRUE(fault->nonsense);
}

TEST_F(RingTest, given_a_failed_descriptor_then_those_before_it_have_ended_and_the_fault_names_the_access) {
  put(4);
  registers_->set32(hw::ring_fault_info(ring_index),
                    hw::RingFaultInfoRegister{}.set_status(hw::Status::mmu).set_write(true).set_space(4).raw);
  registers_->set64(hw::ring_fault_address(ring_index), 0x7f00'0000'1000);
  complete(3, hw::Status::mmu, hw::FaultReason::write_refused);
  std::optional<RingFault> fault = ring_->poll();
  ASSERT_TRUE(fault.has_value());
  EXPECT_FALSE(fault->nonsense);
  EXPECT_EQ(ring_->completed(), 2U);
  EXPECT_EQ(fault->sequence, 3U);
  EXPECT_EQ(fault->address, 0x7f00'0000'1000U);
  EXPECT_TRUE(fault->write);
  EXPECT_EQ(fault->space, 4U);
  EXPECT_FALSE(ring_->poll().has_value()) << "a fault is told once";
}

TEST_F(RingTest, given_a_fault_whose_record_could_not_be_written_then_the_registers_tell) {
  put(4);
  registers_->set32(hw::ring_state(ring_index), static_cast<std::uint32_t>(hw::RingState::faulted));
  registers_->set32(hw::ring_fault_info(ring_index), hw::RingFaultInfoRegister{}
                                                         .set_status(hw::Status::host_bus)
                                                         .set_reason(hw::FaultReason::completion_write)
                                                         .raw);
  registers_->set32(hw::ring_fault_sequence(ring_index), 2);
  EXPECT_FALSE(ring_->poll().has_value());
  std::optional<RingFault> fault = ring_->poll_registers();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->status, hw::Status::host_bus);
  EXPECT_EQ(fault->sequence, 2U);
}

TEST_F(RingTest, given_a_fault_of_a_descriptor_that_was_never_put_then_the_oldest_outstanding_one_is_taken) {
  put(4);
  registers_->set32(hw::ring_state(ring_index), static_cast<std::uint32_t>(hw::RingState::faulted));
  registers_->set32(hw::ring_fault_sequence(ring_index), 0xdead);
  std::optional<RingFault> fault = ring_->poll_registers();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->sequence, 1U);
}

TEST_F(RingTest, given_a_ring_that_does_not_stop_then_the_board_is_lost_within_the_bound) {
  registers_->set32(hw::ring_state(ring_index), static_cast<std::uint32_t>(hw::RingState::stopping));
  fake_->clock_step_ns = 50'000'000;
  EXPECT_EQ(ring_->stop().error().code, ErrorCode::device_lost);
  EXPECT_TRUE(board_->is_lost());
}

TEST_F(RingTest, given_numbers_that_wrap_then_completion_is_still_understood) {
  // 2^32 descriptors would take too long: what counts is the difference, checked across a full turn of a
  // small ring many times.
  for (std::uint32_t turn = 0; turn < 100; ++turn) {
    put(7);
    complete(ring_->filled());
    EXPECT_FALSE(ring_->poll().has_value());
    EXPECT_EQ(ring_->free_slots(), 8U);
  }
  EXPECT_EQ(ring_->completed(), 700U);
}

TEST(SpaceSetTest, given_four_spaces_when_a_fifth_is_added_then_it_is_refused) {
  SpaceSet set;
  for (unsigned space = 1; space <= 4; ++space) {
    EXPECT_TRUE(set.add(space));
  }
  EXPECT_TRUE(set.add(2)) << "it is there already";
  EXPECT_FALSE(set.add(5));
  EXPECT_FALSE(set.contains(5));
  EXPECT_TRUE(set.contains(4));
}

}  // namespace
}  // namespace datum::test
