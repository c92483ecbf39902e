// A hardware ring with what the host remembers about its slots.
#pragma once

#include <cstdint>

#include <datum/base/zeroed_array.hpp>

#include "driver/device/ring.hpp"
#include "driver/memory/host_memory.hpp"

namespace datum {

class Event;
class Stream;

/// What happens to an event when a slot's descriptor has ended.
struct SlotNote {
  Event* event = nullptr;
  bool signals = false;
};

struct LentRing {
  LentRing(Board& board, unsigned index, const RingMemory& memory, HostBlock slots_block,
           HostBlock record_block)
      : ring(board, index, memory), notes(ring.size()), slots(slots_block), record(record_block) {}

  [[nodiscard]] SlotNote& note(std::uint32_t number) noexcept {
    return notes[(number - 1) & (ring.size() - 1)];
  }

  [[nodiscard]] bool drained() const noexcept { return ring.filled() == ring.completed(); }

  Ring ring;
  ZeroedArray<SlotNote> notes;
  Stream* owner = nullptr;  ///< who used it last; the ring is free when the owner has nothing outstanding
  HostBlock slots;
  HostBlock record;
};

}  // namespace datum
