#include "driver/memory/pin_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <span>
#include <sys/mman.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/memory/address_space.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/pinning.hpp"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace datum {
namespace {

bool writes(board::DmaAccess access) noexcept {
  return (static_cast<unsigned>(access) & static_cast<unsigned>(board::DmaAccess::write)) != 0;
}

std::span<std::byte> host_span(std::uint64_t first, std::uint64_t bytes) noexcept {
  return {reinterpret_cast<std::byte*>(first), bytes};
}

Error not_accessible(std::uint64_t first, std::uint64_t bytes, bool written, int error) {
  return Error{ErrorCode::invalid_argument,
               error,
               fmt::format("{} bytes at {:#x} are neither memory of this driver nor {} memory of the process",
                           bytes, first, written ? "writable" : "readable"),
               {}};
}

bool lies_in_user_space(std::uint64_t address, std::uint64_t bytes) noexcept {
  return bytes != 0 && address + bytes >= address && address + bytes <= (1ULL << 47U);
}

/// Kernels before 5.14 do not know the question that check_access asks, and answer as if the memory could not
/// be accessed.
bool kernel_can_tell() noexcept {
  static constinit std::atomic<int> known{0};
  int answer = known.load(std::memory_order_relaxed);
  if (answer == 0) {
    const std::uint64_t page = align_down(reinterpret_cast<std::uintptr_t>(&answer), small_page_bytes);
    answer = ::madvise(reinterpret_cast<void*>(page), small_page_bytes, MADV_POPULATE_READ) == 0 ? 1 : -1;
    known.store(answer, std::memory_order_relaxed);
  }
  return answer > 0;
}

/// The kernel's word on whether the pages are there and may be accessed that way; brings them in. A kernel
/// that cannot tell leaves it to what the mapping said.
Status check_access(std::uint64_t first, std::uint64_t bytes, board::DmaAccess access) {
  const int question = writes(access) ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (!kernel_can_tell() || ::madvise(reinterpret_cast<void*>(first), bytes, question) == 0) {
    return {};
  }
  if (errno == ENOMEM && ::madvise(reinterpret_cast<void*>(first), bytes, MADV_NORMAL) == 0) {
    return Error{ErrorCode::out_of_host_memory,
                 ENOMEM,
                 fmt::format("the {} bytes at {:#x} cannot be brought into memory", bytes, first),
                 {}};
  }
  // ENOMEM says here that nothing is mapped, and reads as if memory had run out.
  return not_accessible(first, bytes, writes(access), errno == ENOMEM ? 0 : errno);
}

}  // namespace

PinCache::PinCache(AddressSpace& space, DmaMap& dma)
    : space_(space), dma_(dma), serves_copies_(pins_ordinary_memory(std::getenv(pinning_variable))) {}

PinCache::~PinCache() {
  while (!holds_.empty()) {
    unpin(holds_.begin()->first);
  }
}

Status PinCache::check(const void* pointer, std::uint64_t bytes, board::DmaAccess access) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (!lies_in_user_space(address, bytes)) {
    return not_accessible(address, bytes, writes(access), 0);
  }
  const std::uint64_t first = align_down(address, small_page_bytes);
  Status accessible = check_access(first, align_up(address + bytes, small_page_bytes) - first, access);
  return accessible.ok() || accessible.error().code != ErrorCode::invalid_argument
             ? accessible
             : not_accessible(address, bytes, writes(access), accessible.error().errno_value);
}

Result<std::uint64_t> PinCache::pin(const void* pointer, std::uint64_t bytes, board::DmaAccess access,
                                    std::uint8_t cache_policy) {
  return pin_as(pointer, bytes, {access, false, cache_policy});
}

Result<std::uint64_t> PinCache::pin_read_only(const void* pointer, std::uint64_t bytes,
                                              std::uint8_t cache_policy) {
  return pin_as(pointer, bytes, {board::DmaAccess::read, true, cache_policy});
}

