#include "driver/command/own_ring.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/command/ring_pool.hpp"
#include "driver/device/board.hpp"
#include "driver/device/limits.hpp"
#include "driver/object/device.hpp"

namespace datum {

Result<std::unique_ptr<OwnRing>> OwnRing::create(Device& device) {
  Result<std::unique_ptr<LentRing>> lent = RingPool::make_ring(device, 0, limits::own_ring_size_log2);
  if (!lent) {
    return std::move(lent).error();
  }
  return std::unique_ptr<OwnRing>(new OwnRing(device, std::move(*lent)));
}

OwnRing::~OwnRing() {
  static_cast<void>(lent_->ring.stop());
  RingPool::free_memory(device_, *lent_);
}

void OwnRing::board_was_reset() {
  const ScopedLock lock(mutex_);
  lent_->ring.board_was_reset();
  has_space_ = false;
}

void OwnRing::driver_space_is_back() {
  const ScopedLock lock(mutex_);
  has_space_ = true;
}

Status OwnRing::clear(std::span<const PageRun> runs) {
  const ScopedLock lock(mutex_);
  if (!has_space_) {
    return make_error(ErrorCode::device_lost,
                      "the board was reset under the memory whose pages are to be cleared");
  }
  if (device_.board().is_lost()) {
    return device_.board().health();  // nothing is started on a board that is being reset
  }
  Ring& ring = lent_->ring;
  if (!ring.running()) {
    SpaceSet own;
    own.add(0);
    if (Status started = ring.start(own); !started) {
      return started;
    }
  }
  for (std::size_t index = 0; index < runs.size(); ++index) {
    const PageRun& run = runs[index];
    const std::uint64_t base = run.first.ordinal == 0 ? 0 : driver_space_onchip_base;
    for (std::uint64_t done_bytes = 0; done_bytes < run.bytes; done_bytes += limits::clear_piece_bytes) {
      const std::uint64_t bytes = std::min(limits::clear_piece_bytes, run.bytes - done_bytes);
      hw::Descriptor fill;
      fill.set_opcode(hw::Opcode::fill)
          .set_dst_space(0)
          .set_dst_address(base + run.first.offset_bytes + done_bytes)
          .set_bytes(bytes);
      const bool last = index + 1 == runs.size() && done_bytes + bytes == run.bytes;
      const bool last_of_batch = last || ring.free_slots() == 1;
      // Each piece leaves a record, which is how progress shows.
      fill.set_flag_complete(true).set_flag_interrupt(last_of_batch);
      ring.put(fill);
      if (last_of_batch) {
        ring.ring_doorbell();
        device_.board().hub().board_has_work();
        if (Status drained = wait_until_drained(); !drained) {
          return drained;
        }
      }
    }
  }
  return {};
}

Status OwnRing::wait_until_drained() {
  Ring& ring = lent_->ring;
  std::optional<RingFault> fault;
  const std::uint64_t bound = limits::scaled(limits::clear_piece_ns, device_.board().function().clock());
  Status waited;
  std::uint32_t completed = 0;
  do {
    completed = ring.completed();
    waited = device_.board().hub().wait(
        [&] {
          mutex_.assert_held();
          fault = ring.poll();
          return fault.has_value() || lent_->drained();
        },
        bound);
    if (waited && !fault) {
      return {};
    }
  } while (!fault && waited.error().code == ErrorCode::not_ready && ring.completed() != completed);
  static_cast<void>(ring.stop());  // the next call starts it anew
  // A reset waits for this thread before the board counts as found again. Who waits while others do may come
  // to the bound before it is his turn to ask.
  if (Status health = device_.board().health(); !health) {
    return health;
  }
  if (fault) {
    return make_error(ErrorCode::unknown, "the board could not clear pages: " + describe(*fault));
  }
  if (waited.error().code == ErrorCode::not_ready) {
    return make_error(ErrorCode::unknown,
                      fmt::format("the board cleared no page for {} ms", bound / limits::ns_per_ms));
  }
  return waited;
}

}  // namespace datum
