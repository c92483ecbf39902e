#include "driver/memory/address_space.hpp"

#include <atomic>
#include <list>
#include <map>
#include <new>
#include <utility>

#include <datum/base/mutex.hpp>
#include <datum/hw/registers.hpp>

#include "driver/device/board.hpp"
#include "driver/device/mmu.hpp"
#include "driver/memory/brief_mutex.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/memory/page_books.hpp"
#include "driver/memory/page_tables.hpp"
#include "driver/memory/rollback.hpp"

namespace datum {
namespace {

constexpr unsigned driver_space = 0;
// The board takes one invalidation at a time; beyond so many, forgetting the whole space costs less than
// asking range by range.
constexpr std::size_t most_ranges = 16;

std::uint64_t leaf_for(const PageTarget& target, PageRights rights) noexcept {
  hw::Pte entry;
  entry.set_valid(true)
      .set_leaf(true)
      .set_writable(rights.writable)
      .set_host(target.host)
      .set_cache_policy(rights.cache_policy);
  if (target.host) {
    entry.set_address_bytes(raw(target.iova));
  } else {
    entry.set_ordinal(static_cast<std::uint8_t>(target.device.ordinal))
        .set_address_bytes(target.device.offset_bytes);
  }
  return entry.raw;
}

/// Gives table pages back when the board has forgotten them.
struct UnusedTables {
  DeviceHeap& heap;
  std::unique_ptr<PageTable> tables;

  explicit UnusedTables(DeviceHeap& from) : heap(from) {}

  UnusedTables(const UnusedTables&) = delete;
  UnusedTables& operator=(const UnusedTables&) = delete;

  ~UnusedTables() { PageTables::give_back(heap, std::move(tables)); }
};

struct Range {
  std::uint64_t va = 0;
  std::uint64_t bytes = 0;  ///< 0: the whole space
};

/// What one commit brings to the board.
struct Batch {
  std::uint64_t version = 0;
  DeviceAddress root{};
  std::map<std::uint64_t, std::vector<PageRun>> to_clear;
  TableWrites writes;
  std::vector<Range> owed;
  std::list<std::shared_ptr<void>> retired;
};

}  // namespace

struct AddressSpace::Impl {
  Impl(Board& of, DeviceHeap& from, Clear with) : board(of), heap(from), clear(std::move(with)) {}

  Board& board;
  DeviceHeap& heap;
  Clear clear;
  unsigned number = driver_space;

  Mutex commit_mutex;                                    ///< before `mutex`; held while the board works
  bool root_set DATUM_GUARDED_BY(commit_mutex) = false;  ///< under commit_mutex
  std::atomic<std::uint64_t> committed{0};
  std::atomic<std::uint64_t> commits{0};
  PageBooks* books = nullptr;

  BriefMutex mutex;  ///< of all below; never held while the board works
  std::atomic<std::uint64_t> changes{0};
  std::unique_ptr<PageTables> tables DATUM_GUARDED_BY(mutex);
  std::vector<Range> owed DATUM_GUARDED_BY(mutex);  ///< room for most_ranges: to owe one more takes no memory
  std::list<std::shared_ptr<void>>
      retired DATUM_GUARDED_BY(mutex);  ///< in which nothing that is moved takes memory
  std::map<std::uint64_t, std::vector<PageRun>> to_clear DATUM_GUARDED_BY(mutex);

