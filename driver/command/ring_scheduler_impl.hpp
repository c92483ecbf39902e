// What a ring scheduler consists of.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include <datum/base/mutex.hpp>

#include "driver/command/hang_check.hpp"
#include "driver/command/own_ring.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/command/stream_feeder.hpp"

namespace datum {

struct RingScheduler::Impl {
  explicit Impl(Device& of) : device(of), feeder(of) {}

  void pump();
  void serve();
  bool needs_worker();
  void perform_steps(bool with_calls);
  void settle(Aftermath& after) DATUM_REQUIRES(mutex);

  /// What `step` has left to settle is settled as well where memory runs out in it: streams wait for that.
  template <class Step>
  decltype(auto) settled_if_thrown(Aftermath& after, Step&& step) DATUM_REQUIRES(mutex) {
    try {
      return step();
    } catch (...) {
      settle(after);
      throw;
    }
  }

  void update_hints() DATUM_REQUIRES(mutex);
  void want_worker();
  void work();
  std::uint64_t worker_poll_ns();

  Device& device;
  Mutex mutex;  ///< of the feeder and all streams
  StreamFeeder feeder DATUM_GUARDED_BY(mutex);
  FailureLog& failures = feeder.failures();  ///< which has a lock of its own
  std::unique_ptr<OwnRing> own;
  std::atomic<bool> anything_active{false};
  std::atomic<bool> host_needed{false};
  std::atomic<bool> call_needed{false};                        ///< by the host: a function of the application
  std::atomic<bool> performing{false};                         ///< some thread is at the host steps
  std::uint64_t last_thorough_ns DATUM_GUARDED_BY(mutex) = 0;  ///< of the seam's clock
  HangCheck hang_check DATUM_GUARDED_BY(mutex);

  Mutex worker_mutex;  ///< of the thread's start and end
  ConditionVariable worker_wanted;
  std::thread worker;
  std::atomic<bool> worker_missing{false};  ///< wanted, and the process may have no more threads
  std::atomic<bool> stopping{false};
};

}  // namespace datum
