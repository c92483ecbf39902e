// A simulated board with the host around it: engine, memory, IOMMU, interrupts, and the turn that serialises
// them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include <datum/base/result.hpp>

#include "sim/board/engine.hpp"
#include "sim/board/options.hpp"
#include "sim/board/timebase.hpp"
#include "sim/board/transaction_hash.hpp"
#include "sim/board/turn.hpp"
#include "sim/host/host_bus.hpp"
#include "sim/host/interrupts.hpp"
#include "sim/host/iommu.hpp"
#include "sim/memory/dram_array.hpp"

namespace datum::sim {

/// What an engine is built from. Outlives the engine.
struct EngineSurroundings {
  const BoardOptions& options;
  DramArray& dram;
  HostBus& host;
  const Timebase& timebase;
  TransactionHash& hash;
};

/// Makes the engine that the options ask for. unsupported_feature: this build has none of that kind.
Result<std::unique_ptr<Engine>> make_engine(const EngineSurroundings& surroundings);

/// All members are used under `turn`, except where they say otherwise.
class Board {
 public:
  static Result<std::unique_ptr<Board>> create(const BoardOptions& options);
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board() = default;

  /// Runs the engine for about `cycles`.
  Activity run(std::uint64_t cycles);
  /// Power-on state; lifts a loss.
  void power_on();

  [[nodiscard]] std::uint64_t now_ns() const { return timebase.now_ns(engine->cycle()); }

  /// Puts the board out of reach, as a card that fell off the bus. Waits end with the reason.
  void lose(std::string reason);
  /// Takes over a loss that the engine reports.
  void notice_loss();

  [[nodiscard]] const std::string& lost() const noexcept { return lost_; }

  /// The same without the turn.
  [[nodiscard]] bool is_lost() const noexcept { return is_lost_.load(std::memory_order_acquire); }

  /// Readable while the board is lost. Without the turn.
  [[nodiscard]] int lost_descriptor() const noexcept { return lost_event_.get(); }

  const BoardOptions options;
  Turn turn;
  Timebase timebase;
  TransactionHash hash;
  Iommu iommu;
  Interrupts interrupts;  // safe without the turn
  HostBus host;
  DramArray dram;
  std::unique_ptr<Engine> engine;

 private:
  Board(const BoardOptions& wanted, DramArray array, UniqueFd any_interrupt, UniqueFd lost_event);

  void program_message_table();

  std::string lost_;
  std::atomic<bool> is_lost_ = false;
  UniqueFd lost_event_;
};

}  // namespace datum::sim
