#include "tests/fakes/kernel/machine.hpp"

#include <algorithm>
#include <linux/pci_regs.h>

#include <fmt/format.h>

namespace datum::test {

namespace {

void put16(std::vector<std::uint8_t>& config, std::size_t at, unsigned value) {
  config[at] = static_cast<std::uint8_t>(value);
  config[at + 1] = static_cast<std::uint8_t>(value >> 8U);
}

}  // namespace

Slot* Machine::slot_of_node(const std::string& node) const {
  const auto found = std::ranges::find_if(slots, [&](const auto& slot) { return slot->node == node; });
  return found == slots.end() ? nullptr : found->get();
}

Slot* Machine::slot_of_address(const std::string& pci) const {
  const auto found = std::ranges::find_if(slots, [&](const auto& slot) { return slot->pci == pci; });
  return found == slots.end() ? nullptr : found->get();
}

bool Machine::group_is_viable(unsigned group) const {
  const auto members = files.list(fmt::format("/sys/kernel/iommu_groups/{}/devices", group));
  return members && std::ranges::all_of(*members, [&](const std::string& member) {
           const auto driver = files.link(fmt::format("/sys/bus/pci/devices/{}/driver", member));
           return !driver || driver->ends_with("/vfio-pci") || driver->ends_with("/pcieport") ||
                  driver->ends_with("/pci-stub");
         });
}

std::vector<std::uint8_t> board_configuration(std::uint16_t vendor, std::uint16_t device, unsigned vectors) {
  constexpr std::size_t express = 0x40;
  constexpr std::size_t msix = 0x80;
  std::vector<std::uint8_t> config(4096, 0);
  put16(config, PCI_VENDOR_ID, vendor);
  put16(config, PCI_DEVICE_ID, device);
  put16(config, PCI_STATUS, PCI_STATUS_CAP_LIST);
  config[PCI_CLASS_REVISION] = 1;
  config[PCI_CLASS_REVISION + 3] = 0x12;  // processing accelerator
  config[PCI_CAPABILITY_LIST] = express;
  config[express] = PCI_CAP_ID_EXP;
  config[express + 1] = msix;
  config[msix] = PCI_CAP_ID_MSIX;
  put16(config, msix + PCI_MSIX_FLAGS, vectors - 1);
  config[msix + PCI_MSIX_TABLE] = 4;  // BAR4, offset 0
  return config;
}

void add_to_sysfs(Machine& machine, const std::string& pci, unsigned group, std::uint16_t vendor,
                  std::uint16_t device, const std::string& driver) {
  const std::string folder = "/sys/bus/pci/devices/" + pci;
  const std::string group_folder = fmt::format("/sys/kernel/iommu_groups/{}", group);
  FileTree& files = machine.files;
  files.add_file(folder + "/vendor", fmt::format("0x{:04x}\n", vendor));
  files.add_file(folder + "/device", fmt::format("0x{:04x}\n", device));
  files.add_file(folder + "/numa_node", "0\n");
  files.add_file(folder + "/resource", "0x00000000fe000000 0x00000000fe0fffff 0x0000000000140204\n"
                                       "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                                       "0x0000004000000000 0x000000400fffffff 0x000000000014220c\n");
  files.add_file(folder + "/current_link_speed", "8.0 GT/s PCIe\n");
  files.add_file(folder + "/current_link_width", "4\n");
  files.add_file(folder + "/max_link_speed", "16.0 GT/s PCIe\n");
  files.add_file(folder + "/max_link_width", "16\n");
  files.add_link(folder + "/iommu_group", group_folder);
  files.add_file(folder + "/iommu/intel-iommu/cap", "d2008c40660462\n");  // 39 bits
  files.add_link(fmt::format("{}/devices/{}", group_folder, pci), folder);
  files.add_link("/sys/class/iommu/dmar0", "/sys/devices/virtual/iommu/dmar0");
  if (!driver.empty()) {
    files.add_link(folder + "/driver", "/sys/bus/pci/drivers/" + driver);
    files.add_link(fmt::format("/sys/bus/pci/drivers/{}/{}", driver, pci), folder);
  }
}

}  // namespace datum::test
