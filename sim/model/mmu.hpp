// Address translation of the golden model: page walks and a TLB that, like the RTL's, keeps what was valid
// until it is told to forget.
#pragma once

#include <array>
#include <cstdint>

#include <datum/base/zeroed_array.hpp>
#include <datum/hw/registers.hpp>

#include "sim/model/counters.hpp"
#include "sim/model/memory_port.hpp"
#include "sim/model/physical.hpp"

namespace datum::sim {

class Mmu {
 public:
  static constexpr unsigned spaces = hw::space_block_count;

  struct Translation {
    hw::FaultReason reason = hw::FaultReason::none;  ///< none: allowed
    Physical at;
    std::uint64_t bytes = 0;  ///< that follow `at` in one piece
  };

  Mmu(MemoryPort& memory, Counters& counters) noexcept : memory_(memory), counters_(counters) {}

  [[nodiscard]] std::uint64_t root(unsigned space) const noexcept { return roots_[space]; }

  void set_root(unsigned space, std::uint64_t value) noexcept { roots_[space] = value; }

  /// One run of physically contiguous bytes from `va` on, at most `max_bytes` (at least 1). `va` is
  /// canonical. A page that is refused ends the run; it is the answer only if it is the first.
  [[nodiscard]] Translation translate(unsigned space, std::uint64_t va, std::uint64_t max_bytes, bool write);

  /// `bytes` 0: the whole space.
  void invalidate(unsigned space, std::uint64_t va, std::uint64_t bytes) noexcept;
  void invalidate_all() noexcept;
  void reset() noexcept;

 private:
  struct Page {
    Physical base;  // of the 4 KiB page
    hw::FaultReason reason = hw::FaultReason::none;
    bool writable = false;
  };

  struct TlbEntry {
    std::uint64_t life = 0;  // of the TLB in which it was filled; another one: empty
    std::uint16_t space = 0;
    std::uint64_t page = 0;  // virtual, in units of 4 KiB
    Page target;
  };

  /// Two ways: source and target of a copy often have the same low address bits, and would else push each
  /// other out at every page.
  struct TlbSet {
    std::array<TlbEntry, 2> ways{};
    std::uint8_t oldest = 0;
  };

  static constexpr std::size_t tlb_sets = 512;

  [[nodiscard]] Page translate_page(unsigned space, std::uint64_t page);
  [[nodiscard]] Page walk(unsigned space, std::uint64_t page);

  MemoryPort& memory_;
  Counters& counters_;
  std::array<std::uint64_t, spaces> roots_{};
  ZeroedArray<TlbSet> tlb_{tlb_sets};
  std::uint64_t tlb_life_ = 1;  // each one ends with everything forgotten
};

}  // namespace datum::sim
