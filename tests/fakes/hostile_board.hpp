// A PCIe function whose board answers with anything, so that what the driver believes can be tested.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <datum/base/mapping.hpp>
#include <datum/board/pcie_function.hpp>

#include "tests/fakes/forwarding_function.hpp"

namespace datum::test {

/// How often the board lies: chances in 256 at each occasion.
struct Hostility {
  std::uint64_t seed = 1;
  unsigned registers = 0;         ///< a read of BAR0 gives something else
  unsigned lost_writes = 0;       ///< a write to BAR0 goes nowhere, or to another register
  unsigned aperture = 0;          ///< a read of BAR2 gives something else
  unsigned records = 0;           ///< a completion record is forged: wrong, early, late, twice, gone
  unsigned slots = 0;             ///< a word of a ring's descriptors is overwritten
  unsigned scribbles = 0;         ///< a word of the driver's memory that the board may write is overwritten
  unsigned false_interrupts = 0;  ///< a wait ends with an interrupt that nobody raised
  unsigned lost_interrupts = 0;   ///< a wait goes on though the board raised the vector
  bool identity = false;          ///< sizes of BARs and the number of vectors are anything
};

/// Stands between the driver and an honest board. The board's reach is kept to: only memory that was mapped
/// for writing is overwritten, and of that only files, which are the driver's own; a page of the
/// application's heap that is pinned for a copy holds its neighbours too, and no driver can protect those.
/// Its clock runs `speed` times as fast as the board's, so that the driver's bounds pass sooner. Safe from
/// any thread.
class HostileBoard final : public ForwardingFunction {
 public:
  HostileBoard(std::unique_ptr<board::PcieFunction> inner, const Hostility& hostility, unsigned speed);
  ~HostileBoard() override;

  /// Lies from now on; before it answers honestly.
  void begin() noexcept { hostile_.store(true); }

  [[nodiscard]] const board::FunctionInfo& info() const noexcept override { return info_; }

  Result<board::Bar*> bar(unsigned index) override;
  Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                    board::DmaAccess access) override;
  Status dma_unmap(Iova iova, std::uint64_t bytes) override;
  Result<board::WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) override;
  [[nodiscard]] board::Clock clock() noexcept override;

 private:
  class HostileBar;

  /// What the driver told the board about one ring.
  struct RingPlace {
    Iova record{};
    Iova slots{};
    unsigned size_log2 = 0;
  };

  static constexpr unsigned rings = 64;

  [[nodiscard]] bool happens(unsigned chance);
  [[nodiscard]] std::uint64_t lie_about(std::uint64_t truth);
  [[nodiscard]] std::uint64_t read_of(unsigned bar, std::uint64_t truth);
  /// Where a write of BAR0 goes instead; empty: nowhere.
  [[nodiscard]] std::uint64_t place_of_write(std::uint64_t offset);
  void note_write(std::uint64_t offset, std::uint64_t value);
  void act();
  void forge_record();
  void overwrite_slot();
  void scribble();
  void change_word(std::uint64_t* word);
  [[nodiscard]] std::uint64_t* host_word(Iova iova);

  [[nodiscard]] std::uint64_t random() { return random_(); }

  void lie_about_identity();

  const Hostility hostility_;
  const unsigned speed_;
  const std::uint64_t begun_ns_;
  board::FunctionInfo info_;
  std::atomic<bool> hostile_{false};
  std::mutex mutex_;  ///< of everything below
  std::mt19937_64 random_;
  std::map<std::uint64_t, Mapping> files_;  ///< by IOVA
  std::array<RingPlace, rings> places_{};
  std::array<std::uint64_t, 16> seen_{};  ///< values read or written before, to be told again
  unsigned next_seen_ = 0;
  std::array<std::unique_ptr<HostileBar>, 6> bars_;
};

}  // namespace datum::test
