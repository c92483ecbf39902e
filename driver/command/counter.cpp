#include "driver/command/counter.hpp"

#include "driver/object/context.hpp"

namespace datum {

Result<std::shared_ptr<Counter>> Counter::create(Context& context) {
  Result<std::shared_ptr<EventMemory>> memory = EventMemory::create(context, context.devices(), 1);
  if (!memory) {
    return std::move(memory).error();
  }
  std::atomic_ref((*memory)->slot(0).state).store(0, std::memory_order_release);
  return std::shared_ptr<Counter>(new Counter(std::move(*memory)));
}

std::uint64_t Counter::state_at(std::uint64_t value) const noexcept {
  const std::uint64_t word = std::atomic_ref(memory_->slot(0).state).load(std::memory_order_acquire);
  if ((word & event_word::error_mask) != 0) {
    return value <= reached_before_failure_.load(std::memory_order_relaxed) ? event_word::signalled : word;
  }
  return word >= value ? event_word::signalled : event_word::cleared;
}

void Counter::fail(std::uint64_t word) noexcept {
  std::atomic_ref state(memory_->slot(0).state);
  if (const std::uint64_t reached = state.load(std::memory_order_acquire);
      (reached & event_word::error_mask) == 0) {
    reached_before_failure_.store(reached, std::memory_order_relaxed);
    state.store(word, std::memory_order_release);
  }
}

}  // namespace datum
