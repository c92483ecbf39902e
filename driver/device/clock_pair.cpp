#include "driver/device/clock_pair.hpp"

#include <cmath>

#include "driver/device/board.hpp"
#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"

namespace datum {

namespace {

constexpr unsigned tries = 3;

}  // namespace

std::uint64_t ClockPair::host_time_of(std::uint64_t ticks) const noexcept {
  const auto since = static_cast<std::int64_t>(ticks - board_ticks);
  const std::uint64_t apart = since < 0 ? board_ticks - ticks : ticks - board_ticks;
  // Whole seconds first, so that no product leaves 64 bits.
  const double rest_ns = static_cast<double>(apart % ticks_per_s) * static_cast<double>(limits::ns_per_s) /
                         static_cast<double>(ticks_per_s);
  const std::uint64_t apart_ns =
      apart / ticks_per_s * limits::ns_per_s + static_cast<std::uint64_t>(std::llround(rest_ns));
  return since < 0 ? host_ns - apart_ns : host_ns + apart_ns;
}

ClockPair read_clock_pair(Board& board) noexcept {
  ClockPair closest;
  closest.ticks_per_s = board.capabilities().timer_hz;
  std::uint64_t closest_gap_ns = ~0ULL;
  for (unsigned attempt = 0; attempt < tries; ++attempt) {
    const std::uint64_t before_ns = host_now_ns();
    const std::uint64_t ticks = board.read_timer();
    const std::uint64_t gap_ns = host_now_ns() - before_ns;
    if (gap_ns < closest_gap_ns) {
      closest_gap_ns = gap_ns;
      closest.host_ns = before_ns + gap_ns / 2;
      closest.board_ticks = ticks;
    }
  }
  return closest;
}

}  // namespace datum
