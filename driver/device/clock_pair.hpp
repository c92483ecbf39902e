// One moment in the host's clock and in the board's.
#pragma once

#include <cstdint>

namespace datum {

class Board;

struct ClockPair {
  std::uint64_t host_ns = 0;      ///< CLOCK_MONOTONIC
  std::uint64_t board_ticks = 0;  ///< TIMER
  std::uint64_t ticks_per_s = 1;  ///< of TIMER

  /// When in host time TIMER was, or will be, `ticks`. Right to the precision of the pair where both clocks
  /// run at their nominal rates (cards and free-running simulations); the clock of a board that is
  /// stepped has stood still in between. Differences wrap like the 64 bits of TIMER do.
  [[nodiscard]] std::uint64_t host_time_of(std::uint64_t ticks) const noexcept;
};

/// The closest of a few tries: TIMER lies between two readings of the host's clock, of which the middle is
/// taken. A dead board answers all ones.
[[nodiscard]] ClockPair read_clock_pair(Board& board) noexcept;

}  // namespace datum
