#include "driver/command/event.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/command/event_pool.hpp"
#include "driver/command/failure_words.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/command/stream.hpp"
#include "driver/device/board.hpp"
#include "driver/device/limits.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/rollback.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {

namespace {

Error not_signalled() { return make_error(ErrorCode::not_ready, "the event is not signalled"); }

Error host_cannot_change() {
  return make_error(ErrorCode::invalid_synchronization_object,
                    "a counter-based event is neither signalled nor reset by the host",
                    "append a command that signals it; it follows the last one");
}

}  // namespace

Event::Event(Context& context, std::shared_ptr<EventMemory> memory, std::uint32_t index)
    : context_(context), memory_(std::move(memory)), index_(index) {
  if (memory_ != nullptr) {
    slot_ = &memory_->slot(index);
    if (!memory_->opened()) {  // else another process may have signalled it already
      slot_->start_ns = slot_->end_ns = slot_->timed_by = 0;
      set_word(event_word::cleared);
    }
  }
}

Event::~Event() {
  if (pool_ == nullptr) {
    context_.remove_child();
  }
  if (memory_ != nullptr) {
    memory_->give_back(index_);
  }
}

Result<Event*> Event::create(EventPool& pool, std::uint32_t index, std::uint32_t signal_scope,
                             std::uint32_t wait_scope) {
  if (Status alive = pool.context().alive(); !alive) {
    return std::move(alive).error();
  }
  EventMemory& memory = *pool.memory();
  if (index >= pool.count()) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("event index {} is outside the pool of {}", index, pool.count()));
  }
  if (!memory.take(index)) {
    // An event that was destroyed while its last descriptor ended keeps the slot until the host takes note.
    for (Device* device : memory.devices()) {
      device->rings().pump();
    }
    if (!memory.take(index)) {
      return make_error(ErrorCode::invalid_argument, fmt::format("event index {} is in use", index),
                        "destroy the event of that index first; one that the board still works with keeps "
                        "its index until then");
    }
  }
  Rollback undo([&]() noexcept { memory.give_back(index); });
  std::unique_ptr<Event> event(new Event(pool.context(), pool.memory(), index));
  undo.dismiss();  // the event does it
  event->pool_ = &pool;
  event->signal_scope_ = signal_scope;
  event->wait_scope_ = wait_scope;
  event->timestamps_ = pool.has_timestamps();
  event->counter_flags_ = pool.counter_flags();
  event->counter_based_ = pool.counter_flags() != 0;
  Result<Event*> published = publish(std::move(event));
  if (published) {
    pool.add_event(**published);
  }
  return published;
}

Result<Event*> Event::create_counter_based(Context& context, const CounterBasedSettings& settings) {
  std::shared_ptr<EventMemory> memory;
  if (settings.timestamps) {
    Result<std::shared_ptr<EventMemory>> made = EventMemory::create(context, context.devices(), 1);
    if (!made) {
      return std::move(made).error();
    }
    memory = std::move(*made);
    memory->take(0);  // goes with the memory if there is no event
  }
  std::unique_ptr<Event> event(new Event(context, std::move(memory), 0));
  context.add_child();  // what a pool is for its events
  event->signal_scope_ = settings.signal_scope;
  event->wait_scope_ = settings.wait_scope;
  event->timestamps_ = settings.timestamps;
  event->counter_based_ = true;
  event->counter_flags_ = settings.flags;
  return publish(std::move(event));
}

bool Event::is_written_elsewhere() {
  if (!counter_based_) {
    return memory_->shared();
  }
  const CounterPoint now = point();
  return now.counter != nullptr && now.counter->opened();
}

Result<Event*> Event::publish(std::unique_ptr<Event> event) {
  Result<HandleSlot*> handle = register_handle(ObjectType::event, event.get());
  if (!handle) {
    return std::move(handle).error();
  }
  event->handle_ = *handle;
  return event.release();
}

void Event::destroy() {
  unregister_handle(handle_);
  if (pool_ != nullptr) {
    pool_->remove_event(*this);
  }
  destroyed_.store(true, std::memory_order_release);
  if (is_hopeless()) {
    end_hopeless_waits();
  }
  if (release()) {
    delete this;
  }
}

const std::vector<Device*>& Event::devices() const noexcept {
  return counter_based_ ? context_.devices() : memory_->devices();
}

bool Event::usable_by(const Device& device, const Context& context) const noexcept {
  return &context_ == &context && (counter_based_ ? context.has(device) : memory_->has(device));
}

CounterPoint Event::point() {
  const ScopedLock lock(mutex_);
  return point_;
}

void Event::follow(CounterPoint point) {
  CounterPoint former;  // may be the last one of its counter, whose end takes time
  const ScopedLock lock(mutex_);
  former = std::exchange(point_, std::move(point));
}

std::uint64_t Event::word() {
  if (counter_based_) {
    return point().state();
  }
  const std::uint64_t word = std::atomic_ref(slot_->state).load(std::memory_order_acquire);
  // As the boards see it: other bits, which only a process gone astray sets, mean nothing.
  return (word & (event_word::signalled_mask | event_word::error_mask)) != 0 ? word : event_word::cleared;
}

