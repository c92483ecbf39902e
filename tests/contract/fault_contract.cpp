// Every way in which a descriptor can be refused, and what is left behind.

#include "tests/contract/contract_board.hpp"

namespace datum::test {

class FaultContract : public Contract {
 protected:
  void SetUp() override {
    host_ = driver().host(0x4000);
    driver().map_host(space, host_va, *host_);
    device_ = driver().device_memory(0x4000);
    driver().map_device(space, device_va, device_, 0x4000);
    ring_ = std::make_unique<TestRing>(driver(), 6, 4, std::vector<unsigned>{space});
  }

  void TearDown() override {
    ring_.reset();
    host_.reset();
  }

  /// Submits what must fail, checks every place in which the failure is reported, and brings the ring back.
  void expect_fault(hw::Descriptor descriptor, hw::Status status, hw::FaultReason reason,
                    std::uint64_t address) {
    auto& registers = driver().registers();
    registers.write32(hw::fault_clear, 1);
    registers.write32(hw::interrupt_global, ~0U);
    const auto vector = function().info().vectors - 2;
    const auto sequence = ring_->submit(descriptor);
    const auto behind = ring_->submit(write_value_descriptor(space, host_va + 0x3ff8, 1));
    ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
    const auto record = ring_->record();
    EXPECT_EQ(record.sequence(), sequence);
    EXPECT_NE(record.sequence(), behind);
    EXPECT_EQ(record.status(), status) << name_of(record.status());
    EXPECT_EQ(record.reason(), reason) << name_of(record.reason());
    EXPECT_EQ(record.fault_address(), address) << std::hex << record.fault_address();
    EXPECT_EQ(ring_->fault_info().status(), status);
    EXPECT_EQ(ring_->fault_info().reason(), reason);
    EXPECT_EQ(ring_->fault_address(), address);
    EXPECT_EQ(registers.read32(hw::ring_fault_sequence(6)), sequence);
    EXPECT_EQ(registers.read32(hw::fault_count), 1U);
    EXPECT_EQ(registers.read32(hw::fault_log_info), ring_->fault_info().raw);
    EXPECT_EQ(registers.read32(hw::fault_log_ring), 6U);
    EXPECT_EQ(registers.read64(hw::fault_log_address), address);
    EXPECT_EQ(registers.read32(hw::fault_log_sequence), sequence);
    EXPECT_TRUE(hw::InterruptGlobalRegister{registers.read32(hw::interrupt_global)}.fault());
    const auto clock = function().clock();
    const auto outcome = function().wait(vector, -1, clock.now_ns + 1'000'000'000ULL * clock.wait_scale);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
    EXPECT_EQ(host_->word(0x3ff8), 0U) << "the descriptor behind must not be executed";
    ring_->disable();
    ring_->enable();
    ASSERT_TRUE(ring_->wait_for(ring_->submit(plain_descriptor(hw::Opcode::nop))))
        << "the ring must come back";
    EXPECT_EQ(ring_->record().status(), hw::Status::ok);
  }

  std::unique_ptr<HostBuffer> host_;
  std::uint64_t device_ = 0;
  std::unique_ptr<TestRing> ring_;
};

DATUM_ON_EVERY_BOARD(FaultContract);

TEST_P(FaultContract, a_page_that_is_not_present) {
  expect_fault(fill_descriptor(space, 0x1234'5000, 16, 0, 0), hw::Status::mmu, hw::FaultReason::not_present,
               0x1234'5000);
  expect_fault(copy_descriptor(space, 0x1234'5010, space, host_va, 16), hw::Status::mmu,
               hw::FaultReason::not_present, 0x1234'5010);
}

TEST_P(FaultContract, a_transfer_that_runs_into_a_page_that_is_not_present) {
  expect_fault(fill_descriptor(space, device_va + 0x3000, 0x2000, 0, 0xee), hw::Status::mmu,
               hw::FaultReason::not_present, device_va + 0x4000);
}

TEST_P(FaultContract, a_write_to_a_read_only_page) {
  driver().map_host(space, 0x2000'0000, *host_, false);
  expect_fault(write_value_descriptor(space, 0x2000'0008, 1), hw::Status::mmu, hw::FaultReason::write_refused,
               0x2000'0008);
  ASSERT_TRUE(ring_->wait_for(ring_->submit(copy_descriptor(space, 0x2000'0000, space, device_va, 8))));
  EXPECT_EQ(ring_->record().status(), hw::Status::ok) << "reading is allowed";
}

TEST_P(FaultContract, malformed_page_table_entries) {
  const auto leaf = hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true);
  std::uint64_t va = 0x3000'0000'0000;
  const auto refuse = [&](unsigned level, hw::Pte entry) {
    va += 1ULL << 39U;
    driver().set_entry(space, va, level, entry);
    expect_fault(write_value_descriptor(space, va, 1), hw::Status::mmu, hw::FaultReason::malformed_entry, va);
  };
  refuse(3, leaf);                                               // no leaf in the root
  refuse(0, hw::Pte{}.set_valid(true));                          // nothing but leaves at the bottom
  refuse(1, hw::Pte{leaf}.set_address_bytes(0x1000));            // a 2 MiB page at 4 KiB
  refuse(2, hw::Pte{leaf}.set_address_bytes(large_page_bytes));  // a 1 GiB page at 2 MiB
  refuse(0, hw::Pte{leaf.raw | (1ULL << 63U)});                  // reserved bits
  refuse(0, hw::Pte{leaf.raw | (1ULL << 9U)});
}

TEST_P(FaultContract, a_space_that_the_ring_may_not_name) {
  driver().map_host(space + 1, host_va, *host_);
  expect_fault(write_value_descriptor(space + 1, host_va, 1), hw::Status::mmu,
               hw::FaultReason::space_not_allowed, host_va);
  EXPECT_EQ(host_->word(0), 0U);
}

TEST_P(FaultContract, a_space_without_root) {
  ring_.reset();
  ring_ = std::make_unique<TestRing>(driver(), 6, 4, std::vector<unsigned>{space, 77U});
  expect_fault(write_value_descriptor(77, host_va, 1), hw::Status::mmu, hw::FaultReason::no_root, host_va);
}

TEST_P(FaultContract, addresses_that_are_not_canonical) {
  expect_fault(write_value_descriptor(space, 1ULL << 48U, 1), hw::Status::mmu, hw::FaultReason::not_canonical,
               1ULL << 48U);
  expect_fault(fill_descriptor(space, (1ULL << 48U) - 8, 16, 0, 0), hw::Status::mmu,
               hw::FaultReason::not_canonical, (1ULL << 48U) - 8);
}

TEST_P(FaultContract, a_table_outside_of_the_memory) {
  driver().set_entry(space, 0x4000'0000'0000, 3, hw::Pte{}.set_valid(true).set_address_bytes(1ULL << 50U));
  expect_fault(write_value_descriptor(space, 0x4000'0000'0000, 1), hw::Status::mmu,
               hw::FaultReason::table_read, 0x4000'0000'0000);
}

TEST_P(FaultContract, a_page_beyond_the_memory) {
  const auto beyond = driver().registers().read64(hw::memory_bytes);
  driver().map_device(space, 0x2000'0000, beyond, 0x1000);
  expect_fault(write_value_descriptor(space, 0x2000'0000, 1), hw::Status::memory, hw::FaultReason::bus_write,
               0x2000'0000);
  expect_fault(copy_descriptor(space, 0x2000'0000, space, device_va, 8), hw::Status::memory,
               hw::FaultReason::bus_read, 0x2000'0000);
}

TEST_P(FaultContract, host_memory_that_the_iommu_does_not_know) {
  driver().map(space, 0x2000'0000, 0x1000,
               hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_host(true).set_address_bytes(
                   raw(driver().reserve_iova(0x1000))));
  expect_fault(write_value_descriptor(space, 0x2000'0000, 1), hw::Status::host_bus,
               hw::FaultReason::bus_write, 0x2000'0000);
  expect_fault(copy_descriptor(space, 0x2000'0000, space, device_va, 8), hw::Status::host_bus,
               hw::FaultReason::bus_read, 0x2000'0000);
}

TEST_P(FaultContract, malformed_descriptors) {
  const auto refuse = [&](hw::Descriptor descriptor, hw::FaultReason reason) {
    expect_fault(descriptor, hw::Status::malformed, reason, 0);
  };
  refuse(plain_descriptor(static_cast<hw::Opcode>(8)), hw::FaultReason::opcode);
  refuse(plain_descriptor(static_cast<hw::Opcode>(255)), hw::FaultReason::opcode);
  auto nop = plain_descriptor(hw::Opcode::nop);
  nop.words[7] = 1;
  refuse(nop, hw::FaultReason::reserved_bits);
  auto flags = plain_descriptor(hw::Opcode::nop);
  flags.words[0] |= 1U << 11U;
  refuse(flags, hw::FaultReason::reserved_bits);
  auto copy = copy_descriptor(space, host_va, space, device_va, 8);
  copy.words[5] = 1;
  refuse(copy, hw::FaultReason::reserved_bits);
  refuse(copy_descriptor(space, host_va, space, device_va, 8).set_size_code(1),
         hw::FaultReason::reserved_bits);
  refuse(wait_descriptor(space, host_va, static_cast<hw::WaitCondition>(3), 0),
         hw::FaultReason::reserved_bits);
  refuse(fill_descriptor(space, device_va, 16, 5, 0), hw::FaultReason::size);
  refuse(write_value_descriptor(space, host_va, 0, 1), hw::FaultReason::size);
  refuse(timestamp_descriptor(space, host_va).set_size_code(2), hw::FaultReason::size);
  refuse(write_value_descriptor(space, host_va + 4, 0), hw::FaultReason::alignment);
  refuse(write_value_descriptor(space, host_va + 2, 0, 2), hw::FaultReason::alignment);
  refuse(wait_descriptor(space, host_va + 4, hw::WaitCondition::equal, 0), hw::FaultReason::alignment);
  refuse(timestamp_descriptor(space, host_va + 4), hw::FaultReason::alignment);
}

TEST_P(FaultContract, a_word_that_carries_an_error) {
  host_->set_word(0x100, 1ULL << 63U);
  expect_fault(wait_descriptor(space, host_va + 0x100, hw::WaitCondition::equal, 0, 0xff, 1ULL << 63U),
               hw::Status::dependency, hw::FaultReason::none, host_va + 0x100);
}

TEST_P(FaultContract, an_error_that_comes_while_the_ring_is_parked) {
  driver().registers().write32(hw::park_recheck_ns, 0);
  const auto sequence =
      ring_->submit(wait_descriptor(space, host_va, hw::WaitCondition::equal, 1, 0xff, 1ULL << 63U));
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::parked));
  host_->set_word(0, (1ULL << 63U) | 1);
  driver().registers().write32(hw::ring_kick(6), 1);
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
  EXPECT_EQ(ring_->record().sequence(), sequence);
  EXPECT_EQ(ring_->record().status(), hw::Status::dependency);
}

TEST_P(FaultContract, a_descriptor_that_cannot_be_fetched) {
  const auto nowhere = raw(driver().reserve_iova(0x1000));
  ring_->disable();
  driver().registers().write64(hw::ring_base(6), nowhere);
  ring_->enable();
  ring_->submit(plain_descriptor(hw::Opcode::nop));
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
  EXPECT_EQ(ring_->fault_info().status(), hw::Status::host_bus);
  EXPECT_EQ(ring_->fault_info().reason(), hw::FaultReason::descriptor_fetch);
  EXPECT_EQ(ring_->fault_address(), nowhere);
  EXPECT_EQ(ring_->head(), 0U);
}

TEST_P(FaultContract, a_tail_further_ahead_than_the_ring_is_long) {
  driver().registers().write32(hw::ring_tail(6), static_cast<std::uint32_t>(ring_->slots() + 1));
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
  EXPECT_EQ(ring_->fault_info().status(), hw::Status::malformed);
  EXPECT_EQ(ring_->fault_info().reason(), hw::FaultReason::size);
  EXPECT_EQ(ring_->fault_address(), 0U);
  EXPECT_EQ(ring_->head(), 0U);
}

TEST_P(FaultContract, a_ring_of_an_impossible_size) {
  ring_->disable();
  driver().registers().write32(hw::ring_size_log2(6), 17);
  ring_->enable();
  ring_->submit(plain_descriptor(hw::Opcode::nop));
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
  EXPECT_EQ(ring_->fault_info().status(), hw::Status::malformed);
  EXPECT_EQ(ring_->fault_info().reason(), hw::FaultReason::size);
  EXPECT_EQ(ring_->head(), 0U);
}

TEST_P(FaultContract, a_record_that_cannot_be_written) {
  const auto nowhere = raw(driver().reserve_iova(0x1000));
  driver().registers().write64(hw::ring_completion(6), nowhere);
  ring_->submit(write_value_descriptor(space, host_va, 3));
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
  EXPECT_EQ(host_->word(0), 3U);
  EXPECT_EQ(ring_->fault_info().status(), hw::Status::host_bus);
  EXPECT_EQ(ring_->fault_info().reason(), hw::FaultReason::completion_write);
  EXPECT_EQ(ring_->fault_address(), nowhere);
  EXPECT_TRUE(hw::InterruptGlobalRegister{driver().registers().read32(hw::interrupt_global)}.fault());
}

TEST_P(FaultContract, other_rings_go_on_and_doorbells_of_the_faulted_one_do_nothing) {
  TestRing other(driver(), 7, 4, {space});
  ring_->submit(fill_descriptor(space, 0x999'0000, 16, 0, 0));
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
  ring_->submit(write_value_descriptor(space, host_va + 8, 1));
  ASSERT_TRUE(other.wait_for(other.submit(write_value_descriptor(space, host_va, 9))));
  EXPECT_EQ(other.record().status(), hw::Status::ok);
  ASSERT_TRUE(driver().until_quiescent());
  EXPECT_EQ(ring_->state(), hw::RingState::faulted);
  EXPECT_EQ(host_->word(8), 0U);
}

TEST_P(FaultContract, the_log_keeps_the_first_of_several_faults) {
  auto& registers = driver().registers();
  TestRing other(driver(), 7, 4, {space});
  other.submit(write_value_descriptor(space, 0x111'0000, 1));
  ASSERT_TRUE(other.wait_for_state(hw::RingState::faulted));
  ring_->submit(write_value_descriptor(space, 0x222'0000, 1));
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
  EXPECT_EQ(registers.read32(hw::fault_count), 2U);
  EXPECT_EQ(registers.read32(hw::fault_log_ring), 7U);
  EXPECT_EQ(registers.read64(hw::fault_log_address), 0x111'0000U);
  registers.write32(hw::fault_clear, 1);
  EXPECT_EQ(registers.read32(hw::fault_count), 0U);
  EXPECT_EQ(registers.read64(hw::fault_log_address), 0U);
}

TEST_P(FaultContract, an_invalidated_page_is_refused) {
  ASSERT_TRUE(ring_->wait_for(ring_->submit(write_value_descriptor(space, device_va, 1))));
  driver().unmap(space, device_va, 0x1000);
  ASSERT_TRUE(driver().invalidate(space));
  expect_fault(write_value_descriptor(space, device_va, 2), hw::Status::mmu, hw::FaultReason::not_present,
               device_va);
  EXPECT_EQ(driver().aperture().read64(device_), 1U);
}

}  // namespace datum::test
