#include "driver/command/ring_pool.hpp"

#include <algorithm>

#include "driver/command/stream.hpp"
#include "driver/device/board.hpp"
#include "driver/device/limits.hpp"
#include "driver/memory/rollback.hpp"
#include "driver/object/device.hpp"

namespace datum {

RingPool::RingPool(Device& device) : device_(device), usable_(device.board().capabilities().ring_count - 1) {}

RingPool::~RingPool() {
  for (const std::unique_ptr<LentRing>& lent : rings_) {
    static_cast<void>(
        lent->ring.stop());  // a board that does not stop is lost, and then it reads nothing either
    free_memory(device_, *lent);
  }
}

Result<std::unique_ptr<LentRing>> RingPool::make_ring(Device& device, unsigned index, unsigned size_log2) {
  const std::uint64_t slots_bytes =
      std::max<std::uint64_t>(sizeof(hw::Descriptor) << size_log2, small_page_bytes);
  Result<HostBlock> slots = device.arena().allocate(slots_bytes);
  if (!slots) {
    return std::move(slots).error();
  }
  Rollback undo_slots([&]() noexcept { device.arena().free(*slots); });
  Result<HostBlock> record = device.arena().allocate(sizeof(hw::CompletionRecord));
  if (!record) {
    return std::move(record).error();
  }
  Rollback undo_record([&]() noexcept { device.arena().free(*record); });
  const RingMemory memory{reinterpret_cast<hw::Descriptor*>(slots->host), slots->iova,
                          reinterpret_cast<std::uint64_t*>(record->host), record->iova, size_log2};
  auto ring = std::make_unique<LentRing>(device.board(), index, memory, *slots, *record);
  undo_record.dismiss();
  undo_slots.dismiss();
  return ring;
}

void RingPool::free_memory(Device& device, const LentRing& ring) {
  device.arena().free(ring.slots);
  device.arena().free(ring.record);
}

Status RingPool::make_first() {
  rings_.reserve(1);
  Result<std::unique_ptr<LentRing>> first = make_ring(device_, 1, limits::ring_size_log2);
  if (!first) {
    return std::move(first).error();
  }
  rings_.push_back(std::move(*first));
  return {};
}

bool RingPool::is_free(const LentRing& ring) noexcept {
  return ring.owner == nullptr || !ring.owner->active();
}

unsigned RingPool::available() const noexcept {
  unsigned count = usable_ - static_cast<unsigned>(rings_.size());
  for (const std::unique_ptr<LentRing>& lent : rings_) {
    count += is_free(*lent) ? 1 : 0;
  }
  return count;
}

unsigned RingPool::reserve() const noexcept { return std::max(1U, usable_ / limits::reserve_divisor); }

LentRing* RingPool::take(Stream& stream) {
  LentRing* best = nullptr;
  int best_rank = 0;
  for (const std::unique_ptr<LentRing>& lent : rings_) {
    if (!is_free(*lent)) {
      continue;
    }
    // A ring that already serves the space needs no new start; one that another queue will want back is taken
    // last.
    const bool serves = lent->ring.running() && lent->ring.spaces().contains(stream.space());
    const int rank = 1 + (serves ? 2 : 0) + (lent->owner == nullptr ? 4 : 0);
    if (rank > best_rank) {
      best = lent.get();
      best_rank = rank;
    }
  }
  if (best != nullptr && best->owner == nullptr) {
    best->owner = &stream;
    return best;
  }
  if (rings_.size() < usable_) {
    rings_.reserve(rings_.size() + 1);
    const unsigned index = static_cast<unsigned>(rings_.size()) + 1;
    if (Result<std::unique_ptr<LentRing>> made = make_ring(device_, index, limits::ring_size_log2); made) {
      (*made)->owner = &stream;
      rings_.push_back(std::move(*made));
      return rings_.back().get();
    }
    // No memory for more rings: those that exist are shared.
    usable_ = static_cast<unsigned>(rings_.size());
  }
  if (best != nullptr) {
    best->owner->lose_ring();
    best->owner = &stream;
  }
  return best;
}

}  // namespace datum
