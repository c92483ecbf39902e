// An event: a slot in its pool's memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include <datum/base/result.hpp>

#include "driver/command/event_word.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class Device;
class EventPool;
class EventMemory;
class Stream;

/// Start and end of the command that signalled an event, in nanoseconds of the board's TIMER.
struct EventTimes {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

/// Counted: the handle holds one reference, every descriptor on its way holds one. Destroying a handle while
/// the board still works with the event is therefore safe: the slot is given back when the last descriptor
/// has ended. Thread safe.
class Event {
 public:
  /// invalid_argument: `index` is outside the pool or in use.
  static Result<Event*> create(EventPool& pool, std::uint32_t index, std::uint32_t signal_scope,
                               std::uint32_t wait_scope);
  /// The handle is gone from here on; the object follows with its last reference.
  void destroy();

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }

  /// True: that was the last one, and the caller deletes the event (outside locks of the scheduler).
  [[nodiscard]] bool release() noexcept { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  Status host_signal();
  Status host_reset();
  /// Success when signalled; not_ready; the error of the work that failed to signal it.
  Status query();
  /// The same, waiting up to `timeout_ns` (~0: no limit) of host time.
  Status synchronize(std::uint64_t timeout_ns);
  /// As query; invalid_argument where the pool keeps no timestamps.
  Result<EventTimes> times();

  [[nodiscard]] EventPool& pool() noexcept { return pool_; }

  [[nodiscard]] std::uint32_t signal_scope() const noexcept { return signal_scope_; }

  [[nodiscard]] std::uint32_t wait_scope() const noexcept { return wait_scope_; }

  [[nodiscard]] bool has_timestamps() const noexcept;
  /// Whether commands of `device` in `context`'s space reach its words.
  [[nodiscard]] bool usable_by(const Device& device, const class Context& context) const noexcept;

  [[nodiscard]] EventSlot& slot() noexcept { return *slot_; }

  [[nodiscard]] std::uint64_t word() const noexcept;
  void set_word(std::uint64_t value) noexcept;

  /// The work that will signal it holds pins: who waits for the event shall find them released. `stream` is
  /// one of the pool's context.
  void set_debt(std::shared_ptr<Stream> stream, std::uint64_t position);

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

  ~Event();

 private:
  Event(EventPool& pool, std::uint32_t index);
  /// What `word` means to a caller.
  Status outcome(std::uint64_t word);
  void settle_debt();
  void pump();

  EventPool& pool_;                      ///< valid while the handle is
  std::shared_ptr<EventMemory> memory_;  ///< outlives the pool's handle
  EventSlot* slot_;
  std::uint32_t index_;
  std::uint32_t signal_scope_ = 0;
  std::uint32_t wait_scope_ = 0;
  std::atomic<std::uint32_t> references_{1};
  HandleSlot* handle_ = nullptr;
  std::mutex debt_mutex_;
  std::atomic<bool> has_debt_{false};
  std::shared_ptr<Stream> debt_stream_;
  std::uint64_t debt_position_ = 0;
};

}  // namespace datum
