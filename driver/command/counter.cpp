#include "driver/command/counter.hpp"

#include <datum/base/mutex.hpp>

#include "driver/object/context.hpp"

namespace datum {

Result<std::shared_ptr<Counter>> Counter::create(Context& context, CounterReach reach) {
  Result<std::shared_ptr<EventMemory>> memory =
      reach == CounterReach::process ? EventMemory::create(context, context.devices(), slots)
                                     : EventMemory::create_shared(context, context.devices(), slots,
                                                                  shared_pool_flag, SharedKind::counter);
  if (!memory) {
    return std::move(memory).error();
  }
  std::shared_ptr<Counter> counter(new Counter(std::move(*memory)));
  for (const Slot slot : {reached, reached_before_failure, given}) {
    counter->store(slot, 0);
  }
  return counter;
}

Result<std::shared_ptr<Counter>> Counter::open(Context& context, const OpenedFile& file) {
  Result<std::shared_ptr<EventMemory>> memory = EventMemory::open(context, file, SharedKind::counter);
  if (!memory) {
    return std::move(memory).error();
  }
  if ((*memory)->count() != slots) {
    return make_error(ErrorCode::invalid_argument, "the memory holds no counter of this layout",
                      "both processes need the same version of the driver");
  }
  return std::shared_ptr<Counter>(new Counter(std::move(*memory)));
}

Counter::~Counter() { memory_->end_export(); }

Result<std::shared_ptr<Counter>> IdleCounter::get(Context& context) {
  const ScopedLock lock(mutex_);
  if (std::shared_ptr<Counter> kept = counter_.lock()) {
    return kept;
  }
  Result<std::shared_ptr<Counter>> made = Counter::create(context, CounterReach::processes);
  if (made) {
    counter_ = *made;
  }
  return made;
}

std::uint64_t Counter::state_at(std::uint64_t value) const noexcept {
  const std::uint64_t word = load(reached);
  if ((word & event_word::error_mask) != 0) {
    return value <= load(reached_before_failure) ? event_word::signalled : word;
  }
  return word >= value ? event_word::signalled : event_word::cleared;
}

void Counter::fail(std::uint64_t word) noexcept {
  if (const std::uint64_t last = load(reached); (last & event_word::error_mask) == 0) {
    store(reached_before_failure, last);
    store(reached, word);
  }
}

}  // namespace datum
