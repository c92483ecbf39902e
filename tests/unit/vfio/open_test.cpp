// Opening a card, and what it says of itself.
#include <linux/pci_regs.h>

#include "tests/unit/vfio/card_test.hpp"

namespace datum::test {

class Opening : public EitherInterface {};

DATUM_THROUGH_EITHER(Opening);

TEST_P(Opening, the_function_says_who_it_is) {
  open_it();
  const board::FunctionInfo& info = function_->info();
  EXPECT_EQ(info.address, std::string("vfio:0000:03:00.0,") + GetParam());
  EXPECT_EQ(info.name, std::string("PCIe card 0000:03:00.0 (1234:da70) through ") + GetParam());
  EXPECT_EQ(info.pci.domain, 0U);
  EXPECT_EQ(info.pci.bus, 3U);
  EXPECT_EQ(info.pci.device, 0U);
  EXPECT_EQ(info.pci.function, 0U);
  EXPECT_EQ(info.vendor_id, 0x1234);
  EXPECT_EQ(info.device_id, 0xda70);
  EXPECT_EQ(info.bars[0].size_bytes, RegisterCard::register_bytes);
  EXPECT_EQ(info.bars[1].size_bytes, 0U);
  EXPECT_EQ(info.bars[2].size_bytes, RegisterCard::memory_bytes);
  EXPECT_EQ(info.vectors, 4U);
  EXPECT_EQ(info.numa_node, 0);
  EXPECT_EQ(info.bars[0].bus_address, 0xfe000000U);
  EXPECT_EQ(info.bars[1].bus_address, 0U);
  EXPECT_EQ(info.bars[2].bus_address, 0x4000000000U);
  EXPECT_EQ(info.link, (board::PciLink{3, 4}));
  EXPECT_EQ(info.fastest_link, (board::PciLink{4, 16}));
}

TEST_P(Opening, the_limits_are_those_of_the_kernel) {
  kernel_.machine.traits.iova_ranges = {{Iova{0x100000}, Iova{0xfedfffff}},
                                        {Iova{0xfef00000}, Iova{(1ULL << 48U) - 1}}};
  kernel_.machine.traits.memlock_bytes = 8U << 20U;
  kernel_.machine.traits.dma_entry_limit = 100;
  open_it();
  const board::FunctionLimits& limits = function_->limits();
  ASSERT_EQ(limits.iova_ranges.size(), 2U);
  EXPECT_EQ(raw(limits.iova_ranges[0].first), 0x100000U);
  EXPECT_EQ(raw(limits.iova_ranges[0].last), 0xfedfffffU);
  EXPECT_EQ(raw(limits.iova_ranges[1].last), (1ULL << 48U) - 1);
  EXPECT_EQ(limits.granule_bytes, 4096U);
  EXPECT_EQ(limits.max_mappings, through_iommufd() ? 0U : 100U);
  EXPECT_EQ(limits.max_locked_bytes, 8U << 20U);
  EXPECT_TRUE(limits.can_import.memfd);
  EXPECT_FALSE(limits.can_export.memfd);
  EXPECT_FALSE(limits.can_export.dma_buf);
  EXPECT_EQ(limits.exportable_memories, 0U);
  EXPECT_FALSE(limits.shareable_between_processes);
}

TEST_P(Opening, many_and_unsorted_ranges_come_sorted) {
  auto& ranges = kernel_.machine.traits.iova_ranges;
  ranges.clear();
  for (std::uint64_t index = 40; index-- > 0;) {
    ranges.push_back({Iova{index << 20U}, Iova{(index << 20U) + 0xfffff - 0x1000}});
  }
  open_it();
  const auto& got = function_->limits().iova_ranges;
  ASSERT_EQ(got.size(), 40U);
  for (std::uint64_t index = 0; index < 40; ++index) {
    EXPECT_EQ(raw(got[index].first), index << 20U);
  }
}

TEST_P(Opening, who_may_lock_anything_has_no_limit) {
  kernel_.machine.traits.memlock_bytes = 8U << 20U;
  kernel_.machine.traits.may_lock_anything = true;
  open_it();
  EXPECT_EQ(function_->limits().max_locked_bytes, 0U);
}

TEST_P(Opening, the_card_may_do_dma_while_it_is_open_and_not_after) {
  open_it();
  EXPECT_TRUE(card_->bus_master());
  EXPECT_NE(slot_->config[PCI_COMMAND] & PCI_COMMAND_MEMORY, 0);
  function_.reset();
  EXPECT_FALSE(card_->bus_master());
}

TEST_P(Opening, a_card_can_be_opened_again_after_it_was_closed) {
  open_it();
  function_.reset();
  EXPECT_FALSE(slot_->opened);
  open_it();
  EXPECT_TRUE(function_->health());
}

TEST_P(Opening, a_kernel_without_notices_is_good_enough) {
  kernel_.machine.traits.notices = false;
  open_it();
  EXPECT_EQ(slot_->error_fd, -1);
  EXPECT_TRUE(function_->health());
}

class ChoosingTheInterface : public CardTest {
 protected:
  [[nodiscard]] bool opened_through_iommufd() const { return has(function_->info().name, "through iommufd"); }
};

TEST_F(ChoosingTheInterface, the_newest_there_is_is_taken) {
  open();
  EXPECT_TRUE(opened_through_iommufd());
}

TEST_F(ChoosingTheInterface, a_kernel_without_nodes_of_devices_is_used_through_the_container) {
  kernel_.machine.traits.own_nodes = false;
  open();
  EXPECT_FALSE(opened_through_iommufd());
}

TEST_F(ChoosingTheInterface, a_kernel_without_iommufd_is_used_through_the_container) {
  kernel_.machine.traits.iommufd = false;
  open();
  EXPECT_FALSE(opened_through_iommufd());
}

TEST_F(ChoosingTheInterface, a_user_who_may_open_the_group_only_gets_the_container) {
  kernel_.machine.forbidden = {"/dev/vfio/devices/vfio0"};
  open();
  EXPECT_FALSE(opened_through_iommufd());
}

TEST_F(ChoosingTheInterface, a_forced_interface_is_not_replaced_by_the_other) {
  kernel_.machine.traits.iommufd = false;
  EXPECT_EQ(refusal(",iommufd").code, ErrorCode::dependency_unavailable);
  kernel_.machine.traits.iommufd = true;
  kernel_.machine.traits.container = false;
  EXPECT_EQ(refusal(",container").code, ErrorCode::dependency_unavailable);
  open();
  EXPECT_TRUE(opened_through_iommufd());
}

TEST_F(ChoosingTheInterface, an_address_without_a_device_opens_the_first_that_is_bound) {
  auto opened = vfio::open_card(kernel_, "vfio:");
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->info().pci.bus, 3U);
}

}  // namespace datum::test
