// What an allocation occupies, and how it is given back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "driver/memory/address_window.hpp"
#include "driver/memory/host_pool.hpp"
#include "driver/memory/page_run.hpp"

namespace datum {

class DeviceHeap;

/// Given back by the destructor: it runs when the last holder lets go, be that the call that freed the
/// allocation or the quarantine of a space.
class MemoryBacking : public std::enable_shared_from_this<MemoryBacking> {
 public:
  /// Pages of a board's memory and the addresses that stand for them.
  static Result<std::shared_ptr<MemoryBacking>> take_device(AddressWindow& window, DeviceHeap& heap,
                                                            std::uint64_t bytes, std::uint64_t alignment);
  /// Host memory, at its own address for everybody.
  static Result<std::shared_ptr<MemoryBacking>> take_host(HostPool& pool, std::span<DmaMap* const> maps,
                                                          std::uint64_t bytes, std::uint64_t alignment);
  ~MemoryBacking();
  MemoryBacking(const MemoryBacking&) = delete;
  MemoryBacking& operator=(const MemoryBacking&) = delete;

  [[nodiscard]] std::uintptr_t base() const noexcept;

  [[nodiscard]] bool on_device() const noexcept { return heap_ != nullptr; }

  [[nodiscard]] DeviceHeap& heap() noexcept { return *heap_; }

  [[nodiscard]] const std::vector<PageRun>& runs() const noexcept { return runs_; }  ///< on_device()

  [[nodiscard]] const HostPages& pages() const noexcept { return pages_; }  ///< not on_device()

  /// Memory of the process that is pinned where it is: its pins map it, not the context.
  [[nodiscard]] bool pinned() const noexcept { return pinned_; }

  /// The pages of the device wait for the board's word that it forgot them: the heap counts them as such
  /// until they are given back.
  void wait_for_board() noexcept;

 protected:
  MemoryBacking() = default;

  /// Pinned memory at `base`, of which a derived class holds the pins.
  explicit MemoryBacking(void* base) noexcept : pinned_(true) { pages_.host = static_cast<std::byte*>(base); }

 private:
  friend class BackingList;

  AddressWindow* window_ = nullptr;
  DeviceHeap* heap_ = nullptr;
  bool pinned_ = false;
  bool waits_for_board_ = false;
  AddressRange range_{};
  std::vector<PageRun> runs_;
  HostPool* pool_ = nullptr;
  HostPages pages_{};
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