Result<std::uint64_t> PinCache::pin_as(const void* pointer, std::uint64_t bytes, Wish wish) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uint64_t granule = dma_.granule_bytes();
  if (!lies_in_user_space(address, bytes)) {
    return not_accessible(address, bytes, writes(wish.access), 0);
  }
  const Pages pages{align_down(address, granule), align_up(address + bytes, granule)};
  const ScopedLock lock(mutex_);
  Result<std::vector<std::uint64_t>> held = hold(pages, wish);
  if (!held.ok()) {
    // Whole pages were refused; the caller knows only what it asked for.
    return held.error().code == ErrorCode::invalid_argument
               ? not_accessible(address, bytes, writes(wish.access), held.error().errno_value)
               : std::move(held).error();
  }
  const std::uint64_t token = next_token_++;
  try {
    holds_.emplace(token, Hold{*held, wish.read_only});
  } catch (...) {
    let_go(*held);
    throw;
  }
  if (wish.read_only) {
    if (Status kept = keep_read_only(*held); !kept.ok()) {
      let_go(*held);
      holds_.erase(token);
      return std::move(kept).error();
    }
  }
  return token;
}

Status PinCache::keep_read_only(const std::vector<std::uint64_t>& firsts) {
  for (const std::uint64_t first : firsts) {
    // What another thread is at becomes writable.
    if (const Segment& segment = segments_.at(first); writes(segment.access) || segment.under_way) {
      return make_error(
          ErrorCode::not_available,
          fmt::format("commands in flight write to the memory at {:#x}: it cannot become read-only now",
                      first),
          "wait for the commands that use the memory");
    }
  }
  for (const std::uint64_t first : firsts) {
    ++segments_.at(first).read_only_pins;
  }
  return {};
}

/// The lock is let go while the kernel is at a segment, which may take long; who wants the same pages waits.
Result<std::vector<std::uint64_t>> PinCache::hold(Pages pages, Wish wish) {
  std::vector<std::uint64_t> firsts;
  const auto failed = [&](Status status) {
    mutex_.assert_held();
    let_go(firsts);
    return std::move(status).error();
  };
  for (std::uint64_t at = pages.first; at < pages.end;) {
    if (firsts.size() == firsts.capacity()) {
      firsts.reserve(2 * firsts.size() + 1);  // before the segment is counted
    }
    auto next = segments_.upper_bound(at);
    const bool covered =
        next != segments_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > at;
    if (!covered) {
      const std::uint64_t gap_end = next == segments_.end() ? pages.end : std::min(pages.end, next->first);
      if (Status added = add_segment({at, gap_end}, wish); !added.ok()) {
        return failed(std::move(added));
      }
      next = segments_.upper_bound(at);
    }
    auto& [first, segment] = *std::prev(next);
    if (segment.under_way) {
      settled_.wait(mutex_);
      continue;
    }
    ++segment.pins;
    firsts.push_back(first);
    if (writes(wish.access) && !writes(segment.access)) {
      if (Status widened = widen_access(first, segment); !widened.ok()) {
        return failed(std::move(widened));
      }
    }
    at = first + segment.bytes;
  }
  return firsts;
}

/// Does `work` on a segment that nobody else touches meanwhile, without the lock.
template <class Work>
Status PinCache::work_on(Segment& segment, const Work& work) {
  segment.under_way = true;
  Status done;
  const auto settle = [&] {
    segment.under_way = false;
    settled_.notify_all();
  };
  try {
    const ScopedUnlock meanwhile(mutex_);
    done = work();
  } catch (...) {
    settle();
    throw;
  }
  settle();
  return done;
}

Status PinCache::add_segment(Pages pages, Wish wish) {
  Segment segment;
  segment.bytes = pages.end - pages.first;
  segment.access = wish.access;
  segment.cache_policy = wish.cache_policy;
  const auto entry = segments_.emplace(pages.first, segment).first;
  try {
    Status added = work_on(entry->second, [&] { return map_segment(pages, wish, entry->second.iova); });
    if (!added.ok()) {
      segments_.erase(entry);
    }
    return added;
  } catch (...) {
    segments_.erase(entry);
    throw;
  }
}

