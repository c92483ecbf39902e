// The MSI-X table of the golden model: 16 bytes an entry at 0, pending bits at half of BAR4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <datum/hw/registers.hpp>

#include "sim/host/host_bus.hpp"
#include "sim/model/counters.hpp"

namespace datum::sim {

class MessageTable {
 public:
  static constexpr unsigned vectors = hw::ring_page_block_count + 2;
  static constexpr std::uint32_t bar_bytes = 0x2000;
  static constexpr std::uint32_t pending_offset = bar_bytes / 2;

  MessageTable(HostBus& host, const Counters& counters) noexcept : host_(host), counters_(counters) {}

  void write32(std::uint32_t offset, std::uint32_t value);
  [[nodiscard]] std::uint32_t read32(std::uint32_t offset) const noexcept;

  /// Sends the message of a vector, or keeps it pending while the vector is masked.
  void raise(unsigned vector);
  void power_on() noexcept;

 private:
  struct Entry {
    std::array<std::uint32_t, 4> words{0, 0, 0, 1};  // address low and high, data, control: bit 0 masks
    bool pending = false;
  };

  static constexpr std::uint32_t entry_bytes = 16;

  void send(const Entry& entry);

  HostBus& host_;
  const Counters& counters_;
  std::array<Entry, vectors> entries_{};
};

}  // namespace datum::sim
