#include "driver/command/stream_feeder.hpp"

#include <algorithm>

#include "driver/command/counter.hpp"
#include "driver/command/event.hpp"
#include "driver/command/failure_words.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/command/waited_word.hpp"
#include "driver/device/board.hpp"
#include "driver/device/limits.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {

namespace {

bool names_two_spaces(hw::Opcode opcode) {
  return opcode == hw::Opcode::copy || opcode == hw::Opcode::copy_region;
}

bool may_name_spaces(const Ring& ring, unsigned own_space, const hw::Descriptor& descriptor) {
  const SpaceSet& spaces = ring.spaces();
  return spaces.contains(own_space) &&
         (!names_two_spaces(descriptor.opcode()) ||
          (spaces.contains(descriptor.src_space()) && spaces.contains(descriptor.dst_space())));
}

}  // namespace

StreamFeeder::StreamFeeder(Device& device)
    : device_(device), pool_(device), failures_(limits::kept_failures) {}

void StreamFeeder::advance(bool thorough, Aftermath& after) {
  for (Stream* stream : active_) {
    poll(*stream, thorough, after);
  }
  // A stream that gives its ring up may make room for an older one that was passed over.
  for (bool again = true; again;) {
    again = false;
    for (Stream* stream : active_) {
      again = feed(*stream, after) || again;
    }
  }
  drop_inactive();
}

void StreamFeeder::poll(Stream& stream, bool thorough, Aftermath& after) {
  if (stream.ring_ == nullptr) {
    return;
  }
  Ring& ring = stream.ring_->ring;
  const std::uint32_t from = ring.completed();
  std::optional<RingFault> fault = thorough ? ring.poll_registers() : ring.poll();
  retire(stream, from, after);
  if (fault) {
    fail(stream, describe_failure(stream, *fault), after);
  }
}

void StreamFeeder::retire(Stream& stream, std::uint32_t from, Aftermath& after) {
  Ring& ring = stream.ring_->ring;
  for (std::uint32_t number = from; number != ring.completed(); ++number) {
    SlotNote& note = stream.ring_->note(number + 1);
    if (note.event != nullptr) {
      end_event(note, after);
      note = {};
    }
  }
  finish_positions(stream, after);
}

void StreamFeeder::finish_positions(Stream& stream, Aftermath& after) {
  const std::uint32_t in_ring =
      stream.ring_ != nullptr ? stream.ring_->ring.filled() - stream.ring_->ring.completed() : 0;
  stream.completed_ = stream.fed_ - in_ring;
  const auto ended = static_cast<std::size_t>(
      std::find_if(stream.keeps_.begin(), stream.keeps_.end(),
                   [&](const Stream::HeldKeep& kept) { return kept.position > stream.completed_; }) -
      stream.keeps_.begin());
  if (ended != 0) {
    make_room(after, ended);  // where there is none, whoever looks next lets go of them
    for (std::size_t index = 0; index < ended; ++index) {
      after.keeps.push_back(std::move(stream.keeps_.front().keep));
      stream.keeps_.pop_front();
    }
    after.releasing.push_back(&stream);
    ++stream.releasing_;
  }
  if (stream.releasing_ == 0) {
    stream.retired_.store(stream.completed_, std::memory_order_release);
  }
}

/// For a stream, and so many of its keeps.
void StreamFeeder::make_room(Aftermath& after, std::size_t keeps) {
  const auto grow = [](auto& list, std::size_t more) {
    if (const std::size_t needed = list.size() + more; needed > list.capacity()) {
      list.reserve(std::max(needed, 2 * list.capacity()));
    }
  };
  grow(after.keeps, keeps);
  grow(after.releasing, 1);
}

void StreamFeeder::released(Aftermath& after) {
  for (Stream* stream : after.releasing) {
    if (--stream->releasing_ == 0) {
      stream->retired_.store(stream->completed_, std::memory_order_release);
    }
  }
  after.releasing.clear();
}

