#include "driver/memory/registry.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>

#include <fmt/format.h>

#include "driver/memory/brief_mutex.hpp"

namespace datum {
namespace {

// A radix tree over 47-bit addresses: one level for each level of the processor's page tables. An entry is
// null, a node of the next level, or a record, which then covers the entry's whole range: so a large
// allocation takes a few entries high up.
constexpr unsigned levels = 4;
constexpr unsigned bits_per_level = 9;
constexpr std::size_t fan_out = 1U << bits_per_level;
constexpr std::uint64_t end_of_addresses = 1ULL << 47U;
constexpr std::uintptr_t record_tag = 1;

constexpr unsigned shift_of(unsigned level) noexcept { return 12 + bits_per_level * level; }

constexpr std::size_t slot_of(std::uintptr_t address, unsigned level) noexcept {
  return (address >> shift_of(level)) & (fan_out - 1);
}

constexpr std::uint64_t bytes_of(unsigned level) noexcept { return 1ULL << shift_of(level); }

struct Node {
  std::array<std::atomic<std::uintptr_t>, fan_out> entries{};
};

constexpr std::size_t words = sizeof(Allocation) / sizeof(std::uint64_t);

/// A copy of an allocation that readers check for changes: `version` is odd while it is written. Records are
/// used again and never given back.
struct alignas(64) Record {
  std::atomic<std::uint64_t> version{0};
  std::array<std::atomic<std::uint64_t>, words> content{};

  void write(const Allocation& allocation) noexcept {
    std::array<std::uint64_t, words> raw;
    std::memcpy(raw.data(), &allocation, sizeof(allocation));
    const std::uint64_t before = version.load(std::memory_order_relaxed);
    version.store(before + 1, std::memory_order_relaxed);
    for (std::size_t word = 0; word < words; ++word) {
      content[word].store(raw[word], std::memory_order_release);  // not before the version turned odd
    }
    version.store(before + 2, std::memory_order_release);
  }

  [[nodiscard]] bool read(Allocation& allocation) const noexcept {
    std::array<std::uint64_t, words> raw;
    const std::uint64_t before = version.load(std::memory_order_acquire);
    for (std::size_t word = 0; word < words; ++word) {
      raw[word] = content[word].load(std::memory_order_acquire);
    }
    if (before % 2 != 0 || version.load(std::memory_order_relaxed) != before) {
      return false;
    }
    std::memcpy(static_cast<void*>(&allocation), raw.data(), sizeof(allocation));
    return true;
  }
};

std::uintptr_t tagged(const Record* record) noexcept {
  return reinterpret_cast<std::uintptr_t>(record) | record_tag;
}

bool is_record(std::uintptr_t entry) noexcept { return (entry & record_tag) != 0; }

Record* as_record(std::uintptr_t entry) noexcept { return reinterpret_cast<Record*>(entry & ~record_tag); }

Node* as_node(std::uintptr_t entry) noexcept { return reinterpret_cast<Node*>(entry); }

}  // namespace

struct Registry::Impl {
  BriefMutex mutex;
  Node root;
  std::deque<Node> nodes;      // stable addresses; only grows
  std::deque<Record> records;  // stable addresses; only grows
  std::deque<Record*>
      idle_records;  // first in, first out: a reader that is late finds its record unchanged for long

