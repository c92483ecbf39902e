// What sysfs says about a PCI device, its driver, its IOMMU group and its IOMMU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "vfio_backend/syscalls.hpp"

namespace datum::vfio {

struct GroupMember {
  std::string address;
  std::string driver;  ///< empty: none
};

/// A look at one moment; nothing in here is kept up to date.
struct PciDevice {
  std::string address;  ///< "0000:03:00.0"
  board::PciAddress pci;
  std::uint16_t vendor_id = 0;
  std::uint16_t device_id = 0;
  std::string driver;                      ///< empty: none
  std::optional<unsigned> group;           ///< none: no IOMMU serves the device
  bool no_iommu = false;                   ///< the group is one that vfio made up because there is no IOMMU
  std::vector<GroupMember> group_members;  ///< itself included, by address
  std::string own_node;                    ///< "vfio3" where the kernel has a node of the device's own
  int numa_node = -1;
  std::array<std::uint64_t, 6> bar_addresses{};  ///< on the bus; 0: the kernel does not say
  board::PciLink link;
  board::PciLink fastest_link;
  unsigned iommu_bits = 0;  ///< width of IOVAs by the IOMMU's own word; 0: it does not say

  /// "0000:03:00.0 (1234:da70)"
  [[nodiscard]] std::string description() const;

  [[nodiscard]] bool iommu_is_on() const noexcept { return group.has_value() && !no_iommu; }

  [[nodiscard]] bool bound() const noexcept { return driver == "vfio-pci"; }

  /// Members whose drivers keep the group from being handed to a user.
  [[nodiscard]] std::vector<GroupMember> obstacles() const;
  [[nodiscard]] std::string group_node() const;   ///< "/dev/vfio/12"
  [[nodiscard]] std::string device_node() const;  ///< "/dev/vfio/devices/vfio3"
};

/// The whole content of a small file, blanks at its end cut off; nothing when it cannot be read.
[[nodiscard]] std::optional<std::string> read_text(Syscalls& syscalls, const std::string& path);

/// not_available: there is no such device.
[[nodiscard]] Result<PciDevice> look_up_device(Syscalls& syscalls, const std::string& pci_address);

/// Addresses of all PCI devices that are bound to vfio-pci, in order.
[[nodiscard]] std::vector<std::string> bound_devices(Syscalls& syscalls);

/// Whether the kernel drives any IOMMU at all.
[[nodiscard]] bool any_iommu(Syscalls& syscalls);

}  // namespace datum::vfio