/// True: a ring was given up.
bool StreamFeeder::feed(Stream& stream, Aftermath& after) {
  while (stream.has_pending()) {
    if (stream.ring_ == nullptr && !acquire(stream, after)) {
      return false;
    }
    if (!stream.has_pending()) {
      break;
    }
    LentRing& lent = *stream.ring_;
    const hw::Descriptor& next = stream.pending_[stream.pending_head_].descriptor;
    if (!stream.may_park_ && next.opcode() == hw::Opcode::wait_value) {
      if (!lent.drained()) {
        break;
      }
      if (!skip_held_waits(stream, after)) {
        give_up_ring(stream);
        return true;
      }
      continue;
    }
    bool ready = false;
    if (Status prepared = prepare_ring(stream, next, ready); !prepared) {
      fail(stream, prepared.error(), after);
      return true;
    }
    if (!ready || lent.ring.free_slots() == 0) {
      break;
    }
    put(stream);
  }
  if (stream.ring_ != nullptr && stream.active_) {
    stream.ring_->ring.ring_doorbell();
    after.doorbell = true;
  }
  return false;
}

/// Gets a ring for a stream that has work but none. False: there is none for it now.
bool StreamFeeder::acquire(Stream& stream, Aftermath& after) {
  const unsigned available = pool_.available();
  stream.may_park_ = available > pool_.reserve();
  stream.host_parked_ = false;
  if (!stream.may_park_) {
    if (!skip_held_waits(stream, after) || !stream.has_pending()) {
      return false;
    }
  }
  if (available == 0) {
    return false;
  }
  stream.ring_ = pool_.take(stream);
  return stream.ring_ != nullptr;
}

/// Passes waits at the head of the stream whose condition holds; everything before them has ended. False: one
/// does not hold, or failed the stream.
bool StreamFeeder::skip_held_waits(Stream& stream, Aftermath& after) {
  while (stream.has_pending() &&
         stream.pending_[stream.pending_head_].descriptor.opcode() == hw::Opcode::wait_value) {
    StreamItem& item = stream.pending_[stream.pending_head_];
    const Held held = look_at_waited_word(item.descriptor);
    if (held == Held::failed) {
      fail(stream, dependency_error(stream, item.descriptor), after);
      return false;
    }
    if (held == Held::no) {
      stream.host_parked_ = true;
      return false;
    }
    if (item.event != nullptr) {
      end_event({item.event, false}, after);
    }
    ++stream.pending_head_;
    ++stream.fed_;
    finish_positions(stream, after);
    after.wake = true;
  }
  return true;
}

/// `ready`: `next` may be put. False while the ring has to drain first, to be started anew with other spaces.
Status StreamFeeder::prepare_ring(Stream& stream, const hw::Descriptor& next, bool& ready) {
  LentRing& lent = *stream.ring_;
  ready = lent.ring.running() && may_name_spaces(lent.ring, stream.space(), next);
  if (ready || !lent.drained()) {
    return {};
  }
  SpaceSet spaces;
  spaces.add(stream.space());
  if (names_two_spaces(next.opcode())) {
    spaces.add(next.src_space());
    spaces.add(next.dst_space());
  }
  if (Status stopped = lent.ring.stop(); !stopped) {
    return stopped;
  }
  ready = true;
  return lent.ring.start(spaces);
}

/// What is behind the head of the stream cannot go into the ring before the head has ended: the host has to
/// hear of that.
bool StreamFeeder::drains_after_head(const Stream& stream) {
  if (stream.pending_head_ + 1 == stream.pending_.size()) {
    return false;
  }
  const hw::Descriptor& behind = stream.pending_[stream.pending_head_ + 1].descriptor;
  return (!stream.may_park_ && behind.opcode() == hw::Opcode::wait_value) ||
         !may_name_spaces(stream.ring_->ring, stream.space(), behind);
}

