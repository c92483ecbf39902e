#include "sim/model/mmu.hpp"

#include <algorithm>
#include <cstring>

#include <datum/base/address.hpp>

namespace datum::sim {

namespace {

constexpr unsigned page_shift = 12;
constexpr unsigned level_bits = 9;
constexpr unsigned root_level = 3;
constexpr std::uint64_t table_index_mask = (1U << level_bits) - 1;
constexpr std::uint64_t reserved_pte_bits = ~((1ULL << 52U) - 1) | 0xe00U;
constexpr unsigned memories = 2;

bool malformed(hw::Pte entry, unsigned level) {
  if ((entry.raw & reserved_pte_bits) != 0) {
    return true;
  }
  if (!entry.leaf()) {
    return level == 0;
  }
  if (level == root_level || (!entry.host() && entry.ordinal() >= memories)) {
    return true;
  }
  const auto frames = 1ULL << (level_bits * level);
  return (entry.address() & (frames - 1)) != 0;
}

}  // namespace

Mmu::Page Mmu::walk(unsigned space, std::uint64_t page) {
  ++counters_.walks;
  const hw::SpaceRootRegister root{space < spaces ? roots_[space] : 0};
  if (!root.valid()) {
    return {{}, hw::FaultReason::no_root, false};
  }
  std::uint64_t table = root.address_bytes();
  for (unsigned level = root_level;; --level) {
    const auto index = (page >> (level_bits * level)) & table_index_mask;
    hw::Pte entry;
    const auto raw = memory_.readable({Target::dram, table + index * sizeof entry}, sizeof entry);
    if (raw.size() != sizeof entry) {
      return {{}, hw::FaultReason::table_read, false};
    }
    std::memcpy(&entry.raw, raw.data(), sizeof entry.raw);
    if (!entry.valid()) {
      return {{}, hw::FaultReason::not_present, false};
    }
    if (malformed(entry, level)) {
      return {{}, hw::FaultReason::malformed_entry, false};
    }
    if (entry.leaf()) {
      const auto frames = 1ULL << (level_bits * level);
      const auto frame = entry.address() | (page & (frames - 1));
      const auto target = entry.host() ? Target::host : entry.ordinal() == 0 ? Target::dram : Target::onchip;
      return {{target, frame << page_shift}, hw::FaultReason::none, entry.writable()};
    }
    table = entry.address_bytes();
  }
}

Mmu::Page Mmu::translate_page(unsigned space, std::uint64_t page) {
  auto& set = tlb_[(page ^ (std::uint64_t{space} << 5U)) % tlb_sets];
  for (unsigned way = 0; way < set.ways.size(); ++way) {
    const auto& entry = set.ways[way];
    if (entry.life == tlb_life_ && entry.page == page && entry.space == space) {
      ++counters_.tlb_hits;
      set.oldest = static_cast<std::uint8_t>(1 - way);
      return entry.target;
    }
  }
  const auto found = walk(space, page);
  if (found.reason == hw::FaultReason::none) {
    set.ways[set.oldest] = {tlb_life_, static_cast<std::uint16_t>(space), page, found};
    set.oldest = static_cast<std::uint8_t>(1 - set.oldest);
  }
  return found;
}

Mmu::Translation Mmu::translate(unsigned space, std::uint64_t va, std::uint64_t max_bytes, bool write) {
  Translation run;
  for (auto at = va; run.bytes < max_bytes;) {
    const auto page = translate_page(space, at >> page_shift);
    const auto offset = at % small_page_bytes;
    const auto reason = page.reason != hw::FaultReason::none ? page.reason
                        : write && !page.writable            ? hw::FaultReason::write_refused
                                                             : hw::FaultReason::none;
    if (run.bytes == 0) {
      run.reason = reason;
      run.at = {page.base.target, page.base.address + offset};
    }
    const bool follows =
        page.base.target == run.at.target && page.base.address + offset == run.at.address + run.bytes;
    if (reason != hw::FaultReason::none || !follows) {
      break;
    }
    const auto bytes = std::min(max_bytes - run.bytes, small_page_bytes - offset);
    run.bytes += bytes;
    at += bytes;
  }
  return run;
}

void Mmu::invalidate(unsigned space, std::uint64_t va, std::uint64_t bytes) noexcept {
  const auto first = va >> page_shift;
  const auto pages = (bytes + small_page_bytes - 1) >> page_shift;
  for (auto& set : tlb_) {
    for (auto& entry : set.ways) {
      if (entry.space == space && (bytes == 0 || (entry.page >= first && entry.page - first < pages))) {
        entry.life = 0;
      }
    }
  }
}

void Mmu::invalidate_all() noexcept { ++tlb_life_; }

void Mmu::reset() noexcept {
  roots_.fill(0);
  invalidate_all();
}

}  // namespace datum::sim
