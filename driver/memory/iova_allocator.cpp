#include "driver/memory/iova_allocator.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

namespace datum {
namespace {

// Entries of the board's page tables carry bits 51:12 of an address.
constexpr std::uint64_t end_of_table_addresses = 1ULL << 52U;

}  // namespace

IovaAllocator::IovaAllocator(std::span<const board::IovaRange> ranges, std::uint64_t granule_bytes)
    : granule_bytes_(std::max(granule_bytes, small_page_bytes)) {
  for (const board::IovaRange& range : ranges) {
    const std::uint64_t last = std::min(raw(range.last), end_of_table_addresses - 1);
    const std::uint64_t first = align_up(std::max(raw(range.first), granule_bytes_), granule_bytes_);
    const std::uint64_t end = align_down(last + 1, granule_bytes_);
    if (raw(range.first) < end_of_table_addresses && first < end) {
      ranges_.release(first, end - first);
    }
  }
}

Result<Iova> IovaAllocator::take(std::uint64_t bytes) {
  const ScopedLock lock(mutex_);
  const std::uint64_t whole = align_up(bytes, granule_bytes_);
  auto taken = ranges_.take(whole, bytes >= large_page_bytes ? std::max(large_page_bytes, granule_bytes_)
                                                             : granule_bytes_);
  if (!taken) {
    taken = ranges_.take(whole, granule_bytes_);
  }
  if (!taken) {
    return make_error(
        ErrorCode::out_of_host_memory,
        fmt::format("the board's IOMMU has no {} free bytes in a row among {} free bytes of addresses", whole,
                    ranges_.free_bytes()),
        "free host memory that the board reaches, or ask for less in a row");
  }
  return Iova{*taken};
}

void IovaAllocator::release(Iova iova, std::uint64_t bytes) noexcept {
  const ScopedLock lock(mutex_);
  try {
    ranges_.release(raw(iova), align_up(bytes, granule_bytes_));
  } catch (...) {
    // No memory for the books: the addresses are not used again, which is better than an end in a call that
    // frees.
  }
}

std::uint64_t IovaAllocator::free_bytes() {
  const ScopedLock lock(mutex_);
  return ranges_.free_bytes();
}

}  // namespace datum
