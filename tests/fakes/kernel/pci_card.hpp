// The card in the slot of the fake machine: what the fake kernel needs of a device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum::test {

/// A BAR as the kernel shows it. Where it may be mapped its bytes are those of `memory_fd`, from offset 0.
struct CardBar {
  struct Area {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  std::uint64_t size_bytes = 0;
  int memory_fd = -1;        ///< -1: not to be mapped
  std::vector<Area> sparse;  ///< empty: all of it may be mapped
};

/// Called by the fake kernel, from whichever thread made the system call.
class PciCard {
 public:
  virtual ~PciCard() = default;

  [[nodiscard]] virtual std::array<CardBar, 6> bars() const = 0;
  [[nodiscard]] virtual unsigned vectors() const = 0;
  virtual void read_bar(unsigned index, std::uint64_t offset, std::span<std::byte> to) = 0;
  virtual void write_bar(unsigned index, std::uint64_t offset, std::span<const std::byte> from) = 0;

  /// The IOMMU lets the card reach `host` at `iova`. False: it cannot be reached that way.
  virtual bool mapped(Iova iova, std::span<std::byte> host, board::DmaAccess access) = 0;
  /// When it returns the card no longer uses the range.
  virtual void unmapped(Iova iova, std::uint64_t bytes) = 0;
  /// From now on `vector` is raised by `fd`, an eventfd; -1: by nothing.
  virtual void connect(unsigned vector, int fd) = 0;
  virtual void set_bus_master(bool on) = 0;
  virtual void reset() = 0;
};

}  // namespace datum::test
