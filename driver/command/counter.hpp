// Counts what a queue has done for counter-based events.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

#include "driver/command/event_pool.hpp"

namespace datum {

class Context;

/// A word of one queue that the board raises by one each time a command has ended that signals a
/// counter-based event; such an event is a value that the word has to reach. The word never falls: its writer
/// is one stream, in order. Lives until the stream, the last event and the last waiting command are gone.
class Counter {
 public:
  /// The word is reachable for every device of `context`.
  static Result<std::shared_ptr<Counter>> create(Context& context);

  [[nodiscard]] DeviceVa address() const noexcept { return device_va(&memory_->slot(0).state); }

  /// The largest value given out so far; its stream's owner serialises, also give_out.
  [[nodiscard]] std::uint64_t given_out() const noexcept { return given_out_; }

  void give_out(std::uint64_t value) noexcept { given_out_ = value; }

  /// An event_word: whether `value` was reached. Any thread.
  [[nodiscard]] std::uint64_t state_at(std::uint64_t value) const noexcept;
  /// The stream failed and the board writes no more: what was not reached yet never will be. `word` is of
  /// event_word::failure.
  void fail(std::uint64_t word) noexcept;

 private:
  explicit Counter(std::shared_ptr<EventMemory> memory) : memory_(std::move(memory)) {}

  std::shared_ptr<EventMemory> memory_;
  std::uint64_t given_out_ = 0;
  std::atomic<std::uint64_t> reached_before_failure_{0};
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
