// The thread that advances a free-running board, and sleeps when there is nothing to advance.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "sim/board/engine.hpp"

namespace datum::sim {

class BoardThread {
 public:
  /// `slice` takes the board's turn and advances it for a while. Called from the new thread only, until the destructor returns.
  explicit BoardThread(std::function<Activity()> slice);
  ~BoardThread();
  BoardThread(const BoardThread&) = delete;
  BoardThread& operator=(const BoardThread&) = delete;

  /// There may be something to do. Safe from any thread; cheap when the board is awake.
  void wake() noexcept;

 private:
  void loop();
  void rest(const Activity& activity, std::uint64_t seen);

  std::function<Activity()> slice_;
  std::atomic<std::uint64_t> wakes_ = 0;
  std::atomic<bool> asleep_ = false;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable condition_;
  int owner_process_;
  std::thread thread_;
};

}  // namespace datum::sim