void StreamFeeder::put(Stream& stream) {
  LentRing& lent = *stream.ring_;
  StreamItem& item = stream.pending_[stream.pending_head_];
  const std::uint32_t next = lent.ring.filled() + 1;
  // Slots come free as the host hears of their end: often enough that the ring never runs dry while there is
  // more to put.
  if (next % (lent.ring.size() / 4) == 0 || drains_after_head(stream)) {
    item.descriptor.set_flag_complete(true).set_flag_interrupt(true);
  }
  lent.note(next) = {item.event, item.signals};
  lent.ring.put(item.descriptor);
  ++stream.pending_head_;
  ++stream.fed_;
}

void StreamFeeder::give_up_ring(Stream& stream) {
  if (stream.ring_ != nullptr) {
    stream.ring_->owner = nullptr;
    stream.ring_ = nullptr;
  }
}

void StreamFeeder::drop_inactive() {
  std::erase_if(active_, [](Stream* stream) {
    const bool done =
        !stream->has_pending() && stream->completed_ == stream->submitted_.load(std::memory_order_relaxed);
    if (done) {
      stream->active_ = false;  // the ring stays with the stream until another one wants it
      stream->host_parked_ = false;
    }
    return done;
  });
}

void StreamFeeder::fail(Stream& stream, Error error, Aftermath& after) {
  make_room(after, stream.keeps_.size());  // first, for half a failure would never end for who waits
  const std::uint32_t number = failures_.add(std::move(error));
  const std::uint64_t word = failure_word(device_, number);
  const auto end_with_error = [&](const SlotNote& note) {
    if (note.event == nullptr) {
      return;
    }
    if (note.signals) {
      note.event->fail(word);
    }
    end_event(note, after);
  };
  const std::uint64_t failed_at = stream.completed_ + 1;
  if (LentRing* lent = stream.ring_; lent != nullptr) {
    // Stopped first: the board must not write an event word after the host did.
    static_cast<void>(lent->ring.stop());
    for (std::uint32_t slot = lent->ring.completed(); slot != lent->ring.filled(); ++slot) {
      end_with_error(lent->note(slot + 1));
      lent->note(slot + 1) = {};
    }
    lent->ring.forget();
    give_up_ring(stream);
  }
  for (const std::shared_ptr<Counter>& counter : stream.counters_) {
    if (counter != nullptr) {
      counter->fail(word);
    }
  }
  for (; stream.has_pending(); ++stream.pending_head_) {
    const StreamItem& item = stream.pending_[stream.pending_head_];
    end_with_error({item.event, item.signals});
  }
  stream.fed_ = stream.submitted_.load(std::memory_order_relaxed);
  stream.failed_at_ = failed_at;
  stream.failure_number_ = number;
  stream.failed_.store(true, std::memory_order_release);
  finish_positions(stream, after);
  after.words_changed = true;
}

void StreamFeeder::fail_all(const Error& error, Aftermath& after) {
  for (Stream* stream : active_) {
    fail(*stream, error, after);
  }
  drop_inactive();
}

void StreamFeeder::forget(Stream& stream) {
  give_up_ring(stream);
  std::erase(active_, &stream);
}

WorkingRings StreamFeeder::working_rings() const noexcept {
  WorkingRings rings;
  for (const Stream* stream : active_) {
    if (stream->ring_ != nullptr && !stream->ring_->drained()) {
      rings.first[rings.count++] = stream->ring_;
    }
  }
  return rings;
}

bool StreamFeeder::needs_host() const noexcept {
  return std::any_of(active_.begin(), active_.end(), [](const Stream* stream) {
    return stream->has_pending() || (stream->steps_ != nullptr && stream->steps_->outstanding());
  });
}

bool StreamFeeder::needs_call() const noexcept {
  return std::any_of(active_.begin(), active_.end(), [](const Stream* stream) {
    return stream->steps_ != nullptr && stream->steps_->calls_outstanding();
  });
}

}  // namespace datum
