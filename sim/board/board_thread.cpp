#include "sim/board/board_thread.hpp"

#include <chrono>
#include <unistd.h>
#include <utility>

#include <datum/base/mutex.hpp>
#include <datum/base/service_thread.hpp>

#include "sim/board/processor_pause.hpp"

namespace datum::sim {

namespace {

/// A doorbell often follows the last one closely; then a wake-up through the kernel would be the slowest
/// part.
constexpr auto spin_time = std::chrono::microseconds(20);
/// How often a board looks whether a parked ring is due.
constexpr std::chrono::milliseconds parked_nap{1};

}  // namespace

BoardThread::BoardThread(std::function<Activity()> slice)
    : slice_(std::move(slice)), owner_process_(::getpid()) {
  const BlockedSignals blocked;
  thread_ = std::thread([this] { loop(); });
}

BoardThread::~BoardThread() {
  if (::getpid() != owner_process_) {
    thread_.detach();  // a forked child has the object but not the thread
    static_cast<void>(shared_.release());
    return;
  }
  shared_->stop.store(true);
  wake();
  thread_.join();
}

void BoardThread::wake() noexcept {
  shared_->wakes.fetch_add(1);
  if (shared_->asleep.load()) {
    const ScopedLock lock(shared_->mutex);
    shared_->condition.notify_one();
  }
}

void BoardThread::loop() {
  name_service_thread('b');
  ApplicationWatch watch(2);
  while (!shared_->stop.load()) {
    watch.look();
    const auto seen = shared_->wakes.load();
    const auto activity = slice_();
    if (activity.quiescent) {
      rest(activity, seen);
    }
  }
}

void BoardThread::rest(const Activity& activity, std::uint64_t seen) {
  const auto woken = [&] { return shared_->wakes.load() != seen; };
  // Whoever was just woken by an interrupt may have been put on this processor.
  std::this_thread::yield();
  const auto spin_end = std::chrono::steady_clock::now() + spin_time;
  while (std::chrono::steady_clock::now() < spin_end) {
    if (woken()) {
      return;
    }
    processor_pause();
  }
  const std::chrono::nanoseconds longest = activity.parked ? parked_nap : ApplicationWatch::interval;
  const ScopedLock lock(shared_->mutex);
  shared_->asleep.store(true);
  const auto until = std::chrono::steady_clock::now() + longest;
  while (!woken() && shared_->condition.wait_until(shared_->mutex, until)) {
  }
  shared_->asleep.store(false);
}

}  // namespace datum::sim