void Event::fail(std::uint64_t word) noexcept {
  if (!counter_based_) {
    set_word(word);
  }
}

void Event::set_word(std::uint64_t value) noexcept {
  std::atomic_ref(slot_->state).store(value, std::memory_order_release);
}

Status Event::host_signal() {
  if (counter_based_) {
    return host_cannot_change();
  }
  if (Status alive = context_.alive(); !alive) {
    return alive;
  }
  set_word(event_word::signalled);
  for (Device* device : devices()) {
    device->rings().host_changed_word();
  }
  return {};
}

Status Event::host_reset() {
  if (counter_based_) {
    return host_cannot_change();
  }
  if (Status alive = context_.alive(); !alive) {
    return alive;
  }
  set_word(event_word::cleared);
  if (has_debt_.load(std::memory_order_acquire)) {
    const ScopedLock lock(mutex_);
    debt_stream_.reset();
    has_debt_.store(false, std::memory_order_release);
  }
  return {};
}

Status Event::outcome(std::uint64_t word) {
  if (word == event_word::cleared) {
    return not_signalled();
  }
  settle_debt();
  if ((word & event_word::error_mask) != 0) {
    return find_failure(context_.driver(), word);
  }
  return {};
}

/// The word may be there a moment before the driver has released what the signalling work had pinned.
void Event::settle_debt() {
  if (!has_debt_.load(std::memory_order_acquire)) {
    return;
  }
  std::shared_ptr<Stream> stream;
  std::uint64_t position = 0;
  {
    const ScopedLock lock(mutex_);
    stream = debt_stream_;
    position = debt_position_;
  }
  if (stream == nullptr) {
    return;
  }
  for (Device* device : devices()) {
    if (stream->device_index() != device->index()) {
      continue;
    }
    const std::uint64_t lag_ns = limits::scaled(limits::record_lag_ns, device->board().function().clock());
    static_cast<void>(device->rings().wait(*stream, position, lag_ns));
  }
  const ScopedLock lock(mutex_);
  if (debt_stream_ == stream && debt_position_ == position) {
    debt_stream_.reset();
    has_debt_.store(false, std::memory_order_release);
  }
}

void Event::set_debt(std::shared_ptr<Stream> stream, std::uint64_t position) {
  const ScopedLock lock(mutex_);
  debt_stream_ = std::move(stream);
  debt_position_ = position;
  has_debt_.store(true, std::memory_order_release);
}

void Event::serve() {
  for (Device* device : devices()) {
    device->rings().serve();
  }
}

Status Event::query() {
  std::uint64_t now = word();
  if (now == event_word::cleared) {
    // A failure upstream reaches the word only when somebody looks; and a polling loop has to let a stepped
    // board run.
    serve();
    for (Device* device : devices()) {
      device->board().function().relax();
    }
    now = word();
    if (now == event_word::cleared) {
      if (Status alive = context_.alive(); !alive) {
        return alive;
      }
    }
  }
  return outcome(now);
}

Status Event::synchronize(std::uint64_t timeout_ns) {
  const std::vector<Device*>& all = devices();
  // Of a lost board, or one that was reset, nobody signals any longer.
  const auto ready = [&] {
    if (word() != event_word::cleared) {
      return true;
    }
    serve();
    return word() != event_word::cleared || context_.is_lost();
  };
  // The interrupts of one board wake the wait; words that other boards or processes write are looked at now
  // and then.
  const bool foreign = all.size() > 1 || is_written_elsewhere();
  Status waited =
      all.front()->board().hub().wait(ready, timeout_ns, foreign ? limits::foreign_word_poll_ns : ~0ULL);
  if (waited) {
    const std::uint64_t now = word();
    Status alive = now == event_word::cleared ? context_.alive() : Status{};
    return alive ? outcome(now) : alive;
  }
  return waited.error().code == ErrorCode::not_ready ? Status{not_signalled()} : waited;
}

Device* Event::timed_by() const noexcept {
  return timed_elsewhere() ? nullptr : timed_by_.load(std::memory_order_acquire);
}

bool Event::timed_elsewhere() const noexcept {
  if (memory_ == nullptr || !memory_->shared()) {
    return false;
  }
  const std::uint64_t by = std::atomic_ref(slot_->timed_by).load(std::memory_order_acquire);
  return by != 0 && event_word::failed_process(by) != context_.driver().exports().process_tag();
}

void Event::set_timed_by(Device& device) noexcept {
  timed_by_.store(&device, std::memory_order_release);
  if (memory_ != nullptr && memory_->shared()) {
    std::atomic_ref(slot_->timed_by).store(failure_word(device, 0), std::memory_order_release);
  }
}

Result<EventTimes> Event::times() {
  if (!has_timestamps()) {
    return make_error(ErrorCode::invalid_argument, "the event keeps no timestamps",
                      "create its pool with ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP");
  }
  if (Status state = query(); !state) {
    return std::move(state).error();
  }
  return EventTimes{std::atomic_ref(slot_->start_ns).load(std::memory_order_relaxed),
                    std::atomic_ref(slot_->end_ns).load(std::memory_order_relaxed)};
}

}  // namespace datum
