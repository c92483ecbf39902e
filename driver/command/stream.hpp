// The descriptors of one queue on their way to a ring and back.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <datum/base/result.hpp>
#include <datum/hw/registers.hpp>

#include "driver/command/counter.hpp"
#include "driver/command/host_step.hpp"
#include "driver/command/queue_settings.hpp"
#include "driver/object/context.hpp"

namespace datum {

class Device;
class Event;
struct LentRing;

/// One descriptor, and the event whose memory it touches (one reference is held until it has ended).
struct StreamItem {
  hw::Descriptor descriptor;
  Event* event = nullptr;
  bool signals = false;  ///< ends `event`'s wait: with an error if the item never runs
};

/// What commands in flight need kept: pinned memory, another queue's counter, memory that was freed
/// meanwhile.
struct Keep {
  Pin pin;
  std::shared_ptr<Counter> counter;
  std::shared_ptr<void> freed{};
};

/// How many items of its submission must have ended before something may be let go.
struct SubmittedKeep {
  std::size_t items = 0;
  Keep keep;
};

/// A counter-based event that the submission signals, and by which value of which counter. Holds one
/// reference.
struct SubmittedPoint {
  Event* event = nullptr;
  CounterReach reach = CounterReach::process;
  std::uint64_t value = 0;
};

/// Of one stream, by reach; null until a counter-based event is signalled first.
using StreamCounters = std::array<std::shared_ptr<Counter>, counter_reaches>;

/// What one call brings to a stream. Kept and reused by its owner, so that a steady state allocates nothing.
struct Submission {
  std::vector<StreamItem> items;
  std::vector<SubmittedKeep> keeps;    ///< in the order of `items`
  std::vector<HostStep> steps;         ///< numbered from the stream's next free number
  std::vector<SubmittedPoint> points;  ///< for each counter in the order of their values

  /// Drops what a failed lowering has collected.
  void clear() noexcept;
  /// The submission was taken: its counter-based events follow their new points.
  void follow_points(const StreamCounters& counters);

  [[nodiscard]] bool empty() const noexcept { return items.empty(); }
};

/// Belongs to one queue; its moving parts are guarded by the scheduler. Positions count items from 1 in the
/// order of submission.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Context& context, Device& device, QueueRank rank);

  [[nodiscard]] Context& context() noexcept { return context_; }

  [[nodiscard]] unsigned device_index() const noexcept { return device_index_; }

  [[nodiscard]] unsigned space() const noexcept { return space_; }

  /// Board::life() of the board when the context was made.
  [[nodiscard]] std::uint64_t board_life() const noexcept { return board_life_; }

  /// All items up to this position have ended well or badly and their pins are released. Any thread.
  [[nodiscard]] std::uint64_t retired() const noexcept { return retired_.load(std::memory_order_acquire); }

  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }

  /// The first item that did not end well; meaningful when failed().
  [[nodiscard]] std::uint64_t failed_at() const noexcept { return failed_at_; }

  [[nodiscard]] std::uint32_t failure_number() const noexcept { return failure_number_; }

  /// Has work outstanding. Under the scheduler's lock, like lose_ring.
  [[nodiscard]] bool active() const noexcept { return active_; }

  void lose_ring() noexcept { ring_ = nullptr; }

  [[nodiscard]] std::uint64_t submitted() const noexcept {
    return submitted_.load(std::memory_order_acquire);
  }

 private:
  friend class RingScheduler;
  friend class StreamFeeder;

  struct HeldKeep {
    std::uint64_t position;
    Keep keep;
  };

  [[nodiscard]] bool has_pending() const noexcept { return pending_head_ < pending_.size(); }

  Context& context_;
  unsigned device_index_;
  unsigned space_;
  std::uint64_t board_life_;
  QueueRank rank_;

  std::vector<StreamItem> pending_;  ///< not yet in a ring, from pending_head_
  std::size_t pending_head_ = 0;
  LentRing* ring_ = nullptr;
  bool may_park_ = true;      ///< the ring may hold waits whose condition does not hold yet
  bool active_ = false;       ///< has work outstanding
  bool host_parked_ = false;  ///< without a ring, at a wait whose condition did not hold
  std::atomic<std::uint64_t> submitted_{0};
  std::uint64_t fed_ = 0;  ///< put into a ring, or done with on the host
  std::uint64_t completed_ = 0;
  std::atomic<std::uint64_t> retired_{0};
  unsigned releasing_ = 0;      ///< threads that let keeps go now
  std::deque<HeldKeep> keeps_;  ///< by rising position
  std::unique_ptr<HostSteps> steps_;
  StreamCounters counters_;
  std::atomic<bool> failed_{false};
  std::uint64_t failed_at_ = 0;
  std::uint32_t failure_number_ = 0;
};

}  // namespace datum
