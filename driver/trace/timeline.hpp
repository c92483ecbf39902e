// Events as a timeline in the format of Chrome's trace viewer and of Perfetto.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

#include "driver/trace/event.hpp"
#include "driver/trace/names.hpp"

namespace datum::trace {

/// Tracks: one for each thread of the process; for each board one for each ring, one for what came back, and
/// its counters. Arrows lead from an API call to each of its descriptors and on to where its end was noticed.
/// False: `file` could not be written.
[[nodiscard]] bool write_timeline(std::FILE* file, const std::vector<const Event*>& events,
                                  const Names& names, std::uint64_t lost_events, int process);

}  // namespace datum::trace
