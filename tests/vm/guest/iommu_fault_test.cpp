// DMA that the IOMMU refuses: the board says so, and so does the kernel.
#include <fmt/format.h>

#include "tests/support/board_driver.hpp"
#include "tests/vm/guest/guest_test.hpp"
#include "vfio_backend/backend.hpp"

namespace datum::test {
namespace {

class RefusedDma : public ThroughEither {
 protected:
  static constexpr unsigned space = 3;
  static constexpr std::uint64_t va = 0x2000'0000;

  void SetUp() override {
    GuestTest::SetUp();
    auto opened = vfio::backend().open("vfio:" + card_ + forced());
    ASSERT_TRUE(opened) << opened.error().message;
    function_ = std::move(opened).value();
    driver_ = std::make_unique<BoardDriver>(*function_);
    ring_ = std::make_unique<TestRing>(*driver_, 6, 4, std::vector<unsigned>{space});
    const std::uint64_t device = driver_->device_memory(0x1000);
    driver_->map_device(space, device_va, device, 0x1000);
  }

  void TearDown() override {
    ring_.reset();
    driver_.reset();
    function_.reset();
  }

  /// What the board reads and writes at `va` is `iova` to it.
  void lead_to(Iova iova) {
    driver_->map(space, va, 0x1000,
                 hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_host(true).set_address_bytes(
                     raw(iova)));
  }

  /// The board says so each time. The IOMMU drops a fault while an earlier one of the card is not yet read
  /// out, so the kernel need not tell of the first.
  void expect_refusal(hw::Descriptor descriptor, hw::FaultReason reason, const char* direction, Iova iova) {
    constexpr int most_attempts = 5;
    const std::string sentence =
        fmt::format("{} NO_PASID] Request device [{}] fault addr {:#x}", direction, card_, raw(iova));
    bool told = false;
    for (int attempt = 0; attempt < most_attempts && !told; ++attempt) {
      const std::string before = kernel_log();
      ring_->submit(descriptor);
      ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
      EXPECT_EQ(ring_->record().status(), hw::Status::host_bus);
      EXPECT_EQ(ring_->record().reason(), reason);
      EXPECT_EQ(ring_->record().fault_address(), va);
      ring_->disable();
      ring_->enable();
      EXPECT_TRUE(ring_->wait_for(ring_->submit(plain_descriptor(hw::Opcode::nop)))) << "the ring comes back";
      told = kernel_says(sentence, before);
    }
    EXPECT_TRUE(told) << sentence << " is not in the kernel's log: " << kernel_log();
  }

  static constexpr std::uint64_t device_va = 0x7e00'0000'0000;
  std::unique_ptr<board::PcieFunction> function_;
  std::unique_ptr<BoardDriver> driver_;
  std::unique_ptr<TestRing> ring_;
};

DATUM_THROUGH_EITHER(RefusedDma);

TEST_P(RefusedDma,
       given_memory_that_is_not_mapped_when_the_card_reads_or_writes_it_then_board_and_kernel_tell) {
  const Iova nowhere = driver_->reserve_iova(0x1000);
  lead_to(nowhere);
  expect_refusal(write_value_descriptor(space, va, 1), hw::FaultReason::bus_write, "[DMA Write", nowhere);
  expect_refusal(copy_descriptor(space, va, space, device_va, 8), hw::FaultReason::bus_read, "[DMA Read",
                 nowhere);
}

TEST_P(RefusedDma,
       given_memory_for_reading_only_when_the_card_writes_it_then_board_and_kernel_tell_and_it_is_unchanged) {
  const auto memory = driver_->host(0x1000, board::DmaAccess::read);
  memory->set_word(0, 0x5eed);
  lead_to(memory->iova());
  ASSERT_TRUE(ring_->wait_for(ring_->submit(copy_descriptor(space, va, space, device_va, 8))));
  EXPECT_EQ(ring_->record().status(), hw::Status::ok) << "reading is allowed";
  expect_refusal(write_value_descriptor(space, va, 1), hw::FaultReason::bus_write, "[DMA Write",
                 memory->iova());
  EXPECT_EQ(memory->word(0), 0x5eedU);
}

TEST_P(
    RefusedDma,
    given_memory_that_was_unmapped_when_the_card_writes_it_then_board_and_kernel_tell_and_it_is_unchanged) {
  const auto memory = driver_->host(0x1000);
  lead_to(memory->iova());
  ASSERT_TRUE(ring_->wait_for(ring_->submit(write_value_descriptor(space, va, 7))));
  EXPECT_EQ(memory->word(0), 7U);
  memory->unmap();
  expect_refusal(write_value_descriptor(space, va, 8), hw::FaultReason::bus_write, "[DMA Write",
                 memory->iova());
  EXPECT_EQ(memory->word(0), 7U);
}

}  // namespace
}  // namespace datum::test
