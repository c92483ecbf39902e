// Moves descriptors from streams into rings, and takes note of what the board has done with them.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include <datum/base/result.hpp>

#include "driver/command/failure_log.hpp"
#include "driver/command/hang_check.hpp"
#include "driver/command/memory_use.hpp"
#include "driver/command/ring_pool.hpp"
#include "driver/command/stream.hpp"

namespace datum {

class Device;

/// What must be done after the scheduler's lock was given back, because it takes locks of its own or calls
/// into the memory half.
struct Aftermath {
  std::vector<Keep> keeps;
  std::vector<Stream*> releasing;    ///< whose keeps those are
  Event* last_references = nullptr;  ///< of events that are chained, so that to note one takes no memory
  bool words_changed = false;        ///< the host wrote event words: kick parked rings, wake waiters
  bool doorbell = false;
  bool wake = false;  ///< work ended without an interrupt: wake waiters

  [[nodiscard]] bool empty() const noexcept {
    return releasing.empty() && last_references == nullptr && !words_changed && !doorbell && !wake;
  }
};

/// Guarded by the scheduler's lock; touches the board (doorbells, starting and stopping rings) but never
/// waits for work.
class StreamFeeder {
 public:
  explicit StreamFeeder(Device& device);

  Status make_first_ring() { return pool_.make_first(); }

  /// Adds `submission` to the stream and feeds it. Returns the position of its last item. Where memory runs
  /// out either nothing was taken, and std::bad_alloc says so, or all of it, to be fed when somebody next
  /// looks.
  Result<std::uint64_t> submit(const std::shared_ptr<Stream>& stream, Submission& submission,
                               Aftermath& after);
  /// Looks at every ring in use and at every stream that waits on the host. `thorough`: asks the registers as
  /// well.
  void advance(bool thorough, Aftermath& after);
  /// Keeps of `after` have been let go.
  void released(Aftermath& after);
  /// Ends the stream's outstanding work with `error`; its ring stops.
  void fail(Stream& stream, Error error, Aftermath& after);
  /// Ends everything.
  void fail_all(const Error& error, Aftermath& after);
  /// The board has forgotten its rings, and nothing is outstanding.
  void board_was_reset() noexcept;
  /// Something outstanding waits for an event that was destroyed unsignalled.
  [[nodiscard]] static bool waits_for_destroyed_event(Stream& stream);
  /// The stream is about to be deleted; it has nothing outstanding.
  void forget(Stream& stream);

  /// Which streams' outstanding items touch the range.
  [[nodiscard]] std::vector<MemoryUse> uses_of(const UsedRange& range) const;
  /// Keeps `kept` until the stream has passed the position; it is released like a pin.
  static void keep(const MemoryUse& use, std::shared_ptr<void> kept);

  [[nodiscard]] const std::vector<Stream*>& active() const noexcept { return active_; }

  /// The rings whose doorbell was rung for more than has ended.
  [[nodiscard]] WorkingRings working_rings() const noexcept;

  /// Something outstanding cannot go on without the host.
  [[nodiscard]] bool needs_host() const noexcept;
  /// A function of the application is still to be called.
  [[nodiscard]] bool needs_call() const noexcept;

  [[nodiscard]] FailureLog& failures() noexcept { return failures_; }

 private:
  void poll(Stream& stream, bool thorough, Aftermath& after);
  void retire(Stream& stream, std::uint32_t from, Aftermath& after);
  void finish_positions(Stream& stream, Aftermath& after);
  void end_event(const SlotNote& note, Aftermath& after) noexcept;
  static void make_room(Aftermath& after, std::size_t keeps);
  void make_room(Stream& stream, const Submission& submission);
  void take(const std::shared_ptr<Stream>& stream, Submission& submission) noexcept;
  bool feed(Stream& stream, Aftermath& after);
  bool acquire(Stream& stream, Aftermath& after);
  bool skip_held_waits(Stream& stream, Aftermath& after);
  Status prepare_ring(Stream& stream, const hw::Descriptor& next, bool& ready);
  [[nodiscard]] static bool drains_after_head(const Stream& stream);
  void put(Stream& stream);
  void give_up_ring(Stream& stream);
  void drop_inactive();
  [[nodiscard]] static std::uint64_t last_use(const Stream& stream, const UsedRange& range);
  [[nodiscard]] Error dependency_error(Stream& stream, const hw::Descriptor& wait);
  [[nodiscard]] Error describe_failure(Stream& stream, const RingFault& fault);

  Device& device_;
  RingPool pool_;
  FailureLog failures_;
  std::vector<Stream*> active_;  ///< by rank, among equals oldest first
};

}  // namespace datum
