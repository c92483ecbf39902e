// One place where threads wait for a board: words in memory change, an interrupt says that they may have.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum {

/// Of the threads that wait at one time, one (the leader) waits in PcieFunction::wait for any vector; it wakes the others when something
/// happened. Each then looks at its own word again. Thread safe; a waiting thread costs no processor time.
class InterruptHub {
 public:
  explicit InterruptHub(board::PcieFunction& function);

  /// Waits until `ready()` is true: success; until the host's monotonic clock has advanced by `timeout_ns` (~0: no limit): not_ready;
  /// until the board is lost: device_lost. `ready` is called without locks held, first before any waiting, from this thread only. Polls for a few
  /// microseconds before it sleeps.
  Status wait(const std::function<bool()>& ready, std::uint64_t timeout_ns);

  /// Makes every waiter look again: the host itself changed a word that somebody may wait for.
  void notify();

 private:
  board::PcieFunction& function_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t generation_ = 0;
  bool leader_active_ = false;
  UniqueFd wake_;
};

}  // namespace datum
