#include "driver/command/fence.hpp"

#include "driver/command/command_queue.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/command/stream.hpp"
#include "driver/object/device.hpp"

namespace datum {

Fence::Fence(CommandQueue& queue, bool signalled)
    : device_(queue.submitter().device()),
      stream_(queue.submitter().stream()),
      position_(signalled ? 0 : never) {}

Result<Fence*> Fence::create(CommandQueue& queue, bool signalled) {
  std::unique_ptr<Fence> fence(new Fence(queue, signalled));
  Result<HandleSlot*> handle = register_handle(ObjectType::fence, fence.get());
  if (!handle) {
    return std::move(handle).error();
  }
  fence->handle_ = *handle;
  return fence.release();
}

void Fence::destroy() {
  unregister_handle(handle_);
  delete this;
}

void Fence::arm(std::uint64_t position) {
  position_.store(position, std::memory_order_release);
  // The work may have ended already, and then no interrupt follows.
  device_.board().hub().notify();
}

void Fence::reset() {
  std::uint64_t position = position_.load(std::memory_order_acquire);
  // Work that is still on its way will signal the fence, which is unsignalled until then.
  if (position != never && stream_->retired() >= position) {
    position_.compare_exchange_strong(position, never, std::memory_order_acq_rel);
  }
}

Status Fence::outcome() {
  const std::uint64_t position = position_.load(std::memory_order_acquire);
  if (position == never) {
    return make_error(ErrorCode::not_ready, "the fence is not signalled");
  }
  return position == 0 ? Status{} : device_.rings().outcome(*stream_, position);
}

Status Fence::query() {
  device_.rings().serve();
  Status now = outcome();
  if (!now && now.error().code == ErrorCode::not_ready) {
    device_.board().function().relax();  // a polling loop has to let a stepped board run
    if (device_.board().is_lost()) {
      return device_.board().health();
    }
  }
  return now;
}

Status Fence::synchronize(std::uint64_t timeout_ns) {
  Status waited = device_.board().hub().wait(
      [this] {
        device_.rings().serve();
        const std::uint64_t position = position_.load(std::memory_order_acquire);
        return position != never && stream_->retired() >= position;
      },
      timeout_ns);
  return waited ? outcome() : waited;
}

}  // namespace datum
