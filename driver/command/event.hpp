// An event: a slot in its pool's memory, or a value that a queue's counter has to reach.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "driver/command/counter.hpp"
#include "driver/command/event_word.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class Context;
class Device;
class Stream;
struct OpenedFile;

/// Start and end of the command that signalled an event, in nanoseconds of the board's TIMER.
struct EventTimes {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

/// Of the flags of counter-based events: other processes may wait for it.
inline constexpr std::uint32_t shared_counter_flag = 8;

/// What a counter-based event without a pool is created with; the API's numbers, checked before.
struct CounterBasedSettings {
  std::uint32_t flags = 0;
  std::uint32_t signal_scope = 0;
  std::uint32_t wait_scope = 0;
  bool timestamps = false;
};

/// Counted: the handle holds one reference, every descriptor on its way holds one. Destroying a handle while
/// the board still works with the event is therefore safe: the slot is given back when the last descriptor
/// has ended. Thread safe.
class Event {
 public:
  /// invalid_argument: `index` is outside the pool or in use.
  static Result<Event*> create(EventPool& pool, std::uint32_t index, std::uint32_t signal_scope,
                               std::uint32_t wait_scope);
  /// A counter-based event without a pool. It counts as signalled until a command that signals it was
  /// submitted; from then on it follows the last one.
  static Result<Event*> create_counter_based(Context& context, const CounterBasedSettings& settings);
  /// The point that a counter-based event had when a handle of it was got; where `file` comes without one,
  /// the last that was given out. From then on it is an event of its own. invalid_argument: `file` holds no
  /// counter, or has never given the point out.
  static Result<Event*> open_counter_based(Context& context, const OpenedFile& file,
                                           const std::optional<SharedEventPoint>& point);
  /// The handle is gone from here on; the object follows with its last reference.
  void destroy();

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }

  /// True: that was the last one, and the caller deletes the event (outside locks of the scheduler).
  [[nodiscard]] bool release() noexcept { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  /// For who has the last reference and deletes the event later: it becomes the first of a chain.
  void chain_behind(Event*& first) noexcept { next_in_chain_ = std::exchange(first, this); }

  [[nodiscard]] Event* next_in_chain() const noexcept { return next_in_chain_; }

  /// invalid_synchronization_object for a counter-based event, as for host_reset.
  Status host_signal();
  Status host_reset();
  /// Success when signalled; not_ready; the error of the work that failed to signal it.
  Status query();
  /// The same, waiting up to `timeout_ns` (~0: no limit).
  Status synchronize(std::uint64_t timeout_ns);
  /// As query; invalid_argument where the event keeps no timestamps.
  Result<EventTimes> times();

  /// The device whose command took the times last; null: none so far, or one of another process.
  [[nodiscard]] Device* timed_by() const noexcept;
  /// A device of another process took the times.
  [[nodiscard]] bool timed_elsewhere() const noexcept;
  void set_timed_by(Device& device) noexcept;

  [[nodiscard]] EventPool* pool() noexcept { return pool_; }  ///< null: there is none

  [[nodiscard]] bool counter_based() const noexcept { return counter_based_; }

  [[nodiscard]] std::uint32_t counter_flags() const noexcept { return counter_flags_; }

  /// Which of a queue's counters it follows when signalled.
  [[nodiscard]] CounterReach counter_reach() const noexcept {
    return (counter_flags_ & shared_counter_flag) != 0 ? CounterReach::processes : CounterReach::process;
  }

  /// Of a counter-based event: what it follows.
  [[nodiscard]] CounterPoint point();
  void follow(CounterPoint point);

  /// A handle of what the event follows now, for other processes; it may be opened as long as the event
  /// lives. A descriptor for each queue that signals, none for each event.
  /// invalid_synchronization_object: it is not counter-based, or was not created to be shared.
  Result<IpcHandleBytes> ipc_handle();

  /// Made by open_counter_based.
  [[nodiscard]] bool opened() const noexcept { return opened_; }

  [[nodiscard]] std::uint32_t signal_scope() const noexcept { return signal_scope_; }

  [[nodiscard]] std::uint32_t wait_scope() const noexcept { return wait_scope_; }

  [[nodiscard]] bool has_timestamps() const noexcept { return timestamps_; }

  /// Whether commands of `device` in `context`'s space reach its words.
  [[nodiscard]] bool usable_by(const Device& device, const Context& context) const noexcept;

  /// The state only where the event is not counter-based, the times only where it has timestamps.
  [[nodiscard]] EventSlot& slot() noexcept { return *slot_; }

  [[nodiscard]] std::uint64_t word();

  /// A command that signals it was handed to a queue; one of those has ended. Whoever counts holds a
  /// reference.
  void signal_begun() noexcept { signals_outstanding_.fetch_add(1, std::memory_order_acq_rel); }

  void signal_ended() noexcept { signals_outstanding_.fetch_sub(1, std::memory_order_acq_rel); }

  /// Its handle is gone, and it is not signalled.
  [[nodiscard]] bool is_destroyed_unsignalled() noexcept;
  /// It is not signalled, its handle is gone, no command that signals it is on its way, and the caller's is
  /// not the only reference: commands that wait for it would wait for ever.
  [[nodiscard]] bool is_hopeless() noexcept;
  /// What such waits end with.
  [[nodiscard]] static Error destroyed_before_signalled() noexcept;

  /// The work that would have signalled it failed. A counter tells its events by itself.
  void fail(std::uint64_t word) noexcept;

  /// The work that will signal it holds pins: who waits for the event shall find them released. `stream` is
  /// one of the pool's context.
  void set_debt(std::shared_ptr<Stream> stream, std::uint64_t position);

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

 private:
  Event(Context& context, std::shared_ptr<EventMemory> memory, std::uint32_t index);
  static Result<Event*> publish(std::unique_ptr<Event> event);
  void set_word(std::uint64_t value) noexcept;
  /// Boards or hosts of other processes may signal it.
  [[nodiscard]] bool is_written_elsewhere();
  /// Whose commands may signal it.
  [[nodiscard]] const std::vector<Device*>& devices() const noexcept;
  /// What `word` means to a caller.
  Status outcome(std::uint64_t word);
  void settle_debt();
  void end_hopeless_waits();
  void serve();

  Context& context_;
  EventPool* pool_ = nullptr;  ///< valid while the handle is; null: there is none
  std::shared_ptr<EventMemory>
      memory_;  ///< outlives the pool's handle; null where nothing is to be kept in it
  EventSlot* slot_ = nullptr;
  std::uint32_t index_;
  std::uint32_t signal_scope_ = 0;
  std::uint32_t wait_scope_ = 0;
  bool timestamps_ = false;
  bool counter_based_ = false;
  bool opened_ = false;
  std::uint32_t counter_flags_ = 0;
  std::atomic<Device*> timed_by_{nullptr};  ///< of this process
  std::atomic<std::uint32_t> references_{1};
  std::atomic<std::uint32_t> signals_outstanding_{0};
  std::atomic<bool> destroyed_{false};
  HandleSlot* handle_ = nullptr;
  Event* next_in_chain_ = nullptr;
  Mutex mutex_;  ///< of the following
  CounterPoint point_ DATUM_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Counter>> handed_out_ DATUM_GUARDED_BY(mutex_);  ///< that handles name
  std::atomic<bool> has_debt_{false};
  std::shared_ptr<Stream> debt_stream_ DATUM_GUARDED_BY(mutex_);
  std::uint64_t debt_position_ DATUM_GUARDED_BY(mutex_) = 0;
};

}  // namespace datum
