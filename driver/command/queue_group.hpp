// The queue groups that a device offers. driver/api reports these numbers and checks against them.
#pragma once

#include "driver/device/board.hpp"

namespace datum {

/// One group, of queues that copy.
inline constexpr unsigned queue_group_count = 1;
/// Bytes of the largest fill pattern: what a FILL descriptor holds.
inline constexpr unsigned max_fill_pattern_bytes = 16;

/// Queues that have a ring each without waiting for another: all but the driver's own.
[[nodiscard]] inline unsigned queues_in_group(const Board& board) noexcept {
  return board.capabilities().ring_count - 1;
}

}  // namespace datum
