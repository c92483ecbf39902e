#include "driver/memory/registry.hpp"

#include <new>
#include <optional>
#include <sys/mman.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/memory/brief_mutex.hpp"
#include "driver/memory/registry_nodes.hpp"

namespace datum {

using namespace registry;

namespace registry {

/// The first ones small, for programs that allocate little; the others of the processor's large pages where
/// it has some, since a look-up among many allocations misses the TLB twice otherwise.
void* NodeMemory::take(std::size_t bytes) {
  if (bytes > left_bytes_) {
    constexpr std::size_t small_chunk = 256ULL << 10U;
    constexpr std::size_t small_chunks = 4;
    const bool small = chunks_.size() < small_chunks;
    const std::size_t chunk = small ? small_chunk : large_page_bytes;
    const std::size_t mapped = small ? chunk : 2 * chunk;
    chunks_.reserve(chunks_.size() + 1);
    void* const base =
        ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
      throw std::bad_alloc();
    }
    chunks_.emplace_back(base, mapped);
    next_ = chunks_.back().data();
    if (!small) {
      next_ = reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uintptr_t>(next_), chunk));
      ::madvise(next_, chunk, MADV_HUGEPAGE);  // a wish
    }
    left_bytes_ = chunk;
  }
  left_bytes_ -= bytes;
  return std::exchange(next_, next_ + bytes);
}

}  // namespace registry

struct Registry::Impl {
  BriefMutex mutex;  ///< of all but the entries and records of pages: those are claimed one by one
  NodeMemory memory DATUM_GUARDED_BY(mutex);
  Node& root = *memory.make<Node>();
  std::size_t record_count DATUM_GUARDED_BY(mutex) = 0;  // but for those of leaves
  IdleRecords idle_records DATUM_GUARDED_BY(mutex);      // long enough unchanged for a reader that is late

  struct Place {
    std::uintptr_t entry = empty;  ///< without a leaf: what covers the page, or empty
    Leaf* leaf = nullptr;
  };

