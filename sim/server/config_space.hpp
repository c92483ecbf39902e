// The configuration space of a served board: what a PCIe endpoint of this design would show.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <datum/board/pcie_function.hpp>

namespace datum::sim {

/// Not thread-safe.
class ConfigSpace {
 public:
  static constexpr std::size_t size_bytes = 4096;

  explicit ConfigSpace(const board::FunctionInfo& info);

  /// `offset` + the size <= size_bytes. Any size, as one access.
  void read(std::uint32_t offset, std::span<std::byte> to) const noexcept;

  /// What a write asks for, beyond what is kept.
  struct Effect {
    bool bus_master_changed = false;
    bool function_reset = false;
  };

  [[nodiscard]] Effect write(std::uint32_t offset, std::span<const std::byte> from) noexcept;

  /// As after power-on. BARs keep their addresses: a host restores them, and nothing here depends on them.
  void reset() noexcept;

  [[nodiscard]] bool bus_master() const noexcept;

 private:
  void put(std::uint32_t offset, std::uint64_t value, std::size_t bytes, std::uint64_t writable) noexcept;
  void put_bar(unsigned index, std::uint64_t bar_bytes, std::uint32_t kind) noexcept;
  void put_capabilities(unsigned vectors) noexcept;

  std::array<std::byte, size_bytes> bytes_{};
  std::array<std::byte, size_bytes> writable_{};
};

}  // namespace datum::sim
