// Waiting for a register to change, with a bound.
#pragma once

#include <cstdint>

#include <datum/board/pcie_function.hpp>

#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"

namespace datum {

/// Calls `done` until it is true or `bound_ns` (of a card; scaled here) of board time have passed; false: it
/// did not become true. Board time that stands still ends the wait by the host's clock.
template <class Condition>
[[nodiscard]] bool wait_for_register(board::PcieFunction& function, std::uint64_t bound_ns,
                                     Condition&& done) {
  const board::Clock start = function.clock();
  const std::uint64_t deadline_ns = saturating_add(start.now_ns, limits::scaled(bound_ns, start));
  const std::uint64_t host_deadline_ns =
      saturating_add(host_now_ns(), limits::scaled(limits::register_wait_host_ns, start));
  while (!done()) {
    if (function.clock().now_ns >= deadline_ns || host_now_ns() >= host_deadline_ns) {
      return done();
    }
    function.relax();
  }
  return true;
}

}  // namespace datum
