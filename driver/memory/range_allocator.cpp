#include "driver/memory/range_allocator.hpp"

#include <iterator>
#include <utility>

namespace datum {
namespace {

/// Another extent for a free range, in the memory that its entries have: nothing can fail.
template <class ByAddress, class BySize>
void change(ByAddress& by_address, BySize& by_size, typename ByAddress::iterator range, std::uint64_t first,
            std::uint64_t bytes) noexcept {
  auto size_entry = by_size.extract({range->second, range->first});
  auto address_entry = by_address.extract(range);
  size_entry.value() = {bytes, first};
  address_entry.key() = first;
  address_entry.mapped() = bytes;
  by_size.insert(std::move(size_entry));
  by_address.insert(std::move(address_entry));
}

}  // namespace

void RangeAllocator::insert(std::uint64_t first, std::uint64_t bytes) {
  const auto entry = by_address_.emplace(first, bytes).first;
  try {
    by_size_.emplace(bytes, first);
  } catch (...) {
    by_address_.erase(entry);
    throw;
  }
  free_bytes_ += bytes;
}

void RangeAllocator::remove(ByAddress::iterator range) {
  free_bytes_ -= range->second;
  by_size_.erase({range->second, range->first});
  by_address_.erase(range);
}

void RangeAllocator::release(std::uint64_t first, std::uint64_t bytes) {
  if (bytes == 0) {
    return;
  }
  const auto after = by_address_.lower_bound(first);
  const auto before = after != by_address_.begin() ? std::prev(after) : by_address_.end();
  const bool joins_before = before != by_address_.end() && before->first + before->second == first;
  const bool joins_after = after != by_address_.end() && after->first == first + bytes;
  const std::uint64_t end = joins_after ? after->first + after->second : first + bytes;
  if (!joins_before && !joins_after) {
    insert(first, bytes);
    return;
  }
  const std::uint64_t begin = joins_before ? before->first : first;
  const auto kept = joins_before ? before : after;
  if (joins_before && joins_after) {
    remove(after);
  }
  free_bytes_ += end - begin - kept->second;
  change(by_address_, by_size_, kept, begin, end - begin);
}

std::optional<std::uint64_t> RangeAllocator::take(std::uint64_t bytes, std::uint64_t alignment) {
  for (auto candidate = by_size_.lower_bound({bytes, 0}); candidate != by_size_.end(); ++candidate) {
    const auto [range_bytes, range_first] = *candidate;
    const std::uint64_t lead = (0 - range_first) & (alignment - 1);
    if (lead > range_bytes || range_bytes - lead < bytes) {
      continue;
    }
    const std::uint64_t taken = range_first + lead;
    cut(by_address_.find(range_first), taken, bytes);
    return taken;
  }
  return std::nullopt;
}

bool RangeAllocator::take_at(std::uint64_t first, std::uint64_t bytes) {
  auto range = by_address_.upper_bound(first);
  if (bytes == 0 || range == by_address_.begin()) {
    return false;
  }
  --range;
  const std::uint64_t lead = first - range->first;
  if (lead >= range->second || range->second - lead < bytes) {
    return false;
  }
  cut(range, first, bytes);
  return true;
}

/// Takes [`first`, `first` + `bytes`) out of the free range that holds it.
void RangeAllocator::cut(ByAddress::iterator range, std::uint64_t first, std::uint64_t bytes) {
  const auto [range_first, range_bytes] = *range;
  const std::uint64_t lead = first - range_first;
  const std::uint64_t tail = range_bytes - lead - bytes;
  if (lead == 0 && tail == 0) {
    remove(range);
    return;
  }
  if (lead != 0 && tail != 0) {
    insert(first + bytes, tail);  // may run out of memory, and nothing has changed yet
  }
  const std::uint64_t left = lead != 0 ? lead : tail;
  free_bytes_ -= range_bytes - left;
  change(by_address_, by_size_, range, lead != 0 ? range_first : first + bytes, left);
}

}  // namespace datum
