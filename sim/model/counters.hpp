// What the golden model counts: the performance registers, and cycles, which are an estimate of what the RTL
// would need.
#pragma once

#include <cstdint>

namespace datum::sim {

struct Counters {
  std::uint64_t cycle = 0;  ///< since the board was opened
  std::uint64_t reset_cycle = 0;
  std::uint64_t host_read_beats = 0;
  std::uint64_t host_write_beats = 0;
  std::uint64_t dram_reads = 0;
  std::uint64_t dram_writes = 0;
  std::uint64_t tlb_hits = 0;
  std::uint64_t walks = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t stalled_cycles = 0;

  static constexpr std::uint64_t beat_bytes = 64;

  [[nodiscard]] static constexpr std::uint64_t beats(std::uint64_t bytes) noexcept {
    return (bytes + beat_bytes - 1) / beat_bytes;
  }

  void reset() noexcept {
    const auto now = cycle;
    *this = Counters{};
    cycle = now;
    reset_cycle = now;
  }
};

}  // namespace datum::sim
