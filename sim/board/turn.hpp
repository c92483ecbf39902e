// Who may advance the board. One thread at a time; callers go before the board's own thread, until that has
// waited for a while.
#pragma once

#include <atomic>
#include <thread>

#include <datum/base/mutex.hpp>

#include "sim/board/processor_pause.hpp"

namespace datum::sim {

class DATUM_LOCKABLE Turn {
 public:
  /// A caller's turn, until the end of the scope.
  class DATUM_LOCK_SCOPE Scope {
   public:
    explicit Scope(Turn& turn) DATUM_ACQUIRES(turn) : turn_(turn) { turn_.enter(); }

    ~Scope() DATUM_RELEASES() { turn_.leave(); }

    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Turn& turn_;
  };

  /// The turn of the board's thread: lets callers that wait go first, so that a busy board does not starve
  /// them.
  class DATUM_LOCK_SCOPE Behind {
   public:
    explicit Behind(Turn& turn) DATUM_ACQUIRES(turn) : turn_(turn) { turn_.enter_behind(); }

    ~Behind() DATUM_RELEASES() { turn_.leave(); }

    Behind(const Behind&) = delete;
    Behind& operator=(const Behind&) = delete;

   private:
    Turn& turn_;
  };

 private:
  /// A board keeps its turn for microseconds, far less than it takes to sleep and be woken: so the first
  /// tries are by spinning.
  void enter() DATUM_ACQUIRES() DATUM_NOT_CHECKED {
    // A mutex is not fair: threads that come back at once would keep out one that sleeps.
    for (unsigned tries = 0; board_is_due_.load(std::memory_order_relaxed) && tries < courtesy; ++tries) {
      std::this_thread::yield();
    }
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

  void enter_behind() DATUM_ACQUIRES() DATUM_NOT_CHECKED {
    for (unsigned tries = 0; callers_.load(std::memory_order_relaxed) != 0 && tries < patience; ++tries) {
      std::this_thread::yield();
    }
    board_is_due_.store(true, std::memory_order_relaxed);
    mutex_.lock();
    board_is_due_.store(false, std::memory_order_relaxed);
  }

  void leave() DATUM_RELEASES() DATUM_NOT_CHECKED { mutex_.unlock(); }

  static constexpr unsigned spins = 1000;
  static constexpr unsigned patience = 64;  // yields; a caller is through within a few

  static constexpr unsigned courtesy = 100'000;  // yields; bounded, for a process that was forked meanwhile

  Mutex mutex_;
  std::atomic<unsigned> callers_ = 0;
  std::atomic<bool> board_is_due_ = false;
};

}  // namespace datum::sim
