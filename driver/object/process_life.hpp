// Which process the driver's objects belong to. A forked child gets copies of them that are of no use: the
// board, its threads and perhaps held locks are its parent's.
#pragma once

#include <cstdint>

namespace datum {

/// Number of this process's life; 0 as long as the process has not begun one, in a forked child too. Never
/// repeats in a chain of forked processes. Wait-free, any thread.
[[nodiscard]] std::uint32_t process_life() noexcept;

/// Begins this process's life if it has none.
void begin_process_life() noexcept;

/// Whether an ancestor of this process had a life, but this process has none yet.
[[nodiscard]] bool forked_without_life() noexcept;

/// Serialises initialisation. A child never finds it locked by a thread of its parent, which a std::mutex
/// could be.
class ProcessLock {
 public:
  ProcessLock() noexcept;
  ~ProcessLock();
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;
};

}  // namespace datum
