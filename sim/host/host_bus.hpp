// The host's end of PCIe: what the board's reads and writes reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/board/transaction_hash.hpp"
#include "sim/host/interrupts.hpp"
#include "sim/host/iommu.hpp"

namespace datum::sim {

/// Under the board's turn, as the Iommu is.
class HostBus {
 public:
  HostBus(Iommu& iommu, Interrupts& interrupts, TransactionHash& hash) noexcept
      : iommu_(iommu), interrupts_(interrupts), hash_(hash) {}

  /// Transfers until the first byte that is refused, which is recorded as a DMA fault, and returns how many
  /// bytes came through.
  [[nodiscard]] std::uint64_t read(std::uint64_t iova, std::span<std::byte> to, std::uint64_t cycle);
  /// The same; an aligned write of four bytes to the message window is an interrupt whose number is the data.
  [[nodiscard]] std::uint64_t write(std::uint64_t iova, std::span<const std::byte> from, std::uint64_t cycle);

 private:
  void refuse(std::uint64_t iova, std::uint64_t bytes, board::DmaAccess tried, std::uint64_t cycle);

  Iommu& iommu_;
  Interrupts& interrupts_;
  TransactionHash& hash_;
};

}  // namespace datum::sim
