#include "driver/memory/memory_backing.hpp"

#include <utility>

#include "driver/memory/device_heap.hpp"
#include "driver/memory/imported_memory.hpp"

namespace datum {

Result<std::shared_ptr<MemoryBacking>> MemoryBacking::take_device(AddressWindow& window, DeviceHeap& heap,
                                                                  std::uint64_t bytes,
                                                                  std::uint64_t alignment) {
  struct Makeable : MemoryBacking {};

  std::shared_ptr<MemoryBacking> backing = std::make_shared<Makeable>();
  Result<std::vector<PageRun>> runs = heap.allocate(bytes);
  if (!runs.ok()) {
    return std::move(runs).error();
  }
  backing->heap_ = &heap;
  backing->runs_ = std::move(*runs);
  Result<AddressRange> range = window.take(bytes, alignment);
  if (!range.ok()) {
    return std::move(range).error();
  }
  backing->window_ = &window;
  backing->range_ = *range;
  return backing;
}

Result<std::shared_ptr<MemoryBacking>> MemoryBacking::take_host(HostPool& pool, std::span<DmaMap* const> maps,
                                                                std::uint64_t bytes, std::uint64_t alignment,
                                                                std::uint32_t owner) {
  struct Makeable : MemoryBacking {};

  std::shared_ptr<MemoryBacking> backing = std::make_shared<Makeable>();
  Result<HostPages> pages = pool.take(bytes, alignment, maps, owner);
  if (!pages.ok()) {
    return std::move(pages).error();
  }
  backing->pool_ = &pool;
  backing->pages_ = *pages;
  return backing;
}

std::shared_ptr<MemoryBacking> MemoryBacking::take_imported(std::unique_ptr<ImportedMemory> imported) {
  struct Makeable : MemoryBacking {};

  std::shared_ptr<MemoryBacking> backing = std::make_shared<Makeable>();
  backing->imported_ = std::move(imported);
  return backing;
}

MemoryBacking::MemoryBacking() noexcept = default;

MemoryBacking::MemoryBacking(void* base) noexcept : pinned_(true) {
  pages_.host = static_cast<std::byte*>(base);
}

MemoryBacking::~MemoryBacking() {
  if (elsewhere_ != nullptr && !elsewhere_->end()) {
    return;  // nobody gets these pages again
  }
  if (heap_ != nullptr) {
    heap_->free(runs_);
    if (waits_for_board_) {
      heap_->end_wait(runs_);
    }
  }
  if (window_ != nullptr) {
    window_->release(range_);
  }
  if (pool_ != nullptr) {
    pool_->release(pages_);
  }
}

void MemoryBacking::wait_for_board() noexcept {
  if (!waits_for_board_) {
    waits_for_board_ = true;
    heap_->begin_wait(runs_);
  }
}

std::uintptr_t MemoryBacking::base() const noexcept {
  if (imported_ != nullptr) {
    return imported_->base();
  }
  return on_device() ? range_.base : reinterpret_cast<std::uintptr_t>(pages_.host);
}

void BackingList::add(std::shared_ptr<MemoryBacking> backing) noexcept {
  MemoryBacking& added = *backing;
  added.next_ = first_;
  added.previous_ = nullptr;
  if (first_ != nullptr) {
    first_->previous_ = &added;
  }
  first_ = &added;
  added.self_ = std::move(backing);
}

std::shared_ptr<MemoryBacking> BackingList::remove(MemoryBacking& backing) noexcept {
  if (backing.previous_ != nullptr) {
    backing.previous_->next_ = backing.next_;
  } else {
    first_ = backing.next_;
  }
  if (backing.next_ != nullptr) {
    backing.next_->previous_ = backing.previous_;
  }
  return std::exchange(backing.self_, nullptr);
}

}  // namespace datum
