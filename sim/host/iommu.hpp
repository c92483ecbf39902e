// The simulated IOMMU: which host memory the board may reach at which address, by the rules of Linux VFIO.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "sim/host/host_range.hpp"

namespace datum::sim {

/// Interrupt messages go here on PCs; no IOVA.
inline constexpr std::uint64_t message_window_first = 0xfee00000;
inline constexpr std::uint64_t message_window_last = 0xfeefffff;

/// Not thread-safe: whoever advances the board, or changes mappings, holds the board's turn.
class Iommu {
 public:
  struct Limits {
    unsigned address_bits = 39;
    std::uint64_t max_mappings = 0;      ///< 0: none
    std::uint64_t max_locked_bytes = 0;  ///< 0: none
  };

  explicit Iommu(const Limits& limits) noexcept : limits_(limits) {}

  [[nodiscard]] std::vector<board::IovaRange> ranges() const;

  /// Whether [`iova`, `iova` + `bytes`) may be mapped now. Errors as PcieFunction::dma_map.
  [[nodiscard]] Status check(Iova iova, std::uint64_t bytes) const;
  /// `check` must have succeeded for the range since the last change.
  void map(Iova iova, HostRange range, board::DmaAccess access);
  Status unmap(Iova iova, std::uint64_t bytes);
  /// Removes every mapping inside [`first`, `last`] and returns how many there were. invalid_argument, and
  /// nothing is removed: one lies across an end.
  Result<std::uint64_t> unmap_inside(std::uint64_t first, std::uint64_t last);

  [[nodiscard]] std::size_t mappings() const noexcept { return entries_.size(); }

  struct Hit {
    const HostRange* range = nullptr;  ///< nullptr: refused
    std::uint64_t offset = 0;          ///< of the address in the range
    std::uint64_t bytes = 0;           ///< from the address to the end of the range
  };

  [[nodiscard]] Hit lookup(std::uint64_t iova, board::DmaAccess access) const noexcept;

  void record_fault(const board::DmaFault& fault);
  [[nodiscard]] std::vector<board::DmaFault> take_faults() noexcept;

 private:
  struct Entry {
    HostRange range;
    board::DmaAccess access;
  };

  Limits limits_;
  std::map<std::uint64_t, Entry> entries_;  // by first IOVA
  std::uint64_t locked_bytes_ = 0;
  std::vector<board::DmaFault> faults_;
};

}  // namespace datum::sim
