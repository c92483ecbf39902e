#include "driver/memory/host_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <datum/base/mutex.hpp>

#include "driver/memory/dma_map.hpp"

namespace datum {
namespace {

constexpr std::uint64_t size_of(unsigned size_index) noexcept { return 64ULL << size_index; }

constexpr std::uint64_t full_mask(unsigned size_index) noexcept {
  const std::uint64_t blocks = small_page_bytes / size_of(size_index);
  return blocks == 64 ? ~0ULL : (1ULL << blocks) - 1;
}

}  // namespace

HostArena::HostArena(HostPool& pool, DmaMap& dma) : pool_(pool), dma_(dma) {}

HostArena::~HostArena() {
  for (const auto& entry : pages_) {
    pool_.release(entry.second);
  }
  for (const auto& entry : small_pages_) {
    pool_.release(entry.second.pages);
  }
}

Result<HostBlock> HostArena::allocate(std::uint64_t bytes) {
  if (bytes > small_page_bytes / 2) {
    return allocate_pages(bytes);
  }
  const std::uint64_t size = std::bit_ceil(std::max(bytes, smallest_bytes));
  return allocate_small(static_cast<unsigned>(std::countr_zero(size / smallest_bytes)));
}

Result<HostBlock> HostArena::allocate_pages(std::uint64_t bytes) {
  DmaMap* const maps[] = {&dma_};
  Result<HostPages> pages = pool_.take(bytes, small_page_bytes, maps);
  if (!pages.ok()) {
    return std::move(pages).error();
  }
  try {
    const ScopedLock lock(mutex_);
    pages_.emplace(pages->host, *pages);
  } catch (...) {
    pool_.release(*pages);
    throw;
  }
  const std::uint64_t whole = align_up(bytes, small_page_bytes);
  if (!pages->unused_before) {
    std::memset(pages->host, 0, whole);
  }
  return HostBlock{pages->host, pages->iova(dma_), whole};
}

/// The caller holds the lock; a page of that size has room.
HostBlock HostArena::take_small(unsigned size_index) noexcept {
  std::byte* const host = with_room_[size_index].back();
  SmallPage& page = small_pages_.find(host)->second;
  const auto index = static_cast<unsigned>(std::countr_one(page.used));
  page.used |= 1ULL << index;
  if (page.used == full_mask(size_index)) {
    with_room_[size_index].pop_back();
  }
  const std::uint64_t offset = index * size_of(size_index);
  std::memset(host + offset, 0, size_of(size_index));
  return HostBlock{host + offset, page.pages.iova(dma_) + offset, size_of(size_index)};
}

Result<HostBlock> HostArena::allocate_small(unsigned size_index) {
  {
    const ScopedLock lock(mutex_);
    if (!with_room_[size_index].empty()) {
      return take_small(size_index);
    }
  }
  // Without the lock: the kernel may be slow to map more. Where two do this at once there are two pages.
  DmaMap* const maps[] = {&dma_};
  Result<HostPages> pages = pool_.take(small_page_bytes, small_page_bytes, maps);
  if (!pages.ok()) {
    return std::move(pages).error();
  }
  try {
    const ScopedLock lock(mutex_);
    with_room_[size_index].reserve(small_pages_.size() + 1);  // so that free never allocates
    small_pages_.emplace(pages->host, SmallPage{*pages, 0, size_index});
    with_room_[size_index].push_back(pages->host);
    return take_small(size_index);
  } catch (...) {
    pool_.release(*pages);
    throw;
  }
}

void HostArena::free(const HostBlock& block) {
  if (const std::optional<HostPages> unused = take_out(block)) {
    pool_.release(*unused);  // without the lock: it may undo a mapping
  }
}

/// The pages that nobody uses any more, if there are.
std::optional<HostPages> HostArena::take_out(const HostBlock& block) {
  const ScopedLock lock(mutex_);
  if (const auto whole = pages_.find(block.host); whole != pages_.end()) {
    return pages_.extract(whole).mapped();
  }
  auto* const host = reinterpret_cast<std::byte*>(
      align_down(reinterpret_cast<std::uintptr_t>(block.host), small_page_bytes));
  const auto found = small_pages_.find(host);
  if (found == small_pages_.end()) {
    return std::nullopt;
  }
  SmallPage& page = found->second;
  std::vector<std::byte*>& room = with_room_[page.size_index];
  const bool was_full = page.used == full_mask(page.size_index);
  page.used &= ~(1ULL << (static_cast<std::uint64_t>(block.host - host) / size_of(page.size_index)));
  if (was_full) {
    room.push_back(host);
  }
  if (page.used != 0 || room.size() < 2) {
    return std::nullopt;
  }
  std::erase(room, host);
  return small_pages_.extract(found).mapped().pages;
}

}  // namespace datum
