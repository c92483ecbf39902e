#include "sim/model/message_table.hpp"

namespace datum::sim {

void MessageTable::send(const Entry& entry) {
  const auto address = (std::uint64_t{entry.words[1]} << 32U) | entry.words[0];
  // A message that the host refuses is lost, and stands among the DMA faults.
  static_cast<void>(host_.write(address, std::as_bytes(std::span{&entry.words[2], 1}), counters_.cycle));
}

void MessageTable::raise(unsigned vector) {
  auto& entry = entries_[vector];
  if ((entry.words[3] & 1U) != 0) {
    entry.pending = true;
  } else {
    send(entry);
  }
}

void MessageTable::write32(std::uint32_t offset, std::uint32_t value) {
  if (offset >= vectors * entry_bytes) {
    return;
  }
  auto& entry = entries_[offset / entry_bytes];
  const auto word = (offset % entry_bytes) / sizeof(std::uint32_t);
  entry.words[word] = word == 3 ? value & 1U : value;
  if (word == 3 && (value & 1U) == 0 && entry.pending) {
    entry.pending = false;
    send(entry);
  }
}

std::uint32_t MessageTable::read32(std::uint32_t offset) const noexcept {
  if (offset < vectors * entry_bytes) {
    return entries_[offset / entry_bytes].words[(offset % entry_bytes) / sizeof(std::uint32_t)];
  }
  std::uint32_t bits = 0;
  if (offset >= pending_offset) {
    const auto first = (offset - pending_offset) * 8;
    for (unsigned bit = 0; bit < 32 && first + bit < vectors; ++bit) {
      bits |= entries_[first + bit].pending ? 1U << bit : 0U;
    }
  }
  return bits;
}

void MessageTable::power_on() noexcept { entries_.fill({}); }

}  // namespace datum::sim
