#include "vfio_backend/config_space.hpp"

#include <linux/pci_regs.h>

namespace datum::vfio {

template <class Word>
Word ConfigSpace::read(std::uint32_t offset) noexcept {
  auto value = static_cast<Word>(~Word{0});
  if (offset + sizeof value > size_bytes_) {
    return value;
  }
  Word got{};
  const ssize_t bytes = syscalls_.pread(device_fd_, &got, sizeof got, file_offset_ + offset);
  return bytes == static_cast<ssize_t>(sizeof got) ? got : value;
}

std::uint32_t ConfigSpace::read32(std::uint32_t offset) noexcept { return read<std::uint32_t>(offset); }

std::uint16_t ConfigSpace::read16(std::uint32_t offset) noexcept { return read<std::uint16_t>(offset); }

std::uint8_t ConfigSpace::read8(std::uint32_t offset) noexcept { return read<std::uint8_t>(offset); }

bool ConfigSpace::write16(std::uint32_t offset, std::uint16_t value) noexcept {
  return offset + sizeof value <= size_bytes_ &&
         syscalls_.pwrite(device_fd_, &value, sizeof value, file_offset_ + offset) ==
             static_cast<ssize_t>(sizeof value);
}

bool ConfigSpace::set_bus_master(bool on) noexcept {
  const unsigned old = read16(PCI_COMMAND);
  const unsigned others = old & ~static_cast<unsigned>(PCI_COMMAND_MASTER);
  const auto wanted =
      static_cast<std::uint16_t>(others | PCI_COMMAND_MEMORY | (on ? PCI_COMMAND_MASTER : 0U));
  if (old == 0xffff || !write16(PCI_COMMAND, wanted)) {
    return false;
  }
  return (read16(PCI_COMMAND) & PCI_COMMAND_MASTER) == (on ? PCI_COMMAND_MASTER : 0);
}

bool ConfigSpace::answers() noexcept { return read32(PCI_CLASS_REVISION) != ~0U; }

std::optional<unsigned> ConfigSpace::message_table_bar() noexcept {
  if ((read16(PCI_STATUS) & PCI_STATUS_CAP_LIST) == 0) {
    return std::nullopt;
  }
  constexpr unsigned most_capabilities = 48;  // as many as fit; a broken card may link them in a circle
  unsigned at = read8(PCI_CAPABILITY_LIST) & 0xfcU;
  for (unsigned seen = 0; at >= PCI_STD_HEADER_SIZEOF && seen < most_capabilities; ++seen) {
    if (read8(at) == PCI_CAP_ID_MSIX) {
      return read32(at + PCI_MSIX_TABLE) & PCI_MSIX_TABLE_BIR;
    }
    at = read8(at + PCI_CAP_LIST_NEXT) & 0xfcU;
  }
  return std::nullopt;
}

}  // namespace datum::vfio
