// One place where threads wait for a board: words in memory change, an interrupt says that they may have.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum {

class WaitTime;

/// Of the threads that wait at one time, one (the leader) waits in PcieFunction::wait for any vector; it
/// wakes the others when something happened. Each then looks at its own word again. Thread safe; a waiting
/// thread costs no processor time.
class InterruptHub {
 public:
  using HealthCheck = std::function<Status()>;

  /// `health` is asked every check_interval_ns() while somebody waits; an error ends every wait with it.
  /// Empty: function.health().
  explicit InterruptHub(board::PcieFunction& function, HealthCheck health = {});

  /// Waits until `ready()` is true: success; until `timeout_ns` (~0: no limit) have passed: not_ready; until
  /// the board is lost: device_lost. `ready` is called without locks held, first before any waiting, from
  /// this thread only, and again at least every `look_ns`. Polls for a few microseconds before it sleeps.
  /// Time is the seam's; where that is not the host's, the host's clock has to reach the time-out as well,
  /// and ends the wait where the board's is late (limits::late_timeout_host_ns). With one waiting thread the
  /// calls that a board which keeps its own time gets depend on nothing else.
  Status wait(const std::function<bool()>& ready, std::uint64_t timeout_ns, std::uint64_t look_ns = ~0ULL);

  /// The board's time is not the host's: it passes only while somebody calls.
  [[nodiscard]] bool own_time() const noexcept { return own_time_; }

  /// How often, by the seam's clock, a board with work is asked whether it is still there.
  [[nodiscard]] std::uint64_t check_interval_ns() const noexcept;

  /// Boards of the same process that advance only inside calls: waits of this board advance them too, because
  /// what it waits for may be their work. They must outlive the hub, or be taken back with an empty list.
  /// Not while anybody waits.
  void set_stepped_neighbours(std::vector<board::PcieFunction*> neighbours) {
    neighbours_ = std::move(neighbours);
  }

  /// Makes every waiter look again: the host itself changed a word that somebody may wait for.
  void notify();

  /// To be called after a doorbell or kick: a leader that sleeps because the board was quiescent turns to the
  /// board again.
  void board_has_work();

 private:
  bool becomes_ready_soon(const std::function<bool()>& ready, const WaitTime& time, std::uint64_t timeout_ns);
  void follow(WaitTime& time, std::uint64_t look_ns) DATUM_REQUIRES(mutex_);
  Status lead(WaitTime& time, std::uint64_t look_ns);
  bool pause_while_quiescent(WaitTime& time, std::uint64_t most_ns);
  Status check_health();
  void drain_wake();
  void relax_boards() noexcept;

  board::PcieFunction& function_;
  const bool own_time_;
  HealthCheck health_;
  std::vector<board::PcieFunction*> neighbours_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::uint64_t generation_ DATUM_GUARDED_BY(mutex_) = 0;
  bool leader_active_ DATUM_GUARDED_BY(mutex_) = false;
  std::atomic<bool> leader_asleep_{false};  ///< the board was quiescent
  UniqueFd wake_;
};

}  // namespace datum
