#include "driver/command/ring_scheduler.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/hw/registers.hpp>

#include "driver/command/counter.hpp"
#include "driver/command/event.hpp"
#include "driver/command/ring_scheduler_impl.hpp"
#include "driver/device/board.hpp"
#include "driver/device/limits.hpp"
#include "driver/object/device.hpp"

namespace datum {

RingScheduler::RingScheduler() = default;

Result<std::unique_ptr<RingScheduler>> RingScheduler::create(Device& device) {
  std::unique_ptr<RingScheduler> scheduler(new RingScheduler);
  scheduler->impl_ = std::make_unique<Impl>(device);
  Result<std::unique_ptr<OwnRing>> own = OwnRing::create(device);
  if (!own) {
    return std::move(own).error();
  }
  scheduler->impl_->own = std::move(*own);
  const ScopedLock lock(scheduler->impl_->mutex);
  if (Status first = scheduler->impl_->feeder.make_first_ring(); !first) {
    return std::move(first).error();
  }
  return scheduler;
}

RingScheduler::~RingScheduler() { end_worker(); }

void RingScheduler::end_worker() {
  impl_->stopping.store(true);
  {
    const ScopedLock lock(impl_->worker_mutex);
    impl_->worker_wanted.notify_all();
  }
  impl_->device.board().hub().notify();
  if (impl_->worker.joinable()) {
    impl_->worker.join();
  }
}

Status RingScheduler::clear_pages(std::span<const PageRun> runs) { return impl_->own->clear(runs); }

Status RingScheduler::synchronize(std::uint64_t timeout_ns) {
  struct Target {
    std::shared_ptr<Stream> stream;
    std::uint64_t position;
  };

  std::vector<Target> targets;
  {
    const ScopedLock lock(impl_->mutex);
    for (Stream* stream : impl_->feeder.active()) {
      targets.push_back({stream->shared_from_this(), stream->submitted()});
    }
  }
  Status waited = impl_->device.board().hub().wait(
      [&] {
        impl_->serve();
        return std::all_of(targets.begin(), targets.end(),
                           [](const Target& target) { return target.stream->retired() >= target.position; });
      },
      timeout_ns);
  for (const Target& target : targets) {
    if (!waited) {
      break;
    }
    waited = outcome(*target.stream, target.position);
  }
  return waited;
}

std::shared_ptr<Stream> RingScheduler::open_stream(Context& context, QueueRank rank) {
  return std::make_shared<Stream>(context, impl_->device, rank);
}

Status RingScheduler::close_stream(Stream& stream) {
  Status ended = wait(stream, stream.submitted(),
                      limits::scaled(limits::record_lag_ns, impl_->device.board().function().clock()));
  UniqueLock lock(impl_->mutex);
  // What has ended and is still being let go of, by another thread, is waited for below.
  const bool outstanding = stream.completed_ != stream.submitted();
  if (!outstanding && !ended && ended.error().code == ErrorCode::not_ready) {
    ended = {};
  }
  if (!ended && ended.error().code == ErrorCode::not_ready) {
    if (!StreamFeeder::waits_for_destroyed_event(stream)) {
      return make_error(ErrorCode::handle_object_in_use, "the queue still has work outstanding",
                        "synchronise before destroying it");
    }
    ended = Event::destroyed_before_signalled();
  }
  if (stream.active_) {  // a lost board, or a wait that nobody will end
    Aftermath after;
    impl_->feeder.fail(
        stream, ended ? make_error(ErrorCode::device_lost, "the board is lost") : ended.error(), after);
    impl_->settle(after);
  }
  while (stream.releasing_ != 0) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  impl_->feeder.forget(stream);
  impl_->update_hints();
  std::unique_ptr<HostSteps> steps = std::move(stream.steps_);
  lock.unlock();
  return {};
}

Result<HostSteps*> RingScheduler::host_steps(Stream& stream) {
  {
    const ScopedLock lock(impl_->mutex);
    if (stream.steps_ != nullptr) {
      return stream.steps_.get();
    }
  }
  Result<std::unique_ptr<HostSteps>> made = HostSteps::create(impl_->device, stream.context());
  if (!made) {
    return std::move(made).error();
  }
  const ScopedLock lock(impl_->mutex);
  stream.steps_ = std::move(*made);
  return stream.steps_.get();
}

Result<std::shared_ptr<Counter>> RingScheduler::counter(Stream& stream, CounterReach reach) {
  std::shared_ptr<Counter>& place = stream.counters_[static_cast<std::size_t>(reach)];
  {
    const ScopedLock lock(impl_->mutex);
    if (place != nullptr) {
      return place;
    }
  }
  Result<std::shared_ptr<Counter>> made = Counter::create(stream.context(), reach);
  if (made) {
    const ScopedLock lock(impl_->mutex);
    place = *made;
  }
  return made;
}

Result<std::uint64_t> RingScheduler::submit(const std::shared_ptr<Stream>& stream, Submission& submission) {
  Aftermath after;
  UniqueLock lock(impl_->mutex);
  // With the lock: a reset that begins later ends this work, and one that has ended the work is seen here.
  if (impl_->device.board().is_lost()) {
    if (Status health = impl_->device.board().health(); !health) {
      return std::move(health).error();
    }
  }
  if (stream->board_life() != impl_->device.board().life() || stream->context().outlived_by_board()) {
    return Context::lost_to_reset();
  }
  if (stream->failed()) {
    Error error = impl_->failures.find(stream->failure_number());
    error.message = "the queue failed before and takes no more work: " + error.message;
    return error;
  }
  Result<std::uint64_t> end = impl_->settled_if_thrown(after, [&] {
    impl_->mutex.assert_held();
    return impl_->feeder.submit(stream, submission, after);
  });
  impl_->update_hints();
  impl_->settle(after);
  lock.unlock();
  if (impl_->needs_worker()) {
    impl_->want_worker();
  }
  return end;
}

Status RingScheduler::outcome(Stream& stream, std::uint64_t position) {
  if (stream.retired() < position) {
    return make_error(ErrorCode::not_ready, "the work has not ended yet");
  }
  if (stream.failed() && stream.failed_at() <= position) {
    return failure(stream.failure_number());
  }
  return {};
}

Status RingScheduler::wait(Stream& stream, std::uint64_t position, std::uint64_t timeout_ns) {
  const auto ended = [&] {
    impl_->serve();
    return stream.retired() >= position;
  };
  // By reference: the function object is too large to be kept without an allocation.
  Status waited = impl_->device.board().hub().wait(std::ref(ended), timeout_ns);
  return waited ? outcome(stream, position) : waited;
}

Status RingScheduler::wait_unused(const UsedRange& range) {
  impl_->pump();
  std::vector<MemoryUse> uses;
  {
    const ScopedLock lock(impl_->mutex);
    uses = impl_->feeder.uses_of(range);
  }
  return impl_->device.board().hub().wait(
      [&] {
        impl_->serve();
        return std::all_of(uses.begin(), uses.end(),
                           [](const MemoryUse& use) { return use.stream->retired() >= use.position; });
      },
      ~0ULL);
}

void RingScheduler::keep_until_unused(const UsedRange& range, const std::shared_ptr<void>& kept) {
  impl_->pump();
  const ScopedLock lock(impl_->mutex);
  for (const MemoryUse& use : impl_->feeder.uses_of(range)) {
    StreamFeeder::keep(use, kept);
  }
}

void RingScheduler::pump() { impl_->pump(); }

void RingScheduler::serve() { impl_->serve(); }

void RingScheduler::host_changed_word() {
  Board& board = impl_->device.board();
  if (impl_->anything_active.load()) {
    board.write32(hw::kick_all, 1);
  }
  board.hub().notify();
}

std::uint32_t RingScheduler::note_failure(Error error) { return impl_->failures.add(std::move(error)); }

Error RingScheduler::failure(std::uint32_t number) { return impl_->failures.find(number); }

void RingScheduler::Impl::pump() {
  if (!anything_active.load(std::memory_order_acquire)) {
    return;
  }
  Aftermath after;
  UniqueLock lock(mutex);
  // Now and then the registers are asked as well: a fault whose record could not be written shows only there,
  // and so does a board that is gone.
  const std::uint64_t now_ns = device.board().function().clock().now_ns;
  const bool thorough = now_ns - last_thorough_ns >= device.board().hub().check_interval_ns();
  last_thorough_ns = thorough ? now_ns : last_thorough_ns;
  Status health = thorough || device.board().is_lost() ? device.board().health() : Status{};
  if (health) {
    settled_if_thrown(after, [&] {
      mutex.assert_held();
      feeder.advance(thorough, after);
    });
  }
  if (health && thorough) {
    if (std::optional<std::string> stuck = hang_check.look(device.board(), feeder.working_rings()); stuck) {
      device.board().give_up(std::move(*stuck));
      health = device.board().health();
    }
  }
  if (!health) {
    feeder.fail_all(health.error(), after);
  }
  update_hints();
  settle(after);
}

void RingScheduler::Impl::update_hints() {
  anything_active.store(!feeder.active().empty(), std::memory_order_release);
  host_needed.store(feeder.needs_host(), std::memory_order_release);
  call_needed.store(feeder.needs_call(), std::memory_order_release);
}

/// Does what must not be done under the lock; returns with the lock held.
void RingScheduler::Impl::settle(Aftermath& after) {
  if (after.empty()) {
    return;
  }
  const bool keeps_gone = !after.releasing.empty();
  {
    const ScopedUnlock meanwhile(mutex);
    after.keeps.clear();
    while (Event* event = after.last_references) {
      after.last_references = event->next_in_chain();
      delete event;
    }
    if (after.words_changed) {
      device.board().write32(hw::kick_all, 1);
    }
    if (after.doorbell) {
      device.board().hub().board_has_work();
    }
  }
  feeder.released(after);
  if (after.words_changed || after.wake || keeps_gone) {
    device.board().hub().notify();
  }
}

}  // namespace datum
