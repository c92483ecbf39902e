// Whether a board's time passes with the host's.
#pragma once

#include <cstdint>

#include <datum/board/pcie_function.hpp>

#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"

namespace datum {

/// The clock of `function` is not the host's: its time passes only while somebody calls it. To be asked once,
/// soon after the board was opened, so that the answer does not depend on how far two clocks have come since.
[[nodiscard]] inline bool keeps_own_time(board::PcieFunction& function) noexcept {
  const std::uint64_t board_ns = function.clock().now_ns;
  const std::uint64_t host_ns = host_now_ns();
  return (board_ns > host_ns ? board_ns - host_ns : host_ns - board_ns) >= limits::same_clock_ns;
}

}  // namespace datum
