// The queue groups that a device offers. driver/api reports these numbers and checks against them;
// Device::queue_count says how many queues a group has.
#pragma once

namespace datum {

/// One group, of queues that copy.
inline constexpr unsigned queue_group_count = 1;
/// Bytes of the largest fill pattern: what a FILL descriptor holds.
inline constexpr unsigned max_fill_pattern_bytes = 16;

}  // namespace datum