  Status build();
  Status map_locked(std::uint64_t va, const PageTarget& target, std::uint64_t bytes, PageRights rights)
      DATUM_REQUIRES(mutex);
  bool unmap_locked(std::uint64_t va, std::uint64_t bytes) noexcept DATUM_REQUIRES(mutex);
  bool replace_locked(std::uint64_t va, const PageTarget& target, std::uint64_t bytes,
                      PageRights rights) noexcept DATUM_REQUIRES(mutex);
  Status prepare_locked(std::span<const PageChange> changes) DATUM_REQUIRES(mutex);
  void keep_unused_tables(std::uint64_t va, std::uint64_t bytes) noexcept DATUM_REQUIRES(mutex);
  void owe(Range range) noexcept DATUM_REQUIRES(mutex);
  Batch begin_batch() DATUM_REQUIRES(commit_mutex);
  Batch take_batch() DATUM_REQUIRES(mutex);
  Status bring(const Batch& batch) DATUM_REQUIRES(commit_mutex);
  void put_back(Batch batch) noexcept;
};

Status AddressSpace::Impl::build() {
  Result<std::unique_ptr<PageTables>> made = PageTables::create(heap);
  if (!made.ok()) {
    return std::move(made).error();
  }
  const ScopedLock lock(mutex);
  tables = std::move(*made);
  owed.reserve(most_ranges);
  changes.store(1, std::memory_order_relaxed);  // the root itself
  return {};
}

void AddressSpace::Impl::owe(Range range) noexcept {
  if (owed.size() == 1 && owed.front().bytes == 0) {
    return;
  }
  if (!owed.empty() && owed.back().va + owed.back().bytes == range.va) {
    owed.back().bytes += range.bytes;
    return;
  }
  if (owed.size() >= most_ranges) {
    owed.assign(1, Range{});
    return;
  }
  owed.push_back(range);
}

Status AddressSpace::Impl::map_locked(std::uint64_t va, const PageTarget& target, std::uint64_t bytes,
                                      PageRights rights) {
  Status set = tables->set(va, bytes, leaf_for(target, rights));
  keep_unused_tables(va, bytes);
  changes.fetch_add(1, std::memory_order_release);
  return set;
}

/// Never fails: what called it is done.
void AddressSpace::Impl::keep_unused_tables(std::uint64_t va, std::uint64_t bytes) noexcept {
  if (!tables->has_unused_tables()) {
    return;
  }
  try {
    auto kept = std::make_shared<UnusedTables>(heap);
    retired.push_back(kept);
    kept->tables = tables->take_unused_tables();
    owe({va, bytes});
  } catch (const std::bad_alloc&) {
    owed.assign(1, Range{});  // they wait for a later change; the board forgets them with this one
  }
}

/// All that can fail: leaves are split at the ends of what changes, and where they are too large for what
/// they become; what was not mapped gets mapped.
Status AddressSpace::Impl::prepare_locked(std::span<const PageChange> wanted) {
  for (const PageChange& change : wanted) {
    if (!change.was_mapped) {
      continue;
    }
    for (const std::uint64_t end : {raw(change.va), raw(change.va) + change.bytes}) {
      if (Status split = tables->split(end); !split.ok()) {
        return split;
      }
    }
  }
  for (const PageChange& change : wanted) {
    if (!change.was_mapped || !change.is_mapped) {
      continue;
    }
    if (Status made =
            tables->make_replaceable(raw(change.va), change.bytes, leaf_for(change.target, change.rights));
        !made.ok()) {
      return made;
    }
  }
  const auto is_new = [](const PageChange& change) { return !change.was_mapped && change.is_mapped; };
  std::size_t index = 0;
  Rollback undo([&]() noexcept {
    mutex.assert_held();
    for (const PageChange& before : wanted.first(index)) {
      if (is_new(before)) {
        unmap_locked(raw(before.va), before.bytes);
      }
    }
  });
  for (; index < wanted.size(); ++index) {
    const PageChange& change = wanted[index];
    if (!is_new(change)) {
      continue;
    }
    if (Status mapped = map_locked(raw(change.va), change.target, change.bytes, change.rights);
        !mapped.ok()) {
      return mapped;
    }
  }
  undo.dismiss();
  return {};
}

/// After make_replaceable. Whether the board may have seen what was there.
bool AddressSpace::Impl::replace_locked(std::uint64_t va, const PageTarget& target, std::uint64_t bytes,
                                        PageRights rights) noexcept {
  const bool seen = tables->replace(va, bytes, leaf_for(target, rights));
  if (seen) {
    owe({va, bytes});
  }
  changes.fetch_add(1, std::memory_order_release);
  return seen;
}

bool AddressSpace::Impl::unmap_locked(std::uint64_t va, std::uint64_t bytes) noexcept {
  const bool seen = tables->clear(va, bytes);
  if (!to_clear.empty()) {
    to_clear.erase(to_clear.lower_bound(va), to_clear.lower_bound(va + bytes));
  }
  if (seen) {
    owe({va, bytes});
    changes.fetch_add(1, std::memory_order_release);
  }
  return seen;
}

Batch AddressSpace::Impl::take_batch() {
  Batch batch;
  batch.version = changes.load(std::memory_order_acquire);
  // What may run out of memory comes first, so that nothing is lost when it does.
  batch.owed.reserve(most_ranges);
  batch.root = tables->root();
  batch.writes = tables->take_changes();
  batch.owed.swap(owed);
  batch.retired.swap(retired);
  batch.to_clear.swap(to_clear);
  return batch;
}

/// Nothing is both idle and on its way to the board.
Batch AddressSpace::Impl::begin_batch() {
  const auto take = [this] {
    const ScopedLock lock(mutex);
    commits.fetch_add(1, std::memory_order_release);
    return take_batch();
  };
  if (books == nullptr) {
    return take();
  }
  const ScopedLock idle(*books);
  books->withdraw();
  return take();
}

Status AddressSpace::Impl::bring(const Batch& batch) {
  if (!batch.to_clear.empty()) {
    std::vector<PageRun> runs;
    for (const auto& entry : batch.to_clear) {
      runs.insert(runs.end(), entry.second.begin(), entry.second.end());
    }
    if (Status cleared = clear(runs); !cleared.ok()) {
      return cleared;
    }
  }
  Mmu& mmu = board.mmu();
  for (const TableWrites::Piece& piece : batch.writes.pieces) {
    if (Status written =
            mmu.write_entries(piece.at, std::span(batch.writes.entries).subspan(piece.first, piece.count));
        !written.ok()) {
      return written;
    }
  }
  if (!batch.writes.pieces.empty()) {
    if (Status flushed = mmu.flush_writes(); !flushed.ok()) {
      return flushed;
    }
  }
  if (!root_set) {
    if (Status set = mmu.set_root(number, batch.root); !set.ok()) {
      return set;
    }
    root_set = true;
  }
  for (const Range& range : batch.owed) {
    if (Status forgotten = mmu.invalidate(number, DeviceVa{range.va}, range.bytes); !forgotten.ok()) {
      return forgotten;
    }
  }
  return {};
}

void AddressSpace::Impl::put_back(Batch batch) noexcept {
  const ScopedLock lock(mutex);
  tables->put_back(batch.writes);
  for (const Range& range : batch.owed) {
    range.bytes == 0 ? owed.assign(1, Range{}) : owe(range);
  }
  to_clear.merge(batch.to_clear);
  retired.splice(retired.begin(), batch.retired);
}

AddressSpace::AddressSpace() = default;

Result<std::unique_ptr<AddressSpace>> AddressSpace::create(Board& board, DeviceHeap& heap, Clear clear) {
  std::unique_ptr<AddressSpace> space(new AddressSpace);
  auto impl = std::make_unique<Impl>(board, heap, std::move(clear));
  if (Status built = impl->build(); !built.ok()) {
    return std::move(built).error();
  }
  Result<unsigned> number = board.mmu().acquire_space();
  if (!number.ok()) {
    return std::move(number).error();
  }
  impl->number = *number;
  space->impl_ = std::move(impl);
  return space;
}

Result<std::unique_ptr<AddressSpace>> AddressSpace::create_driver_space(Board& board, DeviceHeap& heap) {
  std::unique_ptr<AddressSpace> space(new AddressSpace);
  auto impl = std::make_unique<Impl>(board, heap, [](std::span<const PageRun>) { return Status{}; });
  if (Status built = impl->build(); !built.ok()) {
    return std::move(built).error();
  }
  space->impl_ = std::move(impl);
  return space;
}

AddressSpace::~AddressSpace() {
  if (!impl_) {
    return;
  }
  if (impl_->root_set) {
    // A board that does not answer cannot use the tables either: its loss was recorded where it was found.
    static_cast<void>(impl_->board.mmu().clear_root(impl_->number));
  }
  if (impl_->number != driver_space) {
    impl_->board.mmu().release_space(impl_->number);
  }
}

void AddressSpace::set_books(PageBooks* books) noexcept { impl_->books = books; }

std::uint64_t AddressSpace::commits() const noexcept {
  return impl_->commits.load(std::memory_order_acquire);
}

unsigned AddressSpace::number() const noexcept { return impl_->number; }

Status AddressSpace::map(DeviceVa va, PageTarget target, std::uint64_t bytes, PageRights rights) {
  const ScopedLock lock(impl_->mutex);
  return impl_->map_locked(raw(va), target, bytes, rights);
}

/// In one step, so that no commit brings a part, or brings pages ahead of their clearing.
Status AddressSpace::map_runs(DeviceVa va, std::span<const PageRun> runs, PageRights rights,
                              std::vector<PageRun> foreign) {
  const ScopedLock lock(impl_->mutex);
  std::uint64_t mapped_bytes = 0;
  Rollback undo([&]() noexcept {
    impl_->mutex.assert_held();
    if (mapped_bytes != 0) {
      impl_->unmap_locked(raw(va), mapped_bytes);
    }
    impl_->to_clear.erase(raw(va));
  });
  if (!foreign.empty()) {
    impl_->to_clear.insert_or_assign(raw(va), std::move(foreign));
  }
  for (const PageRun& run : runs) {
    PageTarget target;
    target.device = run.first;
    if (Status mapped = impl_->map_locked(raw(va) + mapped_bytes, target, run.bytes, rights); !mapped.ok()) {
      return mapped;
    }
    mapped_bytes += run.bytes;
  }
  undo.dismiss();
  return {};
}

bool AddressSpace::unmap(DeviceVa va, std::uint64_t bytes) noexcept {
  const ScopedLock lock(impl_->mutex);
  return impl_->unmap_locked(raw(va), bytes);
}

bool AddressSpace::unmap(DeviceVa va, std::uint64_t bytes, std::shared_ptr<void> kept, Retirements& room) {
  if (room.empty()) {
    room.emplace_back();
  }
  const ScopedLock lock(impl_->mutex);
  const bool seen = impl_->unmap_locked(raw(va), bytes);
  if (seen) {
    room.front() = std::move(kept);
    impl_->retired.splice(impl_->retired.end(), room, room.begin());
  }
  return seen;
}

Status AddressSpace::unmap_now(DeviceVa va, std::uint64_t bytes) {
  return unmap(va, bytes) ? commit() : Status{};
}

Status AddressSpace::replace(DeviceVa va, PageTarget target, std::uint64_t bytes, PageRights rights) {
  {
    const ScopedLock lock(impl_->mutex);
    if (Status made = impl_->tables->make_replaceable(raw(va), bytes, leaf_for(target, rights)); !made.ok()) {
      return made;
    }
    impl_->replace_locked(raw(va), target, bytes, rights);
  }
  return commit();
}

Status AddressSpace::make_room_to_replace(DeviceVa va, PageTarget target, std::uint64_t bytes,
                                          PageRights rights) {
  const ScopedLock lock(impl_->mutex);
  return impl_->tables->make_replaceable(raw(va), bytes, leaf_for(target, rights));
}

Result<bool> AddressSpace::change(std::span<const PageChange> changes) {
  const ScopedLock lock(impl_->mutex);
  if (Status prepared = impl_->prepare_locked(changes); !prepared.ok()) {
    return std::move(prepared).error();
  }
  bool seen = false;
  for (const PageChange& change : changes) {
    if (!change.was_mapped) {
      continue;
    }
    seen =
        (change.is_mapped ? impl_->replace_locked(raw(change.va), change.target, change.bytes, change.rights)
                          : impl_->unmap_locked(raw(change.va), change.bytes)) ||
        seen;
  }
  return seen;
}

void AddressSpace::forget_tables(DeviceVa va, std::uint64_t bytes) noexcept {
  const ScopedLock lock(impl_->mutex);
  impl_->tables->drop_empty_tables(raw(va), bytes);
  impl_->keep_unused_tables(raw(va), bytes);
  impl_->changes.fetch_add(1, std::memory_order_release);
}

void AddressSpace::clear_before_use(DeviceVa va, std::vector<PageRun> runs) {
  const ScopedLock lock(impl_->mutex);
  impl_->to_clear.insert_or_assign(raw(va), std::move(runs));
  impl_->changes.fetch_add(1, std::memory_order_release);
}

bool AddressSpace::cancel_clear(DeviceVa va) {
  const ScopedLock lock(impl_->mutex);
  return impl_->to_clear.erase(raw(va)) != 0;
}

void AddressSpace::retire(std::shared_ptr<void> kept) {
  const ScopedLock lock(impl_->mutex);
  impl_->retired.push_back(std::move(kept));
  impl_->changes.fetch_add(1, std::memory_order_release);
}

void AddressSpace::retire(Retirements kept) noexcept {
  const ScopedLock lock(impl_->mutex);
  impl_->retired.splice(impl_->retired.end(), kept);
  impl_->changes.fetch_add(1, std::memory_order_release);
}

Status AddressSpace::commit() {
  Impl& impl = *impl_;
  if (impl.committed.load(std::memory_order_acquire) == impl.changes.load(std::memory_order_acquire)) {
    return {};
  }
  const ScopedLock commit_lock(impl.commit_mutex);
  Batch batch = impl.begin_batch();
  Status brought;
  try {
    brought = impl.bring(batch);
  } catch (...) {
    impl.put_back(std::move(batch));
    throw;
  }
  if (!brought.ok()) {
    impl.put_back(std::move(batch));
    return brought;
  }
  impl.committed.store(batch.version, std::memory_order_release);
  return {};  // the batch ends here, and with it what had been retired
}

}  // namespace datum
