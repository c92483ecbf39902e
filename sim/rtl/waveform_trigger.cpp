#include "sim/rtl/waveform_trigger.hpp"

#include <algorithm>
#include <cstring>

#include <datum/board/watchdog_mark.hpp>

namespace datum::sim {

namespace {

constexpr std::uint32_t half_bytes = 4;
constexpr std::uint32_t largest_size_log2 = 16;

/// What a write of `bytes` at `offset` leaves in the 64-bit register at `place`.
std::uint64_t written(std::uint64_t before, std::uint32_t place, std::uint32_t offset, std::uint64_t value,
                      unsigned bytes) noexcept {
  if (bytes > half_bytes) {
    return value;
  }
  const unsigned shift = offset == place ? 0 : 32;
  return (before & ~(0xffff'ffffULL << shift)) | ((value & 0xffff'ffffU) << shift);
}

}  // namespace

void WaveformTriggerWatch::learn_ring(std::uint32_t offset, std::uint64_t value, unsigned bytes) noexcept {
  const std::uint32_t first = hw::ring_base(0);
  const std::uint32_t stride = hw::ring_base(1) - first;
  if (offset < first || offset >= first + stride * ring_.size()) {
    return;
  }
  const std::uint32_t index = (offset - first) / stride;
  if (offset == hw::ring_size_log2(index)) {
    ring_[index].size_log2 = static_cast<std::uint32_t>(value);
  } else if (offset == hw::ring_base(index) || offset == hw::ring_base(index) + half_bytes) {
    ring_[index].base = written(ring_[index].base, hw::ring_base(index), offset, value, bytes);
  }
}

void WaveformTriggerWatch::saw_write(std::uint32_t offset, std::uint64_t value, unsigned bytes) {
  learn_ring(offset, value, bytes);
  const bool awaited = std::ranges::any_of(triggers_, [&](const WaveformTrigger& trigger) {
    switch (trigger.kind) {
    case WaveformTrigger::Kind::register_write:
      return trigger.offset >= offset && trigger.offset < offset + bytes &&
             (!trigger.value || *trigger.value == value);
    case WaveformTrigger::Kind::watchdog:
      return offset == hw::scratch && bytes == sizeof value && value == board::watchdog_mark;
    default:
      return false;
    }
  });
  if (awaited) {
    fire_();
  }
}

bool WaveformTriggerWatch::is_awaited(unsigned ring, std::uint32_t number) const noexcept {
  return std::ranges::any_of(triggers_, [&](const WaveformTrigger& trigger) {
    return trigger.kind == WaveformTrigger::Kind::descriptor && trigger.number == number &&
           (!trigger.ring || *trigger.ring == ring);
  });
}

void WaveformTriggerWatch::saw_read(std::uint64_t iova, std::span<const std::byte> data) noexcept {
  if (!waits_for(WaveformTrigger::Kind::descriptor)) {
    return;
  }
  for (unsigned ring = 0; ring < ring_.size(); ++ring) {
    const Ring& at = ring_[ring];
    const std::uint64_t bytes = sizeof(hw::Descriptor) << std::min(at.size_log2, largest_size_log2);
    if (at.base == 0 || iova < at.base || iova - at.base >= bytes) {
      continue;
    }
    for (std::size_t slot = 0; slot + sizeof(hw::Descriptor) <= data.size(); slot += sizeof(hw::Descriptor)) {
      hw::Descriptor descriptor;
      std::memcpy(descriptor.words.data(), data.data() + slot, sizeof descriptor);
      if (is_awaited(ring, descriptor.sequence())) {
        fire_();
        return;
      }
    }
  }
}

void WaveformTriggerWatch::saw_message(unsigned vector) noexcept {
  if (vector == rings_ && waits_for(WaveformTrigger::Kind::fault)) {
    fire_();
  }
}

bool WaveformTriggerWatch::waits_for(WaveformTrigger::Kind kind) const noexcept {
  return std::ranges::any_of(triggers_, [&](const WaveformTrigger& trigger) { return trigger.kind == kind; });
}

}  // namespace datum::sim
