// What the registry's tree is made of: nodes, and the records that its entries lead to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <datum/base/mapping.hpp>

#include "driver/memory/registry.hpp"

namespace datum::registry {

// A radix tree over 47-bit addresses: one level for each level of the processor's page tables. An entry is
// null, a node of the next level, or a record, which then covers the entry's whole range: so a large
// allocation takes a few entries high up.
inline constexpr unsigned levels = 4;
inline constexpr unsigned bits_per_level = 9;
inline constexpr std::size_t fan_out = 1U << bits_per_level;
inline constexpr std::uint64_t end_of_addresses = 1ULL << 47U;

constexpr unsigned shift_of(unsigned level) noexcept { return 12 + bits_per_level * level; }

constexpr std::uint64_t bytes_of(unsigned level) noexcept { return 1ULL << shift_of(level); }

/// Pages that follow one another lie in different cache lines, since different threads take them.
constexpr std::size_t slot_of(std::uintptr_t address, unsigned level) noexcept {
  const std::size_t index = (address >> shift_of(level)) & (fan_out - 1);
  return level == 0 ? (index >> 3U | index << 6U) & (fan_out - 1) : index;
}

inline constexpr std::uintptr_t empty = 0;
inline constexpr std::uintptr_t record_tag = 1;
/// Of a page whose record is being written, or taken out.
inline constexpr std::uintptr_t claimed = 2;

using Entry = std::atomic<std::uintptr_t>;

struct Node {
  std::array<Entry, fan_out> entries{};
};

inline constexpr std::size_t words = sizeof(Allocation) / sizeof(std::uint64_t);

/// A copy of an allocation that readers check for changes: `version` counts the writes, and is marked while
/// one is under way. Records are used again and never given back. That of a page says by itself whether it is
/// in force, so that its cache line is all that a look-up of the page needs.
struct alignas(64) Record {
  static constexpr std::uint64_t being_written = 1;
  static constexpr std::uint64_t in_force = 2;
  static constexpr std::uint64_t marks = being_written | in_force;
  static constexpr std::uint64_t one_write = 4;

  std::atomic<std::uint64_t> version{0};
  std::array<std::atomic<std::uint64_t>, words> content{};

  /// By one thread at a time. `mark` is in_force for the record of a page, else 0.
  void write(const Allocation& allocation, std::uint64_t mark) noexcept {
    std::array<std::uint64_t, words> raw{};
    std::memcpy(raw.data(), &allocation, sizeof(allocation));
    const std::uint64_t next = (version.load(std::memory_order_relaxed) & ~marks) + one_write;
    version.store(next | being_written, std::memory_order_relaxed);
    for (std::size_t word = 0; word < words; ++word) {
      content[word].store(raw[word], std::memory_order_release);  // not before the version was marked
    }
    version.store(next | mark, std::memory_order_release);
  }

  /// By whom a write would be allowed.
  void end() noexcept {
    version.store(version.load(std::memory_order_relaxed) & ~marks, std::memory_order_release);
  }

  /// false: it is being written, or was meanwhile.
  [[nodiscard]] bool read(Allocation& allocation) const noexcept {
    const std::uint64_t before = version.load(std::memory_order_acquire);
    return copy_to(allocation, before) && (before & being_written) == 0;
  }

  /// false: it is not in force, or did not stay so meanwhile.
  [[nodiscard]] bool read_in_force(Allocation& allocation) const noexcept {
    const std::uint64_t before = version.load(std::memory_order_acquire);
    return (before & marks) == in_force && copy_to(allocation, before);
  }

 private:
  /// Word by word to where it is wanted: a copy on the way, in larger units, would wait for the stores.
  [[nodiscard]] bool copy_to(Allocation& allocation, std::uint64_t before) const noexcept {
    auto* const to = reinterpret_cast<std::byte*>(&allocation);
    for (std::size_t word = 0; word < words; ++word) {
      const std::uint64_t raw = content[word].load(std::memory_order_acquire);
      std::memcpy(to + word * sizeof(raw), &raw, sizeof(raw));
    }
    return version.load(std::memory_order_relaxed) == before;
  }
};

/// Records that wait to be used again: first in, first out. A record that goes in finds room, since room was
/// made when the record was.
class IdleRecords {
 public:
  void make_room(std::size_t records) {
    if (slots_.size() >= records) {
      return;
    }
    std::vector<Record*> larger(2 * records);
    for (std::size_t index = 0; index < count_; ++index) {
      larger[index] = slots_[(first_ + index) % slots_.size()];
    }
    slots_ = std::move(larger);
    first_ = 0;
  }

  void push(Record* record) noexcept {
    slots_[(first_ + count_) % slots_.size()] = record;
    ++count_;
  }

  Record* pop() noexcept {
    Record* const record = slots_[first_];
    first_ = (first_ + 1) % slots_.size();
    --count_;
    return record;
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::vector<Record*> slots_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

inline std::uintptr_t tagged(const Record* record) noexcept {
  return reinterpret_cast<std::uintptr_t>(record) | record_tag;
}

inline bool is_record(std::uintptr_t entry) noexcept { return (entry & record_tag) != 0; }

inline Record* as_record(std::uintptr_t entry) noexcept {
  return reinterpret_cast<Record*>(entry & ~record_tag);
}

inline Node* as_node(std::uintptr_t entry) noexcept { return reinterpret_cast<Node*>(entry); }

/// The node of level 0, with a record for each of its pages: an allocation of one page needs no other, and
/// whoever looks it up no entry. The entries say whose the pages are to those who take and give them.
struct Leaf : Node {
  std::array<Record, fan_out> records{};

  [[nodiscard]] Entry& entry(std::uintptr_t address) noexcept { return entries[slot_of(address, 0)]; }

  [[nodiscard]] const Entry& entry(std::uintptr_t address) const noexcept {
    return entries[slot_of(address, 0)];
  }

  [[nodiscard]] Record& record(std::uintptr_t address) noexcept { return records[slot_of(address, 0)]; }

  [[nodiscard]] const Record& record(std::uintptr_t address) const noexcept {
    return records[slot_of(address, 0)];
  }

  [[nodiscard]] bool has_own_record(std::uintptr_t address) const noexcept {
    return entry(address).load(std::memory_order_acquire) == tagged(&record(address));
  }
};

/// Memory for nodes and records, which are never given back while the registry lives. Not thread safe.
class NodeMemory {
 public:
  /// Zeros, which is what new nodes and records are. Throws std::bad_alloc.
  template <class Made>
  Made* make() {
    static_assert(alignof(Made) <= 64);
    return new (take((sizeof(Made) + 63U) & ~std::size_t{63U})) Made;
  }

 private:
  void* take(std::size_t bytes);

  std::vector<Mapping> chunks_;
  std::byte* next_ = nullptr;
  std::size_t left_bytes_ = 0;
};

}  // namespace datum::registry
