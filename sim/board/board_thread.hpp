// The thread that advances a free-running board, and sleeps when there is nothing to advance.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include <datum/base/mutex.hpp>

#include "sim/board/engine.hpp"

namespace datum::sim {

/// Takes no signals. It ends the process when the application has no thread left, as the process would end
/// without this one.
class BoardThread {
 public:
  /// `slice` takes the board's turn and advances it for a while. Called from the new thread only, until the
  /// destructor returns.
  explicit BoardThread(std::function<Activity()> slice);
  ~BoardThread();
  BoardThread(const BoardThread&) = delete;
  BoardThread& operator=(const BoardThread&) = delete;

  /// There may be something to do. Safe from any thread; cheap when the board is awake.
  void wake() noexcept;

 private:
  /// What the thread and its wakers share. On the heap, since a forked child must leave it as it is: there
  /// the thread that waits on the condition does not exist, and nobody could ever destroy it.
  struct Shared {
    std::atomic<std::uint64_t> wakes = 0;
    std::atomic<bool> asleep = false;
    std::atomic<bool> stop = false;
    Mutex mutex;
    ConditionVariable condition;
  };

  void loop();
  void rest(const Activity& activity, std::uint64_t seen);

  std::function<Activity()> slice_;
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
  int owner_process_;
  std::thread thread_;
};

}  // namespace datum::sim
