// How much of one wait has passed.
#pragma once

#include <algorithm>
#include <cstdint>

#include <datum/board/pcie_function.hpp>

#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"

namespace datum {

/// Counts by the seam's clock, so that how often a board is asked does not depend on how fast the host runs
/// it. While a board that keeps its own time has nothing to do, the pauses that are made count instead, by
/// the length that they were meant to have. Not thread safe.
class WaitTime {
 public:
  /// `own_time` is keeps_own_time(function); `timeout_ns` ~0: no limit.
  WaitTime(board::PcieFunction& function, bool own_time, std::uint64_t timeout_ns) noexcept
      : function_(function), own_time_(own_time), timeout_ns_(timeout_ns) {
    const board::Clock now = function.clock();
    start_ns_ = now.now_ns;
    if (own_time) {
      host_deadline_ns_ = saturating_add(host_now_ns(), timeout_ns);
      latest_host_ns_ = saturating_add(host_deadline_ns_, limits::scaled(limits::late_timeout_host_ns, now));
    }
  }

  [[nodiscard]] std::uint64_t passed_ns() const noexcept {
    return function_.clock().now_ns - start_ns_ + paused_ns_;
  }

  /// Of the time-out; ~0: no limit.
  [[nodiscard]] std::uint64_t left_ns() const noexcept {
    const std::uint64_t passed = passed_ns();
    return timeout_ns_ == ~0ULL ? ~0ULL : timeout_ns_ - std::min(timeout_ns_, passed);
  }

  /// The application's time-out is never cut short: where the board's time runs ahead of the host's, the
  /// board is left alone for the rest.
  [[nodiscard]] std::uint64_t host_left_ns() const noexcept {
    const std::uint64_t now_ns = own_time_ ? host_now_ns() : 0;
    return host_deadline_ns_ > now_ns ? host_deadline_ns_ - now_ns : 0;
  }

  /// The time-out has passed, or cannot be waited for any longer because the board's time hardly moves.
  [[nodiscard]] bool over() const noexcept {
    return left_ns() == 0 ? host_left_ns() == 0 : own_time_ && host_now_ns() >= latest_host_ns_;
  }

  /// A pause was made in which the board's own time stood still.
  void add_pause(std::uint64_t ns) noexcept { paused_ns_ += own_time_ ? ns : 0; }

  /// True once in every `interval_ns`.
  [[nodiscard]] bool check_is_due(std::uint64_t interval_ns) noexcept {
    const std::uint64_t passed = passed_ns();
    if (passed - last_check_ns_ < interval_ns) {
      return false;
    }
    last_check_ns_ = passed;
    return true;
  }

  /// How long a quiescent board is left alone: longer each time.
  std::uint64_t next_pause_ns() noexcept {
    const std::uint64_t pause_ns = pause_ns_;
    pause_ns_ = std::min(pause_ns_ * 2, limits::quiescent_recheck_max_ns);
    return pause_ns;
  }

 private:
  board::PcieFunction& function_;
  bool own_time_;
  std::uint64_t timeout_ns_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t host_deadline_ns_ = 0;
  std::uint64_t latest_host_ns_ = ~0ULL;
  std::uint64_t paused_ns_ = 0;
  std::uint64_t last_check_ns_ = 0;
  std::uint64_t pause_ns_ = limits::quiescent_recheck_min_ns;
};

}  // namespace datum
