// TIMER: nanoseconds as the board counts them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace datum::sim {

/// Host monotonic time, or, step-locked, time made of cycles (a 300 MHz clock) and of what was skipped while
/// the clock stood still.
class Timebase {
 public:
  explicit Timebase(bool step_locked) noexcept : step_locked_(step_locked) {}

  [[nodiscard]] bool step_locked() const noexcept { return step_locked_; }

  /// `cycle` counts all cycles of the board's life, resets included, so that time never goes back.
  [[nodiscard]] std::uint64_t now_ns(std::uint64_t cycle) const noexcept {
    return step_locked_ ? cycle * 10 / 3 + skipped_ns_ : host_now_ns();
  }

  void skip(std::uint64_t ns) noexcept { skipped_ns_ += ns; }

  [[nodiscard]] static std::uint64_t host_now_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL +
           static_cast<std::uint64_t>(now.tv_nsec);
  }

 private:
  bool step_locked_;
  std::uint64_t skipped_ns_ = 0;
};

}  // namespace datum::sim
