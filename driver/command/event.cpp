#include "driver/command/event.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "driver/command/event_pool.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/command/stream.hpp"
#include "driver/device/board.hpp"
#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {

namespace {

Error not_signalled() { return make_error(ErrorCode::not_ready, "the event is not signalled"); }

}  // namespace

Event::Event(EventPool& pool, std::uint32_t index)
    : pool_(pool), memory_(pool.memory()), slot_(&memory_->slot(index)), index_(index) {}

Event::~Event() { memory_->give_back(index_); }

Result<Event*> Event::create(EventPool& pool, std::uint32_t index, std::uint32_t signal_scope,
                             std::uint32_t wait_scope) {
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
  std::unique_ptr<Event> event(new Event(pool, index));
  event->signal_scope_ = signal_scope;
  event->wait_scope_ = wait_scope;
  event->set_word(event_word::cleared);
  event->slot_->start_ns = event->slot_->end_ns = 0;
  Result<HandleSlot*> handle = register_handle(ObjectType::event, event.get());
  if (!handle) {
    return std::move(handle).error();
  }
  event->handle_ = *handle;
  pool.add_event();
  return event.release();
}

void Event::destroy() {
  unregister_handle(handle_);
  pool_.remove_event();
  if (release()) {
    delete this;
  }
}

bool Event::has_timestamps() const noexcept { return pool_.has_timestamps(); }

bool Event::usable_by(const Device& device, const Context& context) const noexcept {
  return &memory_->context() == &context && memory_->has(device);
}

std::uint64_t Event::word() const noexcept {
  return std::atomic_ref(slot_->state).load(std::memory_order_acquire);
}

void Event::set_word(std::uint64_t value) noexcept {
  std::atomic_ref(slot_->state).store(value, std::memory_order_release);
}

Status Event::host_signal() {
  set_word(event_word::signalled);
  for (Device* device : memory_->devices()) {
    device->rings().host_changed_word();
  }
  return {};
}

Status Event::host_reset() {
  set_word(event_word::cleared);
  if (has_debt_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(debt_mutex_);
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
    const std::vector<std::unique_ptr<Device>>& all = memory_->context().driver().devices();
    const unsigned device = event_word::failed_device(word);
    if (device < all.size()) {
      return all[device]->rings().failure(event_word::failure_number(word));
    }
    return make_error(ErrorCode::unknown, "the work that would have signalled the event failed");
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
    const std::lock_guard lock(debt_mutex_);
    stream = debt_stream_;
    position = debt_position_;
  }
  if (stream == nullptr) {
    return;
  }
  for (Device* device : memory_->devices()) {
    if (stream->device_index() != device->index()) {
      continue;
    }
    const std::uint64_t lag_ns = limits::scaled(limits::record_lag_ns, device->board().function().clock());
    static_cast<void>(device->rings().wait(*stream, position, lag_ns));
  }
  const std::lock_guard lock(debt_mutex_);
  if (debt_stream_ == stream && debt_position_ == position) {
    debt_stream_.reset();
    has_debt_.store(false, std::memory_order_release);
  }
}

void Event::set_debt(std::shared_ptr<Stream> stream, std::uint64_t position) {
  const std::lock_guard lock(debt_mutex_);
  debt_stream_ = std::move(stream);
  debt_position_ = position;
  has_debt_.store(true, std::memory_order_release);
}

void Event::pump() {
  for (Device* device : memory_->devices()) {
    device->rings().pump();
  }
}

Status Event::query() {
  std::uint64_t now = word();
  if (now == event_word::cleared) {
    // A failure upstream reaches the word only when somebody looks; and a polling loop has to let a stepped
    // board run.
    pump();
    memory_->devices().front()->board().function().relax();
    now = word();
    if (now == event_word::cleared) {
      for (Device* device : memory_->devices()) {
        if (device->board().is_lost()) {
          return device->board().health();
        }
      }
    }
  }
  return outcome(now);
}

Status Event::synchronize(std::uint64_t timeout_ns) {
  const std::vector<Device*>& devices = memory_->devices();
  const auto ready = [&] {
    if (word() != event_word::cleared) {
      return true;
    }
    pump();
    return word() != event_word::cleared;
  };
  // The interrupts of one board wake the wait; words that other boards write are looked at now and then.
  const std::uint64_t slice_ns = devices.size() > 1 ? limits::foreign_word_poll_ns : ~0ULL;
  const std::uint64_t deadline_ns = saturating_add(host_now_ns(), timeout_ns);
  while (true) {
    const std::uint64_t now_ns = host_now_ns();
    const std::uint64_t left_ns =
        timeout_ns == ~0ULL ? ~0ULL : (deadline_ns > now_ns ? deadline_ns - now_ns : 0);
    Status waited = devices.front()->board().hub().wait(ready, std::min(left_ns, slice_ns));
    if (waited) {
      return outcome(word());
    }
    if (waited.error().code != ErrorCode::not_ready || left_ns <= slice_ns) {
      return waited.error().code == ErrorCode::not_ready ? Status{not_signalled()} : waited;
    }
  }
}

Result<EventTimes> Event::times() {
  if (!has_timestamps()) {
    return make_error(ErrorCode::invalid_argument, "the event's pool keeps no timestamps",
                      "create the pool with ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP");
  }
  if (Status state = query(); !state) {
    return std::move(state).error();
  }
  return EventTimes{std::atomic_ref(slot_->start_ns).load(std::memory_order_relaxed),
                    std::atomic_ref(slot_->end_ns).load(std::memory_order_relaxed)};
}

}  // namespace datum