  [[nodiscard]] std::uintptr_t entry_for(std::uintptr_t address) const noexcept;
  [[nodiscard]] std::atomic<std::uintptr_t>* page_entry(std::uintptr_t address) noexcept;
  [[nodiscard]] Record* make_record(const Allocation& allocation);
  [[nodiscard]] bool occupied(const Node& node, unsigned level, std::uintptr_t first,
                              std::uintptr_t last) const noexcept;
  void prepare(Node& node, unsigned level, std::uintptr_t first, std::uintptr_t last);
  void fill(Node& node, unsigned level, std::uintptr_t first, std::uintptr_t last,
            std::uintptr_t value) noexcept;
};

namespace {

/// Calls step(slot, whole, first, last) for each entry of a node of `level` that [first, last] touches: the
/// part of the range in it, and whether that is all of it.
template <class Step>
void for_each_slot(unsigned level, std::uintptr_t first, std::uintptr_t last, Step&& step) {
  const std::uint64_t bytes = bytes_of(level);
  for (std::uintptr_t at = first; at <= last;) {
    const std::uintptr_t slot_last = at | (bytes - 1);
    const std::uintptr_t part_last = slot_last < last ? slot_last : last;
    step(slot_of(at, level), (at & (bytes - 1)) == 0 && part_last == slot_last, at, part_last);
    at = part_last + 1;
  }
}

}  // namespace

std::uintptr_t Registry::Impl::entry_for(std::uintptr_t address) const noexcept {
  if (address >= end_of_addresses) {
    return 0;
  }
  const Node* node = &root;
  for (unsigned level = levels; level-- > 0;) {
    const std::uintptr_t entry = node->entries[slot_of(address, level)].load(std::memory_order_acquire);
    if (entry == 0 || is_record(entry)) {
      return entry;
    }
    node = as_node(entry);
  }
  return 0;
}

/// The entry of one page; null: its node is not there, or a record above covers it.
std::atomic<std::uintptr_t>* Registry::Impl::page_entry(std::uintptr_t address) noexcept {
  Node* node = &root;
  for (unsigned level = levels - 1; level > 0; --level) {
    const std::uintptr_t entry = node->entries[slot_of(address, level)].load(std::memory_order_relaxed);
    if (entry == 0 || is_record(entry)) {
      return nullptr;
    }
    node = as_node(entry);
  }
  return &node->entries[slot_of(address, 0)];
}

/// A record of `allocation`, for nobody to see yet.
Record* Registry::Impl::make_record(const Allocation& allocation) {
  Record* record = nullptr;
  if (idle_records.size() > 64) {
    record = idle_records.front();
    idle_records.pop_front();
  } else {
    record = &records.emplace_back();
  }
  record->write(allocation);
  return record;
}

bool Registry::Impl::occupied(const Node& node, unsigned level, std::uintptr_t first,
                              std::uintptr_t last) const noexcept {
  bool found = false;
  for_each_slot(level, first, last, [&](std::size_t slot, bool, std::uintptr_t from, std::uintptr_t to) {
    const std::uintptr_t entry = node.entries[slot].load(std::memory_order_relaxed);
    found = found || is_record(entry) || (entry != 0 && occupied(*as_node(entry), level - 1, from, to));
  });
  return found;
}

/// Makes every node that filling will pass through, so that filling cannot fail.
void Registry::Impl::prepare(Node& node, unsigned level, std::uintptr_t first, std::uintptr_t last) {
  for_each_slot(level, first, last,
                [&](std::size_t slot, bool whole, std::uintptr_t from, std::uintptr_t to) {
                  if (whole) {
                    return;
                  }
                  if (node.entries[slot].load(std::memory_order_relaxed) == 0) {
                    node.entries[slot].store(reinterpret_cast<std::uintptr_t>(&nodes.emplace_back()),
                                             std::memory_order_release);
                  }
                  prepare(*as_node(node.entries[slot].load(std::memory_order_relaxed)), level - 1, from, to);
                });
}

void Registry::Impl::fill(Node& node, unsigned level, std::uintptr_t first, std::uintptr_t last,
                          std::uintptr_t value) noexcept {
  for_each_slot(level, first, last,
                [&](std::size_t slot, bool whole, std::uintptr_t from, std::uintptr_t to) {
                  const std::uintptr_t entry = node.entries[slot].load(std::memory_order_relaxed);
                  const bool has_node = entry != 0 && !is_record(entry);
                  // A node that is there stays: it may have been filled before and be wanted again, and a
                  // reader may be inside.
                  if (has_node) {
                    fill(*as_node(entry), level - 1, from, to, value);
                  } else if (whole) {
                    node.entries[slot].store(value, std::memory_order_release);
                  }
                });
}

Registry::Registry() : impl_(std::make_unique<Impl>()) {}

Registry::~Registry() = default;

Status Registry::insert(const Allocation& allocation) {
  const std::uintptr_t first = allocation.base;
  const std::uintptr_t last = first + allocation.span_bytes() - 1;
  if (allocation.span_bytes() == 0 || !is_aligned(first | allocation.span_bytes(), small_page_bytes) ||
      last < first || last >= end_of_addresses) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} bytes at {:#x} are not whole pages of the address space",
                                  allocation.span_bytes(), first));
  }
  const std::scoped_lock lock(impl_->mutex);
  if (last - first < small_page_bytes) {  // most allocations are one page, in a node that is there
    std::atomic<std::uintptr_t>* const entry = impl_->page_entry(first);
    if (entry != nullptr && entry->load(std::memory_order_relaxed) == 0) {
      entry->store(tagged(impl_->make_record(allocation)), std::memory_order_release);
      return {};
    }
  }
  if (impl_->occupied(impl_->root, levels - 1, first, last)) {
    return make_error(ErrorCode::invalid_argument, fmt::format("{} bytes at {:#x} overlap a live allocation",
                                                               allocation.span_bytes(), first));
  }
  impl_->prepare(impl_->root, levels - 1, first, last);
  impl_->fill(impl_->root, levels - 1, first, last, tagged(impl_->make_record(allocation)));
  return {};
}

std::optional<Allocation> Registry::erase(std::uintptr_t base, const Context* owner, bool imported) {
  return take_out(base, owner, false, imported);
}

std::optional<Allocation> Registry::erase_reservation(std::uintptr_t base, const Context* owner) {
  return take_out(base, owner, true, false);
}

std::optional<Allocation> Registry::take_out(std::uintptr_t base, const Context* owner, bool reservation,
                                             bool imported) {
  const std::scoped_lock lock(impl_->mutex);
  const std::uintptr_t entry = impl_->entry_for(base);
  Allocation allocation;
  if (!is_record(entry) || !as_record(entry)->read(allocation) || allocation.base != base ||
      allocation.context != owner || allocation.imported != imported ||
      (allocation.kind == AllocationKind::virtual_reservation) != reservation) {
    return std::nullopt;
  }
  impl_->idle_records.push_back(as_record(entry));
  if (std::atomic<std::uintptr_t>* const page =
          allocation.span_bytes() == small_page_bytes ? impl_->page_entry(base) : nullptr) {
    page->store(0, std::memory_order_release);
  } else {
    impl_->fill(impl_->root, levels - 1, base, base + allocation.span_bytes() - 1, 0);
  }
  return allocation;
}

std::optional<Allocation> Registry::find(std::uintptr_t address) const noexcept {
  const std::uintptr_t entry = impl_->entry_for(address);
  Allocation allocation;
  if (!is_record(entry) || !as_record(entry)->read(allocation) ||
      address - allocation.base >= allocation.span_bytes()) {
    return std::nullopt;
  }
  return allocation;
}

}  // namespace datum