  [[nodiscard]] Place place_of(std::uintptr_t address) const noexcept;
  [[nodiscard]] std::uintptr_t entry_for(std::uintptr_t address) const noexcept;
  [[nodiscard]] Leaf* leaf_for(std::uintptr_t address) const noexcept;
  [[nodiscard]] Record* make_record(const Allocation& allocation) DATUM_REQUIRES(mutex);
  [[nodiscard]] bool occupied(const Node& node, unsigned level, std::uintptr_t first,
                              std::uintptr_t last) const noexcept;
  void prepare(Node& node, unsigned level, std::uintptr_t first, std::uintptr_t last) DATUM_REQUIRES(mutex);
  bool insert_range(const Allocation& allocation) DATUM_REQUIRES(mutex);
  bool fill(Node& node, unsigned level, std::uintptr_t first, std::uintptr_t last,
            std::uintptr_t value) noexcept;
  void clear(Node& node, unsigned level, std::uintptr_t first, std::uintptr_t last,
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

/// Lets one thread write the record of a page. false: the page is somebody's.
bool insert_page(Leaf& leaf, const Allocation& allocation) noexcept {
  Entry& entry = leaf.entry(allocation.base);
  Record& record = leaf.record(allocation.base);
  std::uintptr_t nobody = empty;
  if (!entry.compare_exchange_strong(nobody, claimed, std::memory_order_acquire, std::memory_order_relaxed)) {
    return false;
  }
  record.write(allocation, Record::in_force);
  entry.store(tagged(&record), std::memory_order_release);
  return true;
}

/// What may be taken out of the registry by whom.
struct Claim {
  std::uintptr_t base;
  const Context* owner;
  bool reservation;
  bool imported;

  [[nodiscard]] bool covers(const Allocation& allocation) const noexcept {
    return allocation.base == base && allocation.context == owner && allocation.imported == imported &&
           (allocation.kind == AllocationKind::virtual_reservation) == reservation;
  }
};

/// Of a page that has its own record. Between the look and the claim the page may have become another
/// allocation, so the look that counts is the second.
std::optional<Allocation> take_page(Entry& entry, Record& record, const Claim& claim) noexcept {
  Allocation allocation;
  if (!record.read(allocation) || !claim.covers(allocation)) {
    return std::nullopt;
  }
  std::uintptr_t expected = tagged(&record);
  if (!entry.compare_exchange_strong(expected, claimed, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
    return std::nullopt;
  }
  const bool ours = record.read(allocation) && claim.covers(allocation);
  if (ours) {
    record.end();
  }
  entry.store(ours ? empty : tagged(&record), std::memory_order_release);
  return ours ? std::optional(allocation) : std::nullopt;
}

}  // namespace

inline Registry::Impl::Place Registry::Impl::place_of(std::uintptr_t address) const noexcept {
  if (address >= end_of_addresses) {
    return {};
  }
  const Node* node = &root;
  std::uintptr_t entry = empty;
  for (unsigned level = levels - 1; level > 0; --level) {
    entry = node->entries[slot_of(address, level)].load(std::memory_order_acquire);
    if (entry == empty || is_record(entry)) {
      return {entry, nullptr};
    }
    node = as_node(entry);
  }
  return {empty, static_cast<Leaf*>(as_node(entry))};
}

std::uintptr_t Registry::Impl::entry_for(std::uintptr_t address) const noexcept {
  const Place place = place_of(address);
  return place.leaf != nullptr ? place.leaf->entry(address).load(std::memory_order_acquire) : place.entry;
}

/// Null: it is not there, or a record above covers its range.
Leaf* Registry::Impl::leaf_for(std::uintptr_t address) const noexcept { return place_of(address).leaf; }

/// A record of `allocation`, for nobody to see yet.
Record* Registry::Impl::make_record(const Allocation& allocation) {
  Record* record = nullptr;
  if (idle_records.count() > 64) {
    record = idle_records.pop();
  } else {
    idle_records.make_room(record_count + 1);
    record = memory.make<Record>();
    ++record_count;
  }
  record->write(allocation, 0);
  return record;
}

bool Registry::Impl::occupied(const Node& node, unsigned level, std::uintptr_t first,
                              std::uintptr_t last) const noexcept {
  bool found = false;
  for_each_slot(level, first, last, [&](std::size_t slot, bool, std::uintptr_t from, std::uintptr_t to) {
    const std::uintptr_t entry = node.entries[slot].load(std::memory_order_relaxed);
    found = found || is_record(entry) ||
            (entry != empty && (level == 0 || occupied(*as_node(entry), level - 1, from, to)));
  });
  return found;
}

/// Makes every node that filling will pass through, so that filling needs no memory.
void Registry::Impl::prepare(Node& node, unsigned level, std::uintptr_t first, std::uintptr_t last) {
  for_each_slot(
      level, first, last, [&](std::size_t slot, bool whole, std::uintptr_t from, std::uintptr_t to) {
        if (whole) {
          return;
        }
        mutex.assert_held();
        if (node.entries[slot].load(std::memory_order_relaxed) == empty) {
          Node* const made = level == 1 ? memory.make<Leaf>() : memory.make<Node>();
          node.entries[slot].store(reinterpret_cast<std::uintptr_t>(made), std::memory_order_release);
        }
        prepare(*as_node(node.entries[slot].load(std::memory_order_relaxed)), level - 1, from, to);
      });
}

/// false: a page of the range became somebody's meanwhile; the rest may be filled.
bool Registry::Impl::fill(Node& node, unsigned level, std::uintptr_t first, std::uintptr_t last,
                          std::uintptr_t value) noexcept {
  bool filled = true;
  for_each_slot(level, first, last,
                [&](std::size_t slot, bool whole, std::uintptr_t from, std::uintptr_t to) {
                  const std::uintptr_t entry = node.entries[slot].load(std::memory_order_relaxed);
                  // A node that is there stays: it may have been filled before and be wanted again, and a
                  // reader may be inside.
                  if (level > 0 && entry != empty && !is_record(entry)) {
                    filled = fill(*as_node(entry), level - 1, from, to, value) && filled;
                  } else if (whole) {
                    std::uintptr_t nobody = empty;
                    filled = node.entries[slot].compare_exchange_strong(
                                 nobody, value, std::memory_order_release, std::memory_order_relaxed) &&
                             filled;
                  }
                });
  return filled;
}

/// Takes `value` out wherever it is in the range.
void Registry::Impl::clear(Node& node, unsigned level, std::uintptr_t first, std::uintptr_t last,
                           std::uintptr_t value) noexcept {
  for_each_slot(level, first, last, [&](std::size_t slot, bool, std::uintptr_t from, std::uintptr_t to) {
    const std::uintptr_t entry = node.entries[slot].load(std::memory_order_relaxed);
    if (entry == value) {
      node.entries[slot].store(empty, std::memory_order_release);
    } else if (level > 0 && entry != empty && !is_record(entry)) {
      clear(*as_node(entry), level - 1, from, to, value);
    }
  });
}

/// false: a page of the range became somebody's since it was found to be nobody's.
bool Registry::Impl::insert_range(const Allocation& allocation) {
  const std::uintptr_t first = allocation.first_page();
  const std::uintptr_t last = first + allocation.span_bytes() - 1;
  Record* const record = make_record(allocation);
  if (fill(root, levels - 1, first, last, tagged(record))) {
    return true;
  }
  clear(root, levels - 1, first, last, tagged(record));
  idle_records.push(record);
  return false;
}

Registry::Registry() : impl_(std::make_unique<Impl>()) {}

Registry::~Registry() = default;

Status Registry::insert(const Allocation& allocation) {
  const std::uintptr_t first = allocation.first_page();
  const std::uintptr_t last = first + allocation.span_bytes() - 1;
  if (allocation.span_bytes() == 0 || (allocation.base != first && !allocation.imported) || last < first ||
      last >= end_of_addresses) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} bytes at {:#x} are not whole pages of the address space",
                                  allocation.span_bytes(), allocation.base));
  }
  const bool one_page = last - first < small_page_bytes;
  if (Leaf* const leaf = one_page ? impl_->leaf_for(first) : nullptr;
      leaf != nullptr && insert_page(*leaf, allocation)) {
    return {};
  }
  const ScopedLock lock(impl_->mutex);
  if (!impl_->occupied(impl_->root, levels - 1, first, last)) {
    impl_->prepare(impl_->root, levels - 1, first, last);
    if (one_page ? insert_page(*impl_->leaf_for(first), allocation) : impl_->insert_range(allocation)) {
      return {};
    }
  }
  return make_error(ErrorCode::invalid_argument, fmt::format("{} bytes at {:#x} overlap a live allocation",
                                                             allocation.span_bytes(), first));
}

