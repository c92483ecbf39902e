// The host's share of the work of rings: feeding them, moving memory for them, calling functions; and the
// worker that does it while nobody waits.
#include <chrono>
#include <new>
#include <system_error>
#include <thread>

#include <datum/base/mutex.hpp>
#include <datum/base/service_thread.hpp>

#include "driver/command/failure_words.hpp"
#include "driver/command/ring_scheduler_impl.hpp"
#include "driver/device/board.hpp"
#include "driver/device/limits.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {

/// A board that keeps its own time advances in calls only, and whoever calls does the host's share: a second
/// thread would make the order of calls depend on how the host runs the two.
void RingScheduler::Impl::serve() {
  pump();
  const bool alone = worker_missing.load(std::memory_order_relaxed);
  if ((alone || device.board().hub().own_time()) && host_needed.load(std::memory_order_acquire)) {
    perform_steps(alone);
  }
}

/// Functions of the application are called by the worker, as they may take any time, unless there is none.
bool RingScheduler::Impl::needs_worker() {
  return device.board().hub().own_time() ? call_needed.load() : host_needed.load();
}

void RingScheduler::Impl::want_worker() {
  const ScopedLock lock(worker_mutex);
  if (stopping.load()) {
    return;
  }
  if (!worker.joinable()) {
    try {
      const BlockedSignals blocked;
      worker = std::thread([this] { work(); });
      worker_missing.store(false, std::memory_order_relaxed);
    } catch (const std::exception&) {
      // The process may have no more threads, or no more memory: whoever waits or asks does the host's share.
      worker_missing.store(true, std::memory_order_relaxed);
      return;
    }
  }
  worker_wanted.notify_one();
}

void RingScheduler::Impl::work() {
  name_service_thread('w');
  ApplicationWatch watch(4);
  UniqueLock lock(worker_mutex);
  while (!stopping.load()) {
    watch.look();
    const auto until = std::chrono::steady_clock::now() + ApplicationWatch::interval;
    bool wanted = stopping.load() || needs_worker();
    while (!wanted && worker_wanted.wait_until(worker_mutex, until)) {
      wanted = stopping.load() || needs_worker();
    }
    if (!wanted && !stopping.load() && !needs_worker()) {
      continue;
    }
    lock.unlock();
    try {
      Status waited = device.board().hub().wait(
          [&] {
            watch.look();
            pump();
            perform_steps(true);
            return stopping.load() || !needs_worker();
          },
          worker_poll_ns());
      if (!waited && waited.error().code != ErrorCode::not_ready) {
        pump();  // the board is lost: ends everything, so that nothing is left for this thread
      }
      lock.lock();
    } catch (const std::bad_alloc&) {
      lock.lock();  // what is left to do is done when there is memory again
      const auto again = std::chrono::steady_clock::now() + std::chrono::nanoseconds(limits::memory_retry_ns);
      while (!stopping.load() && worker_wanted.wait_until(worker_mutex, again)) {
      }
    }
  }
}

/// Words that another board or process writes raise no interrupt of this one.
std::uint64_t RingScheduler::Impl::worker_poll_ns() {
  const bool foreign = device.driver().devices().size() > 1 || device.driver().exports().has_foreign_words();
  return foreign ? limits::foreign_word_poll_ns : limits::health_check_ns;
}

/// One thread at a time; another one has nothing to do here meanwhile.
void RingScheduler::Impl::perform_steps(bool with_calls) {
  if (performing.exchange(true)) {
    return;
  }

  struct Ended {
    std::atomic<bool>& flag;

    explicit Ended(std::atomic<bool>& to_lower) noexcept : flag(to_lower) {}

    Ended(const Ended&) = delete;
    Ended& operator=(const Ended&) = delete;

    ~Ended() { flag.store(false); }
  };

  const Ended at_the_end{performing};
  UniqueLock lock(mutex);
  for (bool again = true; again;) {
    again = false;
    for (Stream* stream : feeder.active()) {
      if (stream->steps_ == nullptr || !stream->steps_->due() ||
          (!with_calls && stream->steps_->next_is_call())) {
        continue;
      }
      HostSteps& steps = *stream->steps_;
      Aftermath done;
      done.releasing.push_back(stream);
      ++stream->releasing_;  // keeps the stream from being closed meanwhile
      lock.unlock();
      const bool answered =
          steps.perform([this](Error error) { return failure_word(device, failures.add(std::move(error))); });
      lock.lock();
      feeder.released(done);
      if (!answered) {
        feeder.fail(*stream,
                    make_error(ErrorCode::unknown, "the board asked for a host step that is not due"), done);
      } else if (stream->ring_ != nullptr) {
        stream->ring_->ring.kick();
        done.doorbell = true;
      }
      feeder.advance(false, done);
      update_hints();
      settle(done);
      again = true;
      break;  // the list of active streams may have changed
    }
  }
}

}  // namespace datum
