#include "driver/command/fence.hpp"

#include "driver/command/command_queue.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/command/stream.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum {

Fence::State::State(CommandQueue& queue, bool signalled)
    : device(queue.submitter().device()),
      stream(queue.submitter().stream()),
      position(signalled ? 0 : never) {}

bool Fence::State::ended() const noexcept {
  const std::uint64_t at = position.load(std::memory_order_acquire);
  return at != never && stream->retired() >= at;
}

bool Fence::State::lost() const noexcept {
  return device.board().is_lost() || device.board().life() != stream->board_life();
}

Status Fence::State::outcome() {
  const std::uint64_t at = position.load(std::memory_order_acquire);
  if (at == 0) {
    return {};
  }
  Status now = at == never ? Status{make_error(ErrorCode::not_ready, "the fence is not signalled")}
                           : device.rings().outcome(*stream, at);
  if (now || now.error().code != ErrorCode::not_ready || !lost()) {
    return now;
  }
  Status health = device.board().health();
  return health ? Status{Context::lost_to_reset()} : health;
}

Result<Fence*> Fence::create(CommandQueue& queue, bool signalled) {
  if (Status alive = queue.submitter().context().alive(); !alive) {
    return std::move(alive).error();
  }
  std::unique_ptr<Fence> fence(new Fence(std::make_shared<State>(queue, signalled)));
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
  state_->position.store(position, std::memory_order_release);
  // The work may have ended already, and then no interrupt follows.
  state_->device.board().hub().notify();
}

Status Fence::reset() {
  if (state_->lost()) {
    Status health = state_->device.board().health();
    return health ? Status{Context::lost_to_reset()} : health;
  }
  std::uint64_t position = state_->position.load(std::memory_order_acquire);
  // Work that is still on its way will signal the fence, which is unsignalled until then.
  if (position != never && state_->stream->retired() >= position) {
    state_->position.compare_exchange_strong(position, never, std::memory_order_acq_rel);
  }
  return {};
}

Status Fence::query() {
  const std::shared_ptr<State> state = state_;
  Device& device = state->device;
  device.rings().serve();
  Status now = state->outcome();
  if (!now && now.error().code == ErrorCode::not_ready) {
    device.board().function().relax();  // a polling loop has to let a stepped board run
  }
  return now;
}

Status Fence::synchronize(std::uint64_t timeout_ns) {
  const std::shared_ptr<State> state = state_;
  Status waited = state->device.board().hub().wait(
      [&state] {
        state->device.rings().serve();
        return state->ended() || state->lost();
      },
      timeout_ns);
  return waited ? state->outcome() : waited;
}

}  // namespace datum