std::optional<Allocation> Registry::erase(std::uintptr_t base, const Context* owner, bool imported) {
  return take_out(base, owner, false, imported);
}

std::optional<Allocation> Registry::erase_reservation(std::uintptr_t base, const Context* owner) {
  return take_out(base, owner, true, false);
}

std::optional<Allocation> Registry::take_out(std::uintptr_t base, const Context* owner, bool reservation,
                                             bool imported) {
  const Claim claim{base, owner, reservation, imported};
  if (base >= end_of_addresses) {
    return std::nullopt;
  }
  // A page that gets a record of its own meanwhile is another allocation.
  if (Leaf* const leaf = impl_->leaf_for(base); leaf != nullptr && leaf->has_own_record(base)) {
    return take_page(leaf->entry(base), leaf->record(base), claim);
  }
  const ScopedLock lock(impl_->mutex);
  const std::uintptr_t entry = impl_->entry_for(base);
  if (Leaf* const leaf = impl_->leaf_for(base); leaf != nullptr && entry == tagged(&leaf->record(base))) {
    return std::nullopt;
  }
  Allocation allocation;
  if (!is_record(entry) || !as_record(entry)->read(allocation) || !claim.covers(allocation)) {
    return std::nullopt;
  }
  impl_->idle_records.push(as_record(entry));
  const std::uintptr_t first = allocation.first_page();
  impl_->clear(impl_->root, levels - 1, first, first + allocation.span_bytes() - 1, entry);
  return allocation;
}

std::optional<Allocation> Registry::find(std::uintptr_t address) const noexcept {
  std::optional<Allocation> found(std::in_place);
  Impl::Place place = impl_->place_of(address);
  if (place.leaf != nullptr) {
    if (place.leaf->record(address).read_in_force(*found)) {
      return found;
    }
    // Part of a larger allocation, or nobody's.
    place.entry = place.leaf->entry(address).load(std::memory_order_acquire);
  }
  if (!is_record(place.entry) || !as_record(place.entry)->read(*found) ||
      address - found->first_page() >= found->span_bytes()) {
    found.reset();
  }
  return found;
}

}  // namespace datum
