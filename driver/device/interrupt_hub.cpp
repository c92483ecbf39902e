#include "driver/device/interrupt_hub.hpp"

#include <algorithm>
#include <chrono>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"

namespace datum {

namespace {

Error timed_out() {
  return make_error(ErrorCode::not_ready, "the time-out passed before the work had ended");
}

std::chrono::steady_clock::time_point steady_point(std::uint64_t host_ns) {
  // libstdc++'s steady clock is CLOCK_MONOTONIC, the clock of host_now_ns.
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(static_cast<std::int64_t>(host_ns)));
}

}  // namespace

InterruptHub::InterruptHub(board::PcieFunction& function, HealthCheck health)
    : function_(function), health_(std::move(health)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Status InterruptHub::wait(const std::function<bool()>& ready, std::uint64_t timeout_ns) {
  if (ready()) {
    return {};
  }
  const std::uint64_t start_ns = host_now_ns();
  const std::uint64_t deadline_ns = saturating_add(start_ns, timeout_ns);
  const std::uint64_t spin_until_ns = std::min(deadline_ns, start_ns + limits::spin_ns);
  do {
    relax_boards();
    if (ready()) {
      return {};
    }
  } while (host_now_ns() < spin_until_ns);

  std::unique_lock lock(mutex_);
  while (true) {
    const std::uint64_t seen = generation_;
    lock.unlock();
    if (ready()) {
      return {};
    }
    if (host_now_ns() >= deadline_ns) {
      return timed_out();
    }
    lock.lock();
    if (generation_ != seen) {
      continue;
    }
    if (leader_active_) {
      const std::uint64_t until_ns =
          std::min(deadline_ns, saturating_add(host_now_ns(), limits::health_check_ns));
      changed_.wait_until(lock, steady_point(until_ns),
                          [&] { return generation_ != seen || !leader_active_; });
      continue;
    }
    leader_active_ = true;
    lock.unlock();
    Status led = lead(deadline_ns);
    lock.lock();
    leader_active_ = false;
    ++generation_;
    changed_.notify_all();
    if (!led) {
      lock.unlock();
      // What was finished before the board went is finished all the same.
      return ready() ? Status{} : led;
    }
  }
}

/// Returns when something may have changed, when the deadline has passed, or when it is time for everybody to
/// look again.
Status InterruptHub::lead(std::uint64_t deadline_host_ns) {
  const std::uint64_t begun_ns = host_now_ns();
  const std::uint64_t until_ns = std::min(deadline_host_ns, begun_ns + limits::health_check_ns);
  std::uint64_t pause_ns = limits::quiescent_recheck_min_ns;
  for (std::uint64_t now_ns = begun_ns; now_ns < until_ns; now_ns = host_now_ns()) {
    const std::uint64_t board_ns = function_.clock().now_ns;
    const std::uint64_t apart_ns = board_ns > now_ns ? board_ns - now_ns : now_ns - board_ns;
    const std::uint64_t left_ns = until_ns - now_ns;
    for (board::PcieFunction* neighbour : neighbours_) {
      neighbour->relax();
    }
    // Without a descriptor nobody can wake this thread; it looks by itself.
    const std::uint64_t nap_ns = wake_.valid() ? left_ns : std::min(left_ns, limits::foreign_word_poll_ns);
    const std::uint64_t slice_ns = apart_ns < limits::same_clock_ns && neighbours_.empty()
                                       ? nap_ns
                                       : std::min(left_ns, limits::board_slice_ns);
    Result<board::WaitOutcome> outcome =
        function_.wait(board::any_vector, wake_.get(), saturating_add(board_ns, slice_ns));
    if (!outcome) {
      // The board's own record of its health comes first: from here on everybody knows.
      Status health = check_health();
      return health ? Status(std::move(outcome).error()) : health;
    }
    switch (*outcome) {
    case board::WaitOutcome::interrupt:
      return {};
    case board::WaitOutcome::woken:
      drain_wake();
      return {};
    case board::WaitOutcome::deadline:
      if (!wake_.valid()) {
        return {};
      }
      break;
    case board::WaitOutcome::quiescent: {
      if (!neighbours_.empty()) {
        break;  // asleep, nobody would advance them
      }
      bool woken = false;
      Status slept = sleep_while_quiescent(until_ns, pause_ns, woken);
      if (!slept || woken) {
        return slept;
      }
      break;
    }
    }
  }
  return deadline_host_ns <= until_ns ? Status{} : check_health();
}

Status InterruptHub::sleep_while_quiescent(std::uint64_t until_host_ns, std::uint64_t& pause_ns,
                                           bool& woken) {
  leader_asleep_.store(true);
  const std::uint64_t now_ns = host_now_ns();
  const std::uint64_t left_ns = until_host_ns > now_ns ? until_host_ns - now_ns : 0;
  const std::uint64_t nap_ns = std::min(left_ns, pause_ns);
  pollfd waited{wake_.get(), POLLIN, 0};
  const timespec nap{static_cast<time_t>(nap_ns / limits::ns_per_s),
                     static_cast<long>(nap_ns % limits::ns_per_s)};
  const int count = ::ppoll(&waited, 1, &nap, nullptr);
  leader_asleep_.store(false);
  pause_ns = std::min(pause_ns * 2, limits::quiescent_recheck_max_ns);
  woken = count > 0;
  if (woken) {
    drain_wake();
  }
  return {};
}

void InterruptHub::relax_boards() noexcept {
  function_.relax();
  for (board::PcieFunction* neighbour : neighbours_) {
    neighbour->relax();
  }
}

void InterruptHub::drain_wake() {
  std::uint64_t count = 0;
  // Non-blocking: nothing to read is as good as read.
  [[maybe_unused]] const ssize_t bytes = ::read(wake_.get(), &count, sizeof count);
}

Status InterruptHub::check_health() { return health_ ? health_() : function_.health(); }

void InterruptHub::notify() {
  bool wake_leader = false;
  {
    const std::lock_guard lock(mutex_);
    ++generation_;
    wake_leader = leader_active_;
  }
  changed_.notify_all();
  if (wake_leader) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t bytes = ::write(wake_.get(), &one, sizeof one);
  }
}

void InterruptHub::board_has_work() {
  if (leader_asleep_.load()) {
    notify();
  }
}

}  // namespace datum
