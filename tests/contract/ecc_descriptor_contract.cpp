// What descriptors make of wrong bits in the memory that they move, and in page tables.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tests/contract/ecc_contract.hpp"
#include "tests/support/pattern.hpp"

namespace datum::test {

class EccDescriptor : public EccContract {
 protected:
  void SetUp() override {
    EccContract::SetUp();
    host_ = driver().host(area_bytes);
    driver().map_host(space, host_va, *host_);
    driver().map_device(space, device_va, area_, area_bytes);
    ring_ = std::make_unique<TestRing>(driver(), 6, 8, std::vector<unsigned>{space});
  }

  void TearDown() override {
    ring_.reset();
    host_.reset();
    EccContract::TearDown();
  }

  void expect_fault(hw::Descriptor descriptor, hw::Status status, hw::FaultReason reason,
                    std::uint64_t address) {
    const auto sequence = ring_->submit(descriptor);
    ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
    EXPECT_EQ(ring_->record().sequence(), sequence);
    EXPECT_EQ(ring_->record().status(), status) << name_of(ring_->record().status());
    EXPECT_EQ(ring_->record().reason(), reason) << name_of(ring_->record().reason());
    EXPECT_EQ(ring_->record().fault_address(), address) << std::hex << ring_->record().fault_address();
    ring_->disable();
    ring_->enable();
  }

  void expect_done(hw::Descriptor descriptor) {
    ASSERT_TRUE(ring_->wait_for(ring_->submit(descriptor)));
    EXPECT_EQ(ring_->record().status(), hw::Status::ok) << name_of(ring_->record().reason());
  }

  /// Address of the last-level entry of a page.
  std::uint64_t entry_address(std::uint64_t va) {
    std::uint64_t table = hw::SpaceRootRegister{registers().read64(hw::space_root(space))}.address_bytes();
    for (unsigned level = 3; level != 0; --level) {
      const auto index = (va >> (12U + 9U * level)) & 0x1ffU;
      table = hw::Pte{driver().aperture().read64(table + 8 * index)}.address_bytes();
    }
    return table + 8 * ((va >> 12U) & 0x1ffU);
  }

  std::unique_ptr<HostBuffer> host_;
  std::unique_ptr<TestRing> ring_;
};

DATUM_ON_EVERY_BOARD(EccDescriptor);

TEST_P(EccDescriptor, a_copy_over_single_errors_moves_the_right_bytes_and_repairs_them) {
  const auto bytes = pattern(area_bytes, 5);
  driver().write_device(area_, std::as_bytes(std::span{bytes}));
  for (unsigned word = 0; word < 16; ++word) {
    inject_bits(area_ + word * 0x3f8ULL, {(word * 5) % 72});
  }
  clear_errors();
  expect_done(copy_descriptor(space, device_va, space, host_va, area_bytes));
  EXPECT_TRUE(same_bytes(bytes.data(), host_->data(), area_bytes));
  expect_counts(16, 0);
}

TEST_P(EccDescriptor, a_copy_that_reads_a_lost_word_fails_at_its_column) {
  inject_bits(area_ + 0x850, {20, 21});
  expect_fault(copy_descriptor(space, device_va, space, host_va, area_bytes), hw::Status::memory,
               hw::FaultReason::uncorrectable, device_va + 0x840);
  expect_fault(copy_descriptor(space, device_va + 0x84f, space, host_va, 1), hw::Status::memory,
               hw::FaultReason::uncorrectable, device_va + 0x84f);
  expect_fault(copy_descriptor(space, device_va + 0x7f1, space, device_va + 0x2003, 200), hw::Status::memory,
               hw::FaultReason::uncorrectable, device_va + 0x840);
  expect_fault(wait_descriptor(space, device_va + 0x850, hw::WaitCondition::equal, 0), hw::Status::memory,
               hw::FaultReason::uncorrectable, device_va + 0x850);
  expect_done(copy_descriptor(space, device_va + 0x880, space, host_va, 0x100));
  ASSERT_TRUE(driver().until_quiescent());
  EXPECT_GE(uncorrected(), 4U);
  EXPECT_EQ(registers().read64(hw::ecc_uncorrected_address), area_ + 0x850);
}

TEST_P(EccDescriptor, whole_words_that_are_written_are_right_again) {
  inject_bits(area_ + 0x850, {20, 21});
  expect_done(fill_descriptor(space, device_va + 0x850, 8, 0, 0x33));
  expect_done(copy_descriptor(space, device_va + 0x840, space, host_va, 64));
  EXPECT_EQ(host_->word(0x10), 0x3333'3333'3333'3333ULL);
  inject_bits(area_ + 0x850, {20, 21});
  expect_done(fill_descriptor(space, device_va + 0x801, 0x100, 0, 0x44));
  expect_done(copy_descriptor(space, device_va + 0x840, space, host_va, 64));
  EXPECT_EQ(host_->word(0x10), 0x4444'4444'4444'4444ULL);
}

TEST_P(EccDescriptor, bytes_of_one_word_that_two_rings_write_at_once_all_arrive) {
  TestRing other(driver(), 7, 8, {space});
  constexpr unsigned words = 100;
  std::array<TestRing*, 2> rings{ring_.get(), &other};
  std::array<std::uint32_t, 2> last{};
  for (unsigned word = 0; word < words; ++word) {
    for (unsigned half = 0; half < 2; ++half) {
      last[half] = rings[half]->push(
          write_value_descriptor(space, device_va + 8 * word + 4 * half, 0x100 * word + half, 2)
              .set_flag_complete(word + 1 == words));
    }
  }
  for (auto* ring : rings) {
    ring->ring_doorbell();
  }
  for (unsigned half = 0; half < 2; ++half) {
    ASSERT_TRUE(rings[half]->wait_for(last[half]));
  }
  for (std::uint64_t word = 0; word < words; ++word) {
    EXPECT_EQ(read_word(area_ + 8 * word), ((0x100 * word + 1) << 32U) | (0x100 * word)) << word;
  }
  expect_counts(0, 0);
}

TEST_P(EccDescriptor, a_lost_page_table_entry_refuses_its_page_and_its_line_only) {
  expect_done(fill_descriptor(space, device_va, area_bytes, 0, 0x11));
  driver().map_device(space, device_va + 0x8000, area_, area_bytes);  // entries in the next line of the table
  inject_bits(entry_address(device_va), {2, 50});
  ASSERT_TRUE(driver().invalidate(space));
  expect_done(fill_descriptor(space, device_va + 0x8000, 64, 0, 0x22));
  expect_fault(fill_descriptor(space, device_va, 64, 0, 0x33), hw::Status::mmu, hw::FaultReason::table_read,
               device_va);
}

}  // namespace datum::test
