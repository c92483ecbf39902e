#include "driver/memory/address_window.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/mutex.hpp>

#include "driver/memory/host_limits.hpp"

namespace datum {
namespace {

constexpr std::uint64_t further_window_bytes = 64ULL << 30U;
constexpr std::uint64_t least_window_bytes = 64ULL << 20U;
constexpr int reservation_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

Error no_addresses(std::uint64_t bytes, int error) {
  return Error{ErrorCode::out_of_host_memory, error,
               fmt::format("no {} bytes of virtual addresses are left for the process; the limit of address "
                           "space is {}",
                           bytes, address_space_limit()),
               "free memory, or raise the limit of address space (ulimit -v)"};
}

void give_back(RangeAllocator& ranges, std::uint64_t first, std::uint64_t bytes) noexcept {
  try {
    ranges.release(first, bytes);
  } catch (...) {
    // No memory for the books: the addresses are not used again, which is better than an end in a call that
    // frees.
  }
}

}  // namespace

Result<std::unique_ptr<AddressWindow>> AddressWindow::reserve(std::uint64_t largest_bytes) {
  std::unique_ptr<AddressWindow> window(new AddressWindow);
  const ScopedLock lock(window->mutex_);
  window->windows_.reserve(max_windows);
  if (Status reserved = window->grow(largest_bytes, least_window_bytes); !reserved.ok()) {
    return std::move(reserved).error();
  }
  return window;
}

Status AddressWindow::grow(std::uint64_t wanted_bytes, std::uint64_t least_bytes) {
  const unsigned count = extent_count_.load(std::memory_order_relaxed);
  int error = ENOMEM;
  for (std::uint64_t bytes = wanted_bytes; bytes >= least_bytes && count < max_windows; bytes /= 2) {
    void* memory = ::mmap(nullptr, bytes, PROT_NONE, reservation_flags, -1, 0);
    if (memory == MAP_FAILED) {
      error = errno;
      continue;
    }
    if (bytes != wanted_bytes && bytes / 2 >= least_bytes) {
      // There is a limit, and the rest of the process lives under it too: the half of what could be had is
      // enough.
      bytes /= 2;
      ::munmap(static_cast<std::byte*>(memory) + bytes, bytes);
    }
    windows_.emplace_back(memory, bytes);
    const std::uint64_t first = align_up(reinterpret_cast<std::uintptr_t>(memory), large_page_bytes);
    const std::uint64_t end = align_down(reinterpret_cast<std::uintptr_t>(memory) + bytes, large_page_bytes);
    large_.release(first, end - first);
    extents_[count].first.store(reinterpret_cast<std::uintptr_t>(memory), std::memory_order_relaxed);
    extents_[count].end.store(reinterpret_cast<std::uintptr_t>(memory) + bytes, std::memory_order_relaxed);
    extent_count_.store(count + 1, std::memory_order_release);
    return {};
  }
  return no_addresses(least_bytes, error);
}

Result<std::uintptr_t> AddressWindow::take_large(std::uint64_t bytes, std::uint64_t alignment) {
  if (const auto taken = large_.take(bytes, alignment)) {
    return *taken;
  }
  const std::uint64_t least =
      bytes + alignment + large_page_bytes;  // wherever the kernel puts it, one aligned range fits
  if (Status grown = grow(std::max(further_window_bytes, least), std::min(least, further_window_bytes));
      !grown.ok()) {
    return no_addresses(bytes, grown.error().errno_value);
  }
  if (const auto taken = large_.take(bytes, alignment)) {
    return *taken;
  }
  return no_addresses(bytes, ENOMEM);
}

Result<BuddyBlock> AddressWindow::take_block(unsigned order) {
  if (const auto block = small_.take(order)) {
    return *block;
  }
  Result<std::uintptr_t> base = take_large(large_page_bytes, large_page_bytes);
  if (!base.ok()) {
    return std::move(base).error();
  }
  const std::uint32_t slab = small_.add_slab();
  if (slab >= slab_bases_.size()) {
    slab_bases_.resize(slab + 1);
  }
  slab_bases_[slab] = *base;
  return *small_.take(order);
}

Result<AddressRange> AddressWindow::take(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t page_alignment = std::max(alignment, small_page_bytes);
  if (bytes == 0 || bytes > 1ULL << 47U || !is_power_of_two(page_alignment) ||
      page_alignment > max_alignment_bytes) {
    return make_error(ErrorCode::invalid_argument, "a range of addresses of impossible size or alignment");
  }
  const ScopedLock lock(mutex_);
  const unsigned order = bytes >= large_page_bytes || page_alignment >= large_page_bytes
                             ? BuddyPages::slab_order
                             : buddy_order(bytes, page_alignment);
  if (order >= BuddyPages::slab_order) {
    const std::uint64_t whole = align_up(bytes, large_page_bytes);
    Result<std::uintptr_t> base = take_large(whole, std::max(page_alignment, large_page_bytes));
    if (!base.ok()) {
      return std::move(base).error();
    }
    return AddressRange{*base, whole, AddressRange::no_slab, 0, 0};
  }
  Result<BuddyBlock> block = take_block(order);
  if (!block.ok()) {
    return std::move(block).error();
  }
  if (block->slab == spare_slab_) {
    spare_slab_ = AddressRange::no_slab;
  }
  return AddressRange{slab_bases_[block->slab] + block->page * small_page_bytes, small_page_bytes << order,
                      block->slab, block->page, block->order};
}

std::optional<AddressRange> AddressWindow::take_exact(std::uint64_t bytes, std::uint64_t alignment,
                                                      std::uintptr_t wanted) {
  const ScopedLock lock(mutex_);
  if (wanted != 0) {
    return large_.take_at(wanted, bytes)
               ? std::optional(AddressRange{wanted, bytes, AddressRange::no_slab, 0, 0})
               : std::nullopt;
  }
  const std::optional<std::uint64_t> base = large_.take(bytes, alignment);
  return base ? std::optional(AddressRange{*base, bytes, AddressRange::no_slab, 0, 0}) : std::nullopt;
}

void AddressWindow::release(const AddressRange& range) noexcept {
  const ScopedLock lock(mutex_);
  if (range.slab == AddressRange::no_slab) {
    give_back(large_, range.base, range.bytes);
    return;
  }
  if (!small_.release({range.slab, range.page, range.order})) {
    return;
  }
  if (spare_slab_ != AddressRange::no_slab && spare_slab_ != range.slab) {
    small_.remove_slab(range.slab);
    give_back(large_, slab_bases_[range.slab], large_page_bytes);
    return;
  }
  spare_slab_ = range.slab;
}

bool AddressWindow::overlaps(std::uintptr_t address, std::uint64_t bytes) const noexcept {
  const unsigned count = extent_count_.load(std::memory_order_acquire);
  for (unsigned index = 0; index < count; ++index) {
    const std::uintptr_t first = extents_[index].first.load(std::memory_order_relaxed);
    const std::uintptr_t end = extents_[index].end.load(std::memory_order_relaxed);
    if (address < end && address + bytes > first) {
      return true;
    }
  }
  return false;
}

Status AddressWindow::release_pages(std::uintptr_t base, std::uint64_t bytes) {
  void* memory =
      ::mmap(reinterpret_cast<void*>(base), bytes, PROT_NONE, reservation_flags | MAP_FIXED, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{ErrorCode::out_of_host_memory,
                 errno,
                 fmt::format("{} bytes of host memory could not be given back to the system", bytes),
                 {}};
  }
  return {};
}

}  // namespace datum
