#include "sim/board/board_thread.hpp"

#include <chrono>
#include <csignal>
#include <pthread.h>
#include <unistd.h>
#include <utility>

#include "sim/board/processor_pause.hpp"

namespace datum::sim {

namespace {

/// A doorbell often follows the last one closely; then a wake-up through the kernel would be the slowest
/// part.
constexpr auto spin_time = std::chrono::microseconds(20);
/// How often a board looks whether a parked ring is due.
constexpr auto parked_nap = std::chrono::milliseconds(1);

/// Signals are the application's: none of its handlers shall run on the board's thread.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }

  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

BoardThread::BoardThread(std::function<Activity()> slice)
    : slice_(std::move(slice)), owner_process_(::getpid()) {
  const BlockedSignals blocked;  // a new thread inherits the mask
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
    const std::lock_guard lock(shared_->mutex);
    shared_->condition.notify_one();
  }
}

void BoardThread::loop() {
  pthread_setname_np(pthread_self(), "datum-board");
  while (!shared_->stop.load()) {
    const auto seen = shared_->wakes.load();
    const auto activity = slice_();
    if (activity.quiescent) {
      rest(activity, seen);
    }
  }
}

void BoardThread::rest(const Activity& activity, std::uint64_t seen) {
  const auto woken = [&] { return shared_->wakes.load() != seen; };
  const auto spin_end = std::chrono::steady_clock::now() + spin_time;
  while (std::chrono::steady_clock::now() < spin_end) {
    if (woken()) {
      return;
    }
    processor_pause();
  }
  std::unique_lock lock(shared_->mutex);
  shared_->asleep.store(true);
  if (activity.parked) {
    shared_->condition.wait_for(lock, parked_nap, woken);
  } else {
    shared_->condition.wait(lock, woken);
  }
  shared_->asleep.store(false);
}

}  // namespace datum::sim
