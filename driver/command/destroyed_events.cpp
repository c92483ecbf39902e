// Events whose handle was destroyed while commands name them: those that can still be signalled are, the
// others end what waits for them.
#include <new>

#include "driver/command/event.hpp"
#include "driver/command/event_pool.hpp"
#include "driver/command/failure_words.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/command/stream_feeder.hpp"
#include "driver/object/device.hpp"

namespace datum {

Error Event::destroyed_before_signalled() noexcept {
  try {
    return make_error(ErrorCode::unknown, "its event was destroyed and nothing was left that could signal it",
                      "destroy an event when the work that waits for it has ended");
  } catch (const std::bad_alloc&) {
    return {};  // without words: the waits have to end all the same
  }
}

bool Event::is_destroyed_unsignalled() noexcept {
  return !counter_based_ && destroyed_.load(std::memory_order_acquire) && word() == event_word::cleared;
}

bool Event::is_hopeless() noexcept {
  // Another process may signal what it shares at any time.
  return is_destroyed_unsignalled() && (memory_ == nullptr || !memory_->shared()) &&
         references_.load(std::memory_order_acquire) > 1 &&
         signals_outstanding_.load(std::memory_order_acquire) == 0;
}

void Event::end_hopeless_waits() {
  Device& device = *devices().front();
  set_word(failure_word(device, device.rings().note_failure(destroyed_before_signalled())));
  for (Device* each : devices()) {
    each->rings().host_changed_word();
  }
}

void StreamFeeder::end_event(const SlotNote& note, Aftermath& after) noexcept {
  if (note.signals) {
    note.event->signal_ended();
  }
  if (note.event->is_hopeless()) {
    const std::uint32_t number = failures_.add(Event::destroyed_before_signalled());
    note.event->fail(failure_word(device_, number));
    after.words_changed = true;
  }
  if (note.event->release()) {
    note.event->chain_behind(after.last_references);
  }
}

bool StreamFeeder::waits_for_destroyed_event(Stream& stream) {
  const auto stuck = [](Event* event, bool signals) {
    return event != nullptr && !signals && event->is_destroyed_unsignalled();
  };
  for (std::size_t index = stream.pending_head_; index < stream.pending_.size(); ++index) {
    if (stuck(stream.pending_[index].event, stream.pending_[index].signals)) {
      return true;
    }
  }
  if (stream.ring_ == nullptr) {
    return false;
  }
  const Ring& ring = stream.ring_->ring;
  for (std::uint32_t slot = ring.completed(); slot != ring.filled(); ++slot) {
    const SlotNote& note = stream.ring_->note(slot + 1);
    if (stuck(note.event, note.signals)) {
      return true;
    }
  }
  return false;
}

}  // namespace datum
