#include "driver/command/own_ring.hpp"

#include <fmt/format.h>

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

Status OwnRing::clear(std::span<const PageRun> runs) {
  const std::lock_guard lock(mutex_);
  Ring& ring = lent_->ring;
  if (!ring.running()) {
    SpaceSet own;
    own.add(0);
    if (Status started = ring.start(own); !started) {
      return started;
    }
  }
  std::uint64_t bound_ns = limits::clear_base_ns;
  for (std::size_t index = 0; index < runs.size(); ++index) {
    const PageRun& run = runs[index];
    const std::uint64_t base = run.first.ordinal == 0 ? 0 : driver_space_onchip_base;
    hw::Descriptor fill;
    fill.set_opcode(hw::Opcode::fill)
        .set_dst_space(0)
        .set_dst_address(base + run.first.offset_bytes)
        .set_bytes(run.bytes);
    const bool last_of_batch = index + 1 == runs.size() || ring.free_slots() == 1;
    fill.set_flag_complete(last_of_batch).set_flag_interrupt(last_of_batch);
    bound_ns += run.bytes / small_page_bytes * limits::clear_ns_per_page;
    ring.put(fill);
    if (last_of_batch) {
      ring.ring_doorbell();
      device_.board().hub().board_has_work();
      if (Status done = wait_until_drained(bound_ns); !done) {
        return done;
      }
      bound_ns = limits::clear_base_ns;
    }
  }
  return {};
}

Status OwnRing::wait_until_drained(std::uint64_t bound_ns) {
  Ring& ring = lent_->ring;
  std::optional<RingFault> fault;
  const std::uint64_t bound = limits::scaled(bound_ns, device_.board().function().clock());
  Status waited = device_.board().hub().wait(
      [&] {
        fault = ring.poll();
        return fault.has_value() || lent_->drained();
      },
      bound);
  if (waited && !fault) {
    return {};
  }
  static_cast<void>(ring.stop());  // the next call starts it anew
  if (fault) {
    return make_error(ErrorCode::unknown, "the board could not clear pages: " + describe(*fault));
  }
  if (waited.error().code == ErrorCode::not_ready) {
    return make_error(ErrorCode::unknown,
                      fmt::format("the board did not clear pages within {} ms", bound / limits::ns_per_ms));
  }
  return waited;
}

}  // namespace datum
