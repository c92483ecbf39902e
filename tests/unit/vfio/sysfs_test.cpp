// What is read from sysfs, broken entries included.
#include <fmt/format.h>

#include "tests/unit/vfio/card_test.hpp"
#include "vfio_backend/sysfs.hpp"

namespace datum::test {

class Sysfs : public CardTest {
 protected:
  [[nodiscard]] vfio::PciDevice look() { return *vfio::look_up_device(kernel_, card_pci); }

  FileTree& files() { return kernel_.machine.files; }

  const std::string folder_ = fmt::format("/sys/bus/pci/devices/{}", card_pci);
};

TEST_F(Sysfs, a_device_is_read_whole) {
  const vfio::PciDevice device = look();
  EXPECT_EQ(device.description(), card_text);
  EXPECT_EQ(device.driver, "vfio-pci");
  EXPECT_EQ(device.group, card_group);
  EXPECT_EQ(device.own_node, "vfio0");
  EXPECT_EQ(device.group_node(), "/dev/vfio/12");
  EXPECT_EQ(device.device_node(), "/dev/vfio/devices/vfio0");
  EXPECT_EQ(device.iommu_bits, 39U);
  EXPECT_EQ(device.numa_node, 0);
  ASSERT_EQ(device.group_members.size(), 1U);
  EXPECT_EQ(device.group_members[0].address, card_pci);
}

TEST_F(Sysfs, entries_that_make_no_sense_are_as_good_as_missing) {
  files().add_file(folder_ + "/device", "0xnonsense\n");
  files().add_file(folder_ + "/numa_node", "");
  files().add_file(folder_ + "/iommu/intel-iommu/cap", "zz");
  files().add_link(folder_ + "/iommu_group", "/sys/kernel/iommu_groups/twelve");
  const vfio::PciDevice device = look();
  EXPECT_EQ(device.device_id, 0);
  EXPECT_EQ(device.numa_node, -1);
  EXPECT_EQ(device.iommu_bits, 0U);
  EXPECT_FALSE(device.group.has_value());
  EXPECT_FALSE(device.iommu_is_on());
}

TEST_F(Sysfs, a_numa_node_of_minus_one_means_none) {
  files().add_file(folder_ + "/numa_node", "-1\n");
  EXPECT_EQ(look().numa_node, -1);
}

TEST_F(Sysfs, a_link_is_what_the_kernel_says_of_it_and_unknown_where_it_says_nothing) {
  EXPECT_EQ(look().link, (board::PciLink{3, 4}));
  files().add_file(folder_ + "/current_link_speed", "2.5 GT/s\n");
  files().add_file(folder_ + "/max_link_speed", "64 GT/s PCIe\n");
  EXPECT_EQ(look().link.generation, 1U);
  EXPECT_EQ(look().fastest_link.generation, 6U);
  files().add_file(folder_ + "/current_link_speed", "Unknown\n");
  files().add_file(folder_ + "/current_link_width", "255\n");
  files().remove(folder_ + "/max_link_speed");
  files().remove(folder_ + "/max_link_width");
  EXPECT_EQ(look().link, board::PciLink{});
  EXPECT_EQ(look().fastest_link, board::PciLink{});
}

TEST_F(Sysfs, addresses_of_bars_are_read_as_far_as_they_are_there) {
  files().add_file(folder_ + "/resource",
                   "0x00000000fe000000 0x00000000fe0fffff 0x0000000000140204\nnonsense");
  EXPECT_EQ(look().bar_addresses[0], 0xfe000000U);
  EXPECT_EQ(look().bar_addresses[1], 0U);
  EXPECT_EQ(look().bar_addresses[2], 0U);
  files().remove(folder_ + "/resource");
  EXPECT_EQ(look().bar_addresses[0], 0U);
}

TEST_F(Sysfs, an_iommu_that_does_not_tell_its_width_has_none_known) {
  files().remove(folder_ + "/iommu");
  EXPECT_EQ(look().iommu_bits, 0U);
}

TEST_F(Sysfs, a_group_whose_members_cannot_be_listed_has_at_least_the_device) {
  files().remove("/sys/kernel/iommu_groups/12/devices");
  const vfio::PciDevice device = look();
  ASSERT_EQ(device.group_members.size(), 1U);
  EXPECT_EQ(device.group_members[0].address, card_pci);
  EXPECT_EQ(device.group_members[0].driver, "vfio-pci");
}

}  // namespace datum::test
