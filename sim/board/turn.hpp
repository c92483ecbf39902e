// Who may advance the board. One thread at a time; callers go before the board's own thread.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "sim/board/processor_pause.hpp"

namespace datum::sim {

class Turn {
 public:
  /// A caller's turn, until the end of the scope.
  class Scope {
   public:
    explicit Scope(Turn& turn) : turn_(turn) { turn_.enter(); }

    ~Scope() { turn_.mutex_.unlock(); }

    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Turn& turn_;
  };

  /// The turn of the board's thread: lets callers that wait go first, so that a busy board does not starve
  /// them.
  class Behind {
   public:
    explicit Behind(Turn& turn) : turn_(turn) {
      for (unsigned tries = 0; turn_.callers_.load(std::memory_order_relaxed) != 0 && tries < patience;
           ++tries) {
        std::this_thread::yield();
      }
      turn_.mutex_.lock();
    }

    ~Behind() { turn_.mutex_.unlock(); }

    Behind(const Behind&) = delete;
    Behind& operator=(const Behind&) = delete;

   private:
    static constexpr unsigned patience = 64;  // yields; a caller is through within a few
    Turn& turn_;
  };

 private:
  /// A board keeps its turn for microseconds, far less than it takes to sleep and be woken: so the first
  /// tries are by spinning.
  void enter() {
    callers_.fetch_add(1, std::memory_order_relaxed);
    bool entered = false;
    for (unsigned tries = 0; !entered && tries < spins; ++tries) {
      entered = mutex_.try_lock();
      if (!entered) {
        processor_pause();
      }
    }
    if (!entered) {
      mutex_.lock();
    }
    callers_.fetch_sub(1, std::memory_order_relaxed);
  }

  static constexpr unsigned spins = 1000;

  std::mutex mutex_;
  std::atomic<unsigned> callers_ = 0;
};

}  // namespace datum::sim
