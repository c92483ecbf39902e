// The queue groups that a device offers. driver/api reports these numbers and checks against them;
// Device::queue_count says how many queues a group has.
#pragma once

#include "driver/object/attitude.hpp"

namespace datum {

/// One group, of queues that copy. Middleware for GPUs looks for a first group that computes, which here
/// copies too, and then for one that only copies.
[[nodiscard]] constexpr unsigned queue_group_count(Attitude attitude) noexcept {
  return attitude == Attitude::gpu ? 2 : 1;
}

/// Bytes of the largest fill pattern: what a FILL descriptor holds.
inline constexpr unsigned max_fill_pattern_bytes = 16;

}  // namespace datum
