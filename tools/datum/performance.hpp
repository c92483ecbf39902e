// The board's counters as rates.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/datum/open_board.hpp"

namespace datum::tool {

/// Counters of one moment. They run from the board's reset and wrap at 64 bits.
struct PerformanceCounters {
  std::uint64_t cycles = 0;
  std::uint64_t timer = 0;
  std::uint64_t host_read_beats = 0;
  std::uint64_t host_write_beats = 0;
  std::uint64_t dram_reads = 0;
  std::uint64_t dram_writes = 0;
  std::uint64_t dram_activates = 0;
  std::uint64_t dram_refreshes = 0;
  std::uint64_t tlb_hits = 0;
  std::uint64_t walks = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t busy_ticks = 0;  ///< of the timer
  std::uint64_t stalled_cycles = 0;
};

/// device_lost: the board does not answer.
[[nodiscard]] Result<PerformanceCounters> read_counters(OpenBoard& board);

/// What grew from `before` to `after`.
[[nodiscard]] PerformanceCounters growth(const PerformanceCounters& before,
                                         const PerformanceCounters& after) noexcept;

struct PerformanceRates {
  double seconds = 0;  ///< of the board's timebase
  double host_read_bytes_per_s = 0;
  double host_write_bytes_per_s = 0;
  double dram_read_bytes_per_s = 0;
  double dram_write_bytes_per_s = 0;
  double descriptors_per_s = 0;
  double busy_share = 0;               ///< of the time, in which some channel executed a descriptor
  double stalled_share = 0;            ///< of the cycles, in which it did and no data moved
  std::optional<double> row_hit_rate;  ///< column commands to a row that was open; empty: there was none
  std::optional<double> tlb_hit_rate;  ///< empty: nothing was translated
};

/// `timer_hz` is the board's TIMER_HZ.
[[nodiscard]] PerformanceRates rates_of(const PerformanceCounters& grown, std::uint64_t timer_hz) noexcept;

}  // namespace datum::tool
