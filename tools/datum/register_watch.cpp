#include "tools/datum/register_watch.hpp"

#include <chrono>

namespace datum::tool {

void watch_registers(OpenBoard& board, const std::vector<RegisterPlace>& places, const WatchPlan& plan,
                     const std::function<void(std::uint64_t ms, const RegisterValue&)>& tell,
                     const std::function<void(std::uint64_t ms)>& pause) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<RegisterValue> before;
  for (std::uint64_t round = 0; plan.rounds == 0 || round < plan.rounds; ++round) {
    if (round != 0) {
      pause(plan.interval_ms);
    }
    std::vector<RegisterValue> values = read_registers(board, places);
    const auto ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (before.empty() || before[i].value != values[i].value) {
        tell(static_cast<std::uint64_t>(ms.count()), values[i]);
      }
    }
    before = std::move(values);
  }
}

}  // namespace datum::tool
