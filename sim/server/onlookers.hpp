// Those who look at a board while somebody else, or nobody, uses it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/unique_fd.hpp>

#include "sim/server/activity_log.hpp"
#include "sim/server/served_board.hpp"
#include "sim/server/session.hpp"

namespace datum::sim {

/// An onlooker reads and writes registers and memory. It has no interrupts, maps no memory and resets
/// nothing. Safe from any thread.
class Onlookers {
 public:
  /// `log` outlives the object.
  Onlookers(ActivityLog& log, std::string name);
  /// As end_all.
  ~Onlookers();
  Onlookers(const Onlookers&) = delete;
  Onlookers& operator=(const Onlookers&) = delete;

  static constexpr std::size_t most = 8;

  /// Lets the one at the other end of `socket` look at `board`, which lives until end_all has returned.
  /// False: there are too many already, and `socket` was not taken.
  bool admit(UniqueFd& socket, ServedBoard& board);

  /// Ends all connections and returns when nobody looks any more.
  void end_all();

 private:
  struct Onlooker {
    std::unique_ptr<Session> session;
    std::atomic<bool> ended{false};
    std::thread thread;
  };

  void remove_ended() DATUM_REQUIRES(mutex_);

  ActivityLog& log_;
  std::string name_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Onlooker>> all_ DATUM_GUARDED_BY(mutex_);
};

}  // namespace datum::sim
