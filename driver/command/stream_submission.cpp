// How a stream takes what is submitted to it: whole or not at all.
#include <algorithm>
#include <cstddef>
#include <new>

#include "driver/command/event.hpp"
#include "driver/command/stream_feeder.hpp"

namespace datum {

Result<std::uint64_t> StreamFeeder::submit(const std::shared_ptr<Stream>& stream, Submission& submission,
                                           Aftermath& after) {
  if (submission.items.empty()) {
    return stream->submitted_.load(std::memory_order_relaxed);
  }
  make_room(*stream, submission);
  take(stream, submission);
  const std::uint64_t end = stream->submitted_.load(std::memory_order_relaxed);
  try {
    if (feed(*stream, after)) {
      advance(false, after);
    }
  } catch (const std::bad_alloc&) {
    // The work was taken, and must not be reported as refused: what is not in a ring yet is fed by whoever
    // looks at the stream next.
    after.wake = true;
  }
  return end;
}

/// Everything of take() for which memory may run out. Then the stream is as it was.
void StreamFeeder::make_room(Stream& stream, const Submission& submission) {
  if (active_.size() == active_.capacity()) {
    active_.reserve(2 * active_.size() + 8);
  }
  if (const std::size_t needed = stream.pending_.size() + submission.items.size();
      stream.has_pending() && needed > stream.pending_.capacity()) {
    stream.pending_.reserve(std::max(needed, 2 * stream.pending_.capacity()));
  }
  const std::uint64_t before = stream.submitted_.load(std::memory_order_relaxed);
  const std::size_t kept = stream.keeps_.size();
  try {
    for (const SubmittedKeep& keep : submission.keeps) {
      stream.keeps_.push_back({before + keep.items, {}});
    }
    if (!submission.steps.empty()) {
      stream.steps_->add(submission.steps);
    }
  } catch (...) {
    while (stream.keeps_.size() != kept) {
      stream.keeps_.pop_back();
    }
    throw;
  }
}

/// After make_room().
void StreamFeeder::take(const std::shared_ptr<Stream>& stream, Submission& submission) noexcept {
  Stream& s = *stream;
  const std::uint64_t before = s.submitted_.load(std::memory_order_relaxed);
  // Whoever waits for the stream is woken at its end.
  submission.items.back().descriptor.set_flag_complete(true).set_flag_interrupt(true);
  auto room = s.keeps_.end() - static_cast<std::ptrdiff_t>(submission.keeps.size());
  for (SubmittedKeep& kept : submission.keeps) {
    (room++)->keep = std::move(kept.keep);
  }
  for (std::size_t index = 0; index < submission.items.size(); ++index) {
    const StreamItem& item = submission.items[index];
    if (item.signals) {
      item.event->signal_begun();
      if (!s.keeps_.empty()) {
        item.event->set_debt(stream, before + index + 1);
      }
    }
  }
  const std::uint64_t end = before + submission.items.size();
  if (!s.has_pending()) {
    s.pending_.clear();
    s.pending_head_ = 0;
    s.pending_.swap(submission.items);
  } else {
    s.pending_.insert(s.pending_.end(), submission.items.begin(), submission.items.end());
  }
  submission.items.clear();
  submission.keeps.clear();
  submission.steps.clear();
  s.submitted_.store(end, std::memory_order_release);
  if (!s.active_) {
    s.may_park_ = pool_.available() > pool_.reserve();
    s.active_ = true;
    const auto behind = std::find_if(active_.begin(), active_.end(),
                                     [&](const Stream* other) { return other->rank_ > s.rank_; });
    active_.insert(behind, &s);
  }
}

}  // namespace datum
