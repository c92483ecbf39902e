// Looking at registers again and again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tools/datum/register_values.hpp"

namespace datum::tool {

struct WatchPlan {
  std::uint64_t interval_ms = 200;
  std::uint64_t rounds = 0;  ///< 0: until a signal ends the program
};

/// Reads `places` in every round and hands what changed since the one before to `tell`, with the milliseconds
/// since the start; in the first round that is all of them. `pause` passes the time between two rounds.
void watch_registers(OpenBoard& board, const std::vector<RegisterPlace>& places, const WatchPlan& plan,
                     const std::function<void(std::uint64_t ms, const RegisterValue&)>& tell,
                     const std::function<void(std::uint64_t ms)>& pause);

}  // namespace datum::tool
