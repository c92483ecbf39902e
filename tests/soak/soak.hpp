// Threads and peers over the boards, epoch after epoch. An epoch is a fixed number of scenes for each worker;
// what they are and with which sizes and bytes follows from the seed, the epoch, the worker and the scene's
// number alone.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/soak/holdings.hpp"
#include "tests/soak/options.hpp"
#include "tests/soak/peer.hpp"
#include "tests/soak/peer_scenes.hpp"
#include "tests/soak/scenes.hpp"

namespace datum::soak {

struct Tally {
  std::array<std::atomic<std::uint64_t>, scenes.size()> played{};
  std::array<std::atomic<std::uint64_t>, peer_scenes.size()> played_with_peers{};
  std::atomic<std::uint64_t> copied_bytes{0};
  std::atomic<std::uint64_t> ended_by_reset{0};
  std::atomic<std::uint64_t> resets{0};
  std::atomic<std::uint64_t> peers_killed{0};
  std::uint64_t epochs = 0;
};

class Soak {
 public:
  explicit Soak(const Options& options);

  /// Until the time is over, the epochs are done, or something went wrong.
  void run();
  void print_summary() const;

 private:
  /// Where a worker is, for who finds it hanging.
  struct Progress {
    std::atomic<const char*> scene{"nothing yet"};
    std::atomic<std::uint64_t> number{0};
  };

  [[nodiscard]] bool goes_on() const;
  void run_epoch(std::uint64_t epoch);
  void work(std::uint64_t epoch, std::size_t worker, ze_context_handle_t shared);
  void play(std::uint64_t epoch, std::size_t worker, std::uint64_t number, Stage& stage);
  void play_with_peer(std::size_t worker, Peer& peer, Stage& stage);
  void reset_amid_work(std::uint64_t epoch);
  void finish_worker();
  void wait_for_workers(std::uint64_t epoch);
  void end_peers();

  [[nodiscard]] std::size_t workers() const { return options_.threads + peers_.size(); }

  [[nodiscard]] std::uint64_t scenes_of_epoch() const { return scenes_each_ * workers(); }

  Options options_;
  OwnFolder folder_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point finish_;
  std::uint64_t scenes_each_;
  std::size_t largest_;
  Tally tally_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Progress> progress_;
  std::atomic<std::uint64_t> scenes_done_{0};  ///< of the epoch
  std::mutex mutex_;
  std::condition_variable worker_finished_;
  std::size_t working_ = 0;
  std::vector<Holdings> held_;  ///< after each epoch
};

}  // namespace datum::soak
