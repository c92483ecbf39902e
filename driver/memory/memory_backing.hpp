// What an allocation occupies, and how it is given back.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/unique_fd.hpp>

#include "driver/memory/address_window.hpp"
#include "driver/memory/host_pool.hpp"
#include "driver/memory/page_kind.hpp"
#include "driver/memory/page_run.hpp"

namespace datum {

class DeviceHeap;
class ImportedMemory;

/// Says that what an allocation occupies is not where it was taken: shared with others for a while.
class PagesElsewhere {
 public:
  PagesElsewhere() = default;
  virtual ~PagesElsewhere() = default;
  PagesElsewhere(const PagesElsewhere&) = delete;
  PagesElsewhere& operator=(const PagesElsewhere&) = delete;

  /// No board uses the pages any longer, the allocation is gone: everything back to where it was taken.
  /// false: the pages may still be used by others and must not be handed out again.
  virtual bool end() noexcept = 0;

  /// The file that the pages moved into stays here until it is listed as exported: whoever failed on the way
  /// there goes on from it, since there is no way back.
  void keep_file(UniqueFd file) noexcept { file_ = std::move(file); }

  /// Invalid: it is listed.
  [[nodiscard]] const UniqueFd& file() const noexcept { return file_; }

 private:
  UniqueFd file_;
};

/// Given back by the destructor: it runs when the last holder lets go, be that the call that freed the
/// allocation or the quarantine of a space.
class MemoryBacking : public std::enable_shared_from_this<MemoryBacking> {
 public:
  /// Pages of a board's memory and the addresses that stand for them.
  static Result<std::shared_ptr<MemoryBacking>> take_device(AddressWindow& window, DeviceHeap& heap,
                                                            std::uint64_t bytes, std::uint64_t alignment);
  /// Host memory, at its own address for everybody. `owner` is the number of the context.
  static Result<std::shared_ptr<MemoryBacking>> take_host(HostPool& pool, std::span<DmaMap* const> maps,
                                                          std::uint64_t bytes, std::uint64_t alignment,
                                                          std::uint32_t owner);
  /// Memory of another process, or of this one once more.
  static std::shared_ptr<MemoryBacking> take_imported(std::unique_ptr<ImportedMemory> imported);
  ~MemoryBacking();
  MemoryBacking(const MemoryBacking&) = delete;
  MemoryBacking& operator=(const MemoryBacking&) = delete;

  [[nodiscard]] std::uintptr_t base() const noexcept;

  [[nodiscard]] bool on_device() const noexcept { return heap_ != nullptr; }

  [[nodiscard]] DeviceHeap& heap() noexcept { return *heap_; }

  [[nodiscard]] const std::vector<PageRun>& runs() const noexcept { return runs_; }  ///< on_device()

  [[nodiscard]] const HostPages& pages() const noexcept { return pages_; }  ///< not on_device()

  [[nodiscard]] const ImportedMemory* imported() const noexcept { return imported_.get(); }

  /// Room to retire it in so many spaces, made before it is mapped, so that to free it takes no memory.
  void make_room_to_retire(std::size_t spaces) {
    if (retirements_.size() < spaces) {
      retirements_.resize(spaces);
    }
  }

  /// For AddressSpace::unmap, which takes one where a board may have seen the pages.
  [[nodiscard]] std::list<std::shared_ptr<void>>& retirements() noexcept { return retirements_; }

  /// Somebody began to export the allocation: whoever frees it has to look for its export.
  void mark_shared() noexcept { shared_.exchange(true, std::memory_order_acq_rel); }

  /// Whether it was shared when its allocation was taken out of the registry. Either this sees the mark, or
  /// whoever marks it afterwards sees that the allocation is gone: both write the same word, so one comes
  /// first.
  [[nodiscard]] bool shared_at_end() noexcept {
    bool shared = false;
    return !shared_.compare_exchange_strong(shared, false, std::memory_order_acq_rel,
                                            std::memory_order_acquire);
  }

  [[nodiscard]] bool is_shared() const noexcept { return shared_.load(std::memory_order_seq_cst); }

  /// One page, and no more addresses than for that, which may wait idle for the next allocation of `kind`.
  /// Called before others know the allocation.
  void set_kind(const PageKind& kind) noexcept {
    kind_ = kind;
    interchangeable_ = true;
  }

  /// Its pages were mapped after the context's books had counted so many commits. `mapped_at` is
  /// PageBooks::commits().
  void set_mapped(std::uint64_t mapped_at) noexcept { mapped_at_ = mapped_at; }

  [[nodiscard]] bool is_mapped() const noexcept { return mapped_at_ != unmapped; }

  /// Nothing distinguishes it from the next of its kind.
  [[nodiscard]] bool may_idle() const noexcept {
    return interchangeable_ && !foreign_ && !is_shared() && elsewhere_ == nullptr;
  }

  /// The board was asked to clear pages of it: they hold another context's data until it did.
  void mark_foreign() noexcept { foreign_ = true; }

  [[nodiscard]] bool is_foreign() const noexcept { return foreign_; }

  /// What ends before the memory is given back. At most once.
  void move_elsewhere(std::unique_ptr<PagesElsewhere> pages) noexcept { elsewhere_ = std::move(pages); }

  /// Null: the pages are where they were taken.
  [[nodiscard]] PagesElsewhere* elsewhere() noexcept { return elsewhere_.get(); }

  /// Memory of the process that is pinned where it is: its pins map it, not the context.
  [[nodiscard]] bool pinned() const noexcept { return pinned_; }

  /// The pages of the device wait for the board's word that it forgot them: the heap counts them as such
  /// until they are given back.
  void wait_for_board() noexcept;

 protected:
  MemoryBacking() noexcept;

  /// Pinned memory at `base`, of which a derived class holds the pins.
  explicit MemoryBacking(void* base) noexcept;

 private:
  friend class BackingList;
  friend class PageBooks;
  static constexpr std::uint64_t unmapped = ~std::uint64_t{0};

  AddressWindow* window_ = nullptr;
  DeviceHeap* heap_ = nullptr;
  bool pinned_ = false;
  bool waits_for_board_ = false;
  bool foreign_ = false;
  bool interchangeable_ = false;
  std::uint8_t shard_ = 0;  ///< of the books, as the next two
  PageKind kind_;
  std::uint64_t mapped_at_ = unmapped;
  AddressRange range_{};
  std::vector<PageRun> runs_;
  HostPool* pool_ = nullptr;
  HostPages pages_{};
  std::unique_ptr<ImportedMemory> imported_;
  std::unique_ptr<PagesElsewhere> elsewhere_;
  std::list<std::shared_ptr<void>> retirements_;  ///< empty places
  std::atomic<bool> shared_{false};
  std::shared_ptr<MemoryBacking> self_;  ///< while in a BackingList
  MemoryBacking* previous_ = nullptr;
  MemoryBacking* next_ = nullptr;
};

/// The live allocations of a context. Constant time, and nothing to allocate. Not thread safe.
class BackingList {
 public:
  void add(std::shared_ptr<MemoryBacking> backing) noexcept;
  std::shared_ptr<MemoryBacking> remove(MemoryBacking& backing) noexcept;

  [[nodiscard]] MemoryBacking* first() noexcept { return first_; }

 private:
  MemoryBacking* first_ = nullptr;
};

}  // namespace datum
