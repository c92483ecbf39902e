#include "vfio_backend/device_reset.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/vfio.h>
#include <vector>

#include <fmt/format.h>

#include "vfio_backend/refusal.hpp"
#include "vfio_backend/uapi/zeroed.hpp"

namespace datum::vfio {

namespace {

Status reset_unsupported(const PciDevice& device, const char* what) {
  return make_error(ErrorCode::unsupported_feature,
                    fmt::format("{} cannot be reset {}", device.description(), what),
                    "the card needs function-level reset in its PCIe capability, or the slot a bus reset");
}

/// "0000:03:00.1, 0000:03:00.2": what a bus reset would take along, other than the device itself.
std::string neighbours(Syscalls& syscalls, const PciDevice& device, int device_fd) {
  constexpr std::size_t most = 256;  // functions of one bus
  std::vector<std::byte> answer(sizeof(vfio_pci_hot_reset_info) + most * sizeof(vfio_pci_dependent_device));
  auto head = uapi::zeroed<vfio_pci_hot_reset_info>();
  head.argsz = static_cast<std::uint32_t>(answer.size());
  std::memcpy(answer.data(), &head, sizeof head);
  if (syscalls.ioctl(device_fd, VFIO_DEVICE_GET_PCI_HOT_RESET_INFO, answer.data()) < 0) {
    return {};
  }
  std::memcpy(&head, answer.data(), sizeof head);
  std::string text;
  for (std::size_t index = 0; index < std::min<std::size_t>(head.count, most); ++index) {
    vfio_pci_dependent_device entry{};
    std::memcpy(&entry, answer.data() + sizeof head + index * sizeof entry, sizeof entry);
    const std::string address = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", entry.segment, entry.bus,
                                            entry.devfn >> 3U, entry.devfn & 7U);
    if (address != device.address) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", address);
    }
  }
  return text;
}

}  // namespace

Status reset_function(Syscalls& syscalls, const PciDevice& device, int device_fd) {
  const int result = syscalls.ioctl(device_fd, VFIO_DEVICE_RESET, nullptr);
  if (result == -EINVAL || result == -ENOTTY) {
    return reset_unsupported(device, "by itself");
  }
  if (result < 0) {
    return call_failed(device, "its reset", -result, ErrorCode::device_lost);
  }
  return {};
}

Status reset_bus(Syscalls& syscalls, const PciDevice& device, int device_fd, std::span<const int> owners) {
  auto head = uapi::zeroed<vfio_pci_hot_reset>();
  head.argsz = static_cast<std::uint32_t>(sizeof head + owners.size_bytes());
  head.count = static_cast<std::uint32_t>(owners.size());
  std::vector<std::byte> request(head.argsz);
  std::memcpy(request.data(), &head, sizeof head);
  std::ranges::copy(std::as_bytes(owners), request.begin() + sizeof head);
  const int result = syscalls.ioctl(device_fd, VFIO_DEVICE_PCI_HOT_RESET, request.data());
  if (result == -ENODEV || result == -ENOTTY) {
    return reset_unsupported(device, "with its bus");
  }
  if (result == -EINVAL || result == -EPERM || result == -EBUSY) {
    const std::string others = neighbours(syscalls, device, device_fd);
    return make_error(
        ErrorCode::not_available,
        fmt::format("{} shares its bus with devices that do not belong to this process{}{}; a reset would "
                    "take them along",
                    device.description(), others.empty() ? "" : ": ", others),
        "reset the function alone");
  }
  if (result < 0) {
    return call_failed(device, "the reset of its bus", -result, ErrorCode::device_lost);
  }
  return {};
}

}  // namespace datum::vfio
