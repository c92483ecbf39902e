// The configuration space of a card, through the kernel's filter.
#pragma once

#include <cstdint>
#include <optional>

#include "vfio_backend/region_layout.hpp"
#include "vfio_backend/syscalls.hpp"

namespace datum::vfio {

/// Safe from any thread. `device_fd` outlives the object.
class ConfigSpace {
 public:
  ConfigSpace(Syscalls& syscalls, int device_fd, const RegionLayout& layout)
      : syscalls_(syscalls),
        device_fd_(device_fd),
        file_offset_(layout.file_offset),
        size_bytes_(layout.size_bytes) {}

  /// All ones where the kernel cannot read.
  [[nodiscard]] std::uint32_t read32(std::uint32_t offset) noexcept;
  [[nodiscard]] std::uint16_t read16(std::uint32_t offset) noexcept;
  [[nodiscard]] std::uint8_t read8(std::uint32_t offset) noexcept;
  [[nodiscard]] bool write16(std::uint32_t offset, std::uint16_t value) noexcept;

  /// Turns memory accesses on and DMA on or off. False: the kernel or the card did not take it.
  [[nodiscard]] bool set_bus_master(bool on) noexcept;
  /// Whether the card answers. Not the ids are read for it, which the kernel answers from memory, but the
  /// class.
  [[nodiscard]] bool answers() noexcept;
  /// Which BAR has the MSI-X table; none: the card has no MSI-X.
  [[nodiscard]] std::optional<unsigned> message_table_bar() noexcept;

 private:
  template <class Word>
  Word read(std::uint32_t offset) noexcept;

  Syscalls& syscalls_;
  int device_fd_;
  std::uint64_t file_offset_;
  std::uint64_t size_bytes_;
};

}  // namespace datum::vfio