/// Maps the pages for the board. Why that failed is asked afterwards, since a limit of locked memory is
/// refused before anybody has looked at the pages, and what succeeds needs no second call of the kernel.
Result<Iova> PinCache::map_pages(std::uint64_t first, std::uint64_t bytes, board::DmaAccess access) {
  // The board reads what it is to write as well: a copy may begin or end inside a word.
  Result<Iova> mapped = dma_.map(host_span(first, bytes),
                                 writes(access) ? board::DmaAccess::read_write : board::DmaAccess::read);
  if (mapped.ok()) {
    return mapped;
  }
  if (Status accessible = check_access(first, bytes, access); !accessible.ok()) {
    return std::move(accessible).error();
  }
  return mapped.error().code == ErrorCode::insufficient_permissions
             ? not_accessible(first, bytes, writes(access), mapped.error().errno_value)
             : std::move(mapped).error();
}

/// Makes the pages reachable; `iova` is where, afterwards.
Status PinCache::map_segment(Pages pages, Wish wish, Iova& iova) {
  const std::uint64_t bytes = pages.end - pages.first;
  const bool writable = writes(wish.access);
  Result<Iova> mapped = map_pages(pages.first, bytes, wish.access);
  if (!mapped.ok()) {
    return std::move(mapped).error();
  }
  PageTarget target;
  target.host = true;
  target.iova = *mapped;
  Status shown = space_.map(DeviceVa{pages.first}, target, bytes,
                            PageRights{.writable = writable, .cache_policy = wish.cache_policy});
  if (!shown.ok()) {
    dma_.unmap(*mapped, bytes);
    return shown;
  }
  iova = *mapped;
  return {};
}

/// Commands in flight go on reading meanwhile: the pages get a second address first, and lose the first one
/// when no access uses it.
Status PinCache::widen_access(std::uint64_t first, Segment& segment) {
  if (segment.read_only_pins != 0) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the memory at {:#x} is read-only for the board", first));
  }
  Status widened = work_on(segment, [&] { return map_for_writing(first, segment); });
  if (widened.ok()) {
    segment.access = board::DmaAccess::read_write;
  }
  return widened;
}

/// Puts a second address of the pages, at which they may be written, in the place of the one they have.
Status PinCache::map_for_writing(std::uint64_t first, Segment& segment) {
  const std::uint64_t bytes = segment.bytes;
  Result<Iova> mapped = map_pages(first, bytes, board::DmaAccess::read_write);
  if (!mapped.ok()) {
    return std::move(mapped).error();
  }
  PageTarget target;
  target.host = true;
  target.iova = *mapped;
  const PageRights rights{.writable = true, .cache_policy = segment.cache_policy};
  if (Status replaced = space_.replace(DeviceVa{first}, target, bytes, rights); !replaced.ok()) {
    // Which of the two the board uses is not known: both stay until the segment goes. That only happens to a
    // board that no longer answers.
    return replaced;
  }
  dma_.unmap(std::exchange(segment.iova, *mapped), bytes);
  return {};
}

void PinCache::unpin(std::uint64_t token) noexcept {
  const ScopedLock lock(mutex_);
  const auto held = holds_.find(token);
  if (held != holds_.end()) {
    if (held->second.read_only) {
      for (const std::uint64_t first : held->second.firsts) {
        --segments_.at(first).read_only_pins;
      }
    }
    let_go(held->second.firsts);
    holds_.erase(held);
  }
}

void PinCache::let_go(const std::vector<std::uint64_t>& firsts) noexcept {
  try {
    bool owed = false;
    for (const std::uint64_t first : firsts) {
      Segment& segment = segments_.at(first);
      if (--segment.pins == 0) {
        owed = space_.unmap(DeviceVa{first}, segment.bytes) || owed;
      }
    }
    if (owed) {
      // A board that does not answer any longer cannot use the pages.
      static_cast<void>(space_.commit());
    }
  } catch (...) {
    // No memory to tell the board: the IOMMU stands behind it and refuses what it still tries.
  }
  for (const std::uint64_t first : firsts) {
    const auto entry = segments_.find(first);
    if (entry != segments_.end() && entry->second.pins == 0) {
      dma_.unmap(entry->second.iova, entry->second.bytes);
      segments_.erase(entry);
    }
  }
}

std::uint64_t PinCache::pinned_bytes() {
  const ScopedLock lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& entry : segments_) {
    bytes += entry.second.bytes;
  }
  return bytes;
}

}  // namespace datum
