#include "driver/device/interrupt_hub.hpp"

#include <algorithm>
#include <chrono>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <datum/base/mutex.hpp>
#include <datum/base/private_fd.hpp>

#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"
#include "driver/device/own_time.hpp"
#include "driver/device/wait_time.hpp"

namespace datum {

namespace {

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

Error timed_out() {
  return make_error(ErrorCode::not_ready, "the time-out passed before the work had ended");
}

std::chrono::steady_clock::time_point steady_point(std::uint64_t host_ns) {
  // libstdc++'s steady clock is CLOCK_MONOTONIC, the clock of host_now_ns.
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(static_cast<std::int64_t>(host_ns)));
}

}  // namespace

InterruptHub::InterruptHub(board::PcieFunction& function, HealthCheck health)
    : function_(function),
      own_time_(keeps_own_time(function)),
      health_(std::move(health)),
      wake_(private_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {}

std::uint64_t InterruptHub::check_interval_ns() const noexcept {
  return own_time_ ? limits::own_time_check_ns : limits::health_check_ns;
}

Status InterruptHub::wait(const std::function<bool()>& ready, std::uint64_t timeout_ns,
                          std::uint64_t look_ns) {
  if (ready()) {
    return {};
  }
  WaitTime time(function_, own_time_, timeout_ns);
  if (becomes_ready_soon(ready, time, timeout_ns)) {
    return {};
  }
  UniqueLock lock(mutex_);
  while (true) {
    const std::uint64_t seen = generation_;
    lock.unlock();
    if (ready()) {
      return {};
    }
    if (time.over()) {
      return timed_out();
    }
    const bool may_lead = time.left_ns() != 0;
    lock.lock();
    if (generation_ != seen) {
      continue;
    }
    if (leader_active_ || !may_lead) {
      follow(time, look_ns);
      continue;
    }
    leader_active_ = true;
    lock.unlock();
    Status led = lead(time, look_ns);
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

bool InterruptHub::becomes_ready_soon(const std::function<bool()>& ready, const WaitTime& time,
                                      std::uint64_t timeout_ns) {
  const std::uint64_t until_ns = std::min(timeout_ns, limits::spin_ns);
  for (unsigned turn = 0; turn < limits::spin_turns; ++turn) {
    relax_boards();
    if (ready()) {
      return true;
    }
    if (time.passed_ns() >= until_ns) {
      return false;
    }
  }
  return false;
}

/// Sleeps until something may have changed or it is time to look, with the lock held before and after.
void InterruptHub::follow(WaitTime& time, std::uint64_t look_ns) {
  const std::uint64_t seen = generation_;
  const bool led = leader_active_;
  const std::uint64_t begun_ns = host_now_ns();
  const std::uint64_t left_ns = led ? time.left_ns() : time.host_left_ns();
  const auto until =
      steady_point(saturating_add(begun_ns, std::min({left_ns, look_ns, limits::health_check_ns})));
  while (generation_ == seen && leader_active_ == led && changed_.wait_until(mutex_, until)) {
  }
  time.add_pause(host_now_ns() - begun_ns);
}

/// Returns when something may have changed, when the time-out has passed, or when it is time for everybody to
/// look again.
Status InterruptHub::lead(WaitTime& time, std::uint64_t look_ns) {
  const std::uint64_t begun_ns = time.passed_ns();
  // Without a descriptor nobody can wake this thread; it looks by itself.
  const std::uint64_t asleep_ns = wake_.valid() ? no_limit : limits::foreign_word_poll_ns;
  const std::uint64_t most_ns = std::min({time.left_ns(), check_interval_ns(), look_ns, asleep_ns});
  for (unsigned turn = 0; turn < limits::turns_between_checks; ++turn) {
    const std::uint64_t board_ns = function_.clock().now_ns;
    const std::uint64_t passed_ns = time.passed_ns() - begun_ns;
    if (passed_ns >= most_ns) {
      break;
    }
    for (board::PcieFunction* neighbour : neighbours_) {
      neighbour->relax();
    }
    const std::uint64_t slice_ns =
        std::min(most_ns - passed_ns, neighbours_.empty() ? no_limit : limits::board_slice_ns);
    Result<board::WaitOutcome> outcome =
        function_.wait(board::any_vector, wake_.get(), saturating_add(board_ns, slice_ns));
    if (!outcome) {
      // The board's own record of its health comes first: from here on everybody knows.
      Status health = check_health();
      return health ? Status(std::move(outcome).error()) : health;
    }
    if (*outcome == board::WaitOutcome::interrupt) {
      return {};
    }
    if (*outcome == board::WaitOutcome::woken) {
      drain_wake();
      return {};
    }
    // With neighbours there is no pause, as nobody would advance them meanwhile.
    if (*outcome == board::WaitOutcome::quiescent && neighbours_.empty() &&
        pause_while_quiescent(time, std::min(time.left_ns(), look_ns))) {
      return {};
    }
  }
  return time.check_is_due(check_interval_ns()) ? check_health() : Status{};
}

/// True: somebody ended the pause.
bool InterruptHub::pause_while_quiescent(WaitTime& time, std::uint64_t most_ns) {
  leader_asleep_.store(true);
  const std::uint64_t begun_ns = host_now_ns();
  const std::uint64_t pause_ns = std::min(time.next_pause_ns(), most_ns);
  bool woken = false;
  // A signal of the application's must not make the pause shorter than it counts.
  for (std::uint64_t slept_ns = 0; !woken && slept_ns < pause_ns; slept_ns = host_now_ns() - begun_ns) {
    const std::uint64_t nap_ns = pause_ns - slept_ns;
    pollfd waited{wake_.get(), POLLIN, 0};
    const timespec nap{static_cast<time_t>(nap_ns / limits::ns_per_s),
                       static_cast<long>(nap_ns % limits::ns_per_s)};
    woken = ::ppoll(&waited, 1, &nap, nullptr) > 0;
  }
  leader_asleep_.store(false);
  if (woken) {
    drain_wake();
  }
  time.add_pause(woken ? host_now_ns() - begun_ns : pause_ns);
  return woken;
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
    const ScopedLock lock(mutex_);
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
