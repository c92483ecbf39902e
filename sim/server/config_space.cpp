#include "sim/server/config_space.hpp"

#include <algorithm>
#include <cstring>
#include <linux/pci_regs.h>

namespace datum::sim {

namespace {

constexpr std::uint32_t accelerator_class = 0x120000;  // processing accelerator
constexpr std::uint32_t power_offset = 0x40;
constexpr std::uint32_t msix_offset = 0x50;
constexpr std::uint32_t express_offset = 0x60;
constexpr std::uint32_t table_bar = 4;
constexpr std::uint32_t pending_offset = 0x1000;  // half of BAR4

constexpr std::uint32_t memory_64 = PCI_BASE_ADDRESS_MEM_TYPE_64;
constexpr std::uint32_t memory_64_prefetch = PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH;

constexpr std::uint16_t command_bits = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
                                       PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE;

}  // namespace

ConfigSpace::ConfigSpace(const board::FunctionInfo& info) {
  put(PCI_VENDOR_ID, info.vendor_id, 2, 0);
  put(PCI_DEVICE_ID, info.device_id, 2, 0);
  put(PCI_COMMAND, 0, 2, command_bits);
  put(PCI_STATUS, PCI_STATUS_CAP_LIST, 2, 0);
  put(PCI_CLASS_REVISION, std::uint64_t{accelerator_class} << 8U, 4, 0);
  put(PCI_CACHE_LINE_SIZE, 0, 1, 0xff);
  put(PCI_SUBSYSTEM_VENDOR_ID, info.vendor_id, 2, 0);
  put(PCI_SUBSYSTEM_ID, info.device_id, 2, 0);
  put(PCI_INTERRUPT_LINE, 0, 1, 0xff);
  put_bar(0, info.bars[0].size_bytes, memory_64);
  put_bar(2, info.bars[2].size_bytes, memory_64_prefetch);
  put_bar(4, info.bars[4].size_bytes, memory_64);
  put_capabilities(info.vectors);
}

void ConfigSpace::put(std::uint32_t offset, std::uint64_t value, std::size_t bytes,
                      std::uint64_t writable) noexcept {
  std::memcpy(bytes_.data() + offset, &value, bytes);
  std::memcpy(writable_.data() + offset, &writable, bytes);
}

void ConfigSpace::put_bar(unsigned index, std::uint64_t bar_bytes, std::uint32_t kind) noexcept {
  if (bar_bytes != 0) {
    put(PCI_BASE_ADDRESS_0 + 4 * index, kind, 8, ~(bar_bytes - 1));
  }
}

void ConfigSpace::put_capabilities(unsigned vectors) noexcept {
  put(PCI_CAPABILITY_LIST, power_offset, 1, 0);
  put(power_offset, PCI_CAP_ID_PM | (msix_offset << 8U), 2, 0);
  put(power_offset + PCI_PM_PMC, 3, 2, 0);
  put(power_offset + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET, 2, PCI_PM_CTRL_STATE_MASK);

  put(msix_offset, PCI_CAP_ID_MSIX | (express_offset << 8U), 2, 0);
  put(msix_offset + PCI_MSIX_FLAGS, vectors - 1, 2, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
  put(msix_offset + PCI_MSIX_TABLE, table_bar, 4, 0);
  put(msix_offset + PCI_MSIX_PBA, pending_offset | table_bar, 4, 0);

  constexpr std::uint32_t width_16 = 16U << 4U;
  constexpr std::uint32_t speed_8 = 3;  // 8 GT/s
  put(express_offset, PCI_CAP_ID_EXP, 2, 0);
  put(express_offset + PCI_EXP_FLAGS, 2, 2, 0);  // version 2, an endpoint
  put(express_offset + PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_FLR | PCI_EXP_DEVCAP_RBER, 4, 0);
  put(express_offset + PCI_EXP_DEVCTL, 0, 2, 0x7fff);
  put(express_offset + PCI_EXP_LNKCAP, speed_8 | width_16, 4, 0);
  put(express_offset + PCI_EXP_LNKCTL, 0, 2, PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_CCC);
  put(express_offset + PCI_EXP_LNKSTA, speed_8 | width_16, 2, 0);
}

void ConfigSpace::read(std::uint32_t offset, std::span<std::byte> to) const noexcept {
  std::copy_n(bytes_.begin() + offset, to.size(), to.begin());
}

bool ConfigSpace::bus_master() const noexcept {
  return (std::to_integer<unsigned>(bytes_[PCI_COMMAND]) & PCI_COMMAND_MASTER) != 0;
}

ConfigSpace::Effect ConfigSpace::write(std::uint32_t offset, std::span<const std::byte> from) noexcept {
  const bool was_master = bus_master();
  Effect effect;
  for (std::size_t index = 0; index < from.size(); ++index) {
    const auto at = offset + index;
    bytes_[at] = (bytes_[at] & ~writable_[at]) | (from[index] & writable_[at]);
    constexpr auto reset_byte = express_offset + PCI_EXP_DEVCTL + 1;
    constexpr unsigned reset_bit = PCI_EXP_DEVCTL_BCR_FLR >> 8U;
    effect.function_reset = effect.function_reset ||
                            (at == reset_byte && (std::to_integer<unsigned>(from[index]) & reset_bit) != 0);
  }
  effect.bus_master_changed = bus_master() != was_master;
  return effect;
}

void ConfigSpace::reset() noexcept {
  constexpr std::size_t bars_end = PCI_BASE_ADDRESS_0 + 24;
  for (std::size_t at = 0; at < size_bytes; ++at) {
    if (at < PCI_BASE_ADDRESS_0 || at >= bars_end) {
      bytes_[at] &= ~writable_[at];
    }
  }
}

}  // namespace datum::sim
