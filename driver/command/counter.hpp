// Counts what a queue has done for counter-based events.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <datum/base/address.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "driver/command/event_pool.hpp"

namespace datum {

class Context;

/// Who may look at a counter, and so which of a queue's two counters an event follows.
enum class CounterReach : std::uint8_t { process, processes };
inline constexpr std::size_t counter_reaches = 2;

/// A word of one queue that the board raises by one each time a command has ended that signals a
/// counter-based event; such an event is a value that the word has to reach. The word never falls: its writer
/// is one stream, in order. Lives until the stream, the last event and the last waiting command are gone.
class Counter {
 public:
  /// The word is reachable for every device of `context`. For several processes it lies in a file of its own.
  static Result<std::shared_ptr<Counter>> create(Context& context,
                                                 CounterReach reach = CounterReach::process);
  /// That another process, or this one, made for several. invalid_argument: the file holds none.
  static Result<std::shared_ptr<Counter>> open(Context& context, const OpenedFile& file);
  ~Counter();
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  [[nodiscard]] DeviceVa address() const noexcept { return device_va(&memory_->slot(reached).state); }

  /// The largest value given out so far; its stream's owner serialises, also give_out.
  [[nodiscard]] std::uint64_t given_out() const noexcept { return given_out_; }

  void give_out(std::uint64_t value) noexcept {
    given_out_ = value;
    store(given, value);
  }

  /// Of an opened one: what its owner says that it has given out.
  [[nodiscard]] std::uint64_t given_out_elsewhere() const noexcept { return load(given); }

  /// An event_word: whether `value` was reached. Any thread.
  [[nodiscard]] std::uint64_t state_at(std::uint64_t value) const noexcept;
  /// The stream failed and the board writes no more: what was not reached yet never will be. `word` is of
  /// event_word::failure.
  void fail(std::uint64_t word) noexcept;

  /// Another process's stream writes the word.
  [[nodiscard]] bool opened() const noexcept { return memory_->opened(); }

  /// A handle of its file, without a value. invalid_synchronization_object: it is for one process, or was
  /// opened.
  [[nodiscard]] Result<IpcHandleBytes> ipc_handle() const { return memory_->export_file(); }

 private:
  /// Slots of its memory: the board's word, and what the host notes.
  enum Slot : std::uint32_t { reached, reached_before_failure, given, slots };

  explicit Counter(std::shared_ptr<EventMemory> memory) noexcept : memory_(std::move(memory)) {}

  [[nodiscard]] std::uint64_t load(Slot slot) const noexcept {
    return std::atomic_ref(memory_->slot(slot).state).load(std::memory_order_acquire);
  }

  void store(Slot slot, std::uint64_t value) noexcept {
    std::atomic_ref(memory_->slot(slot).state).store(value, std::memory_order_release);
  }

  std::shared_ptr<EventMemory> memory_;
  std::uint64_t given_out_ = 0;
};

/// A counter for several processes that nobody raises, so that 0 is its only value; one for each context, and
/// only while somebody keeps it. Thread safe.
class IdleCounter {
 public:
  Result<std::shared_ptr<Counter>> get(Context& context);

 private:
  Mutex mutex_;
  std::weak_ptr<Counter> counter_ DATUM_GUARDED_BY(mutex_);
};

/// A value that a counter has to reach; `counter` null: nothing is to be waited for.
struct CounterPoint {
  std::shared_ptr<Counter> counter;
  std::uint64_t value = 0;

  [[nodiscard]] std::uint64_t state() const noexcept {
    return counter == nullptr ? event_word::signalled : counter->state_at(value);
  }
};

}  // namespace datum
