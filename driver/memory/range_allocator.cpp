#include "driver/memory/range_allocator.hpp"

#include <iterator>

namespace datum {

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
  std::uint64_t merged_first = first;
  std::uint64_t merged_bytes = bytes;
  const auto after = by_address_.lower_bound(first);
  if (after != by_address_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == first) {
      merged_first = before->first;
      merged_bytes += before->second;
      remove(before);
    }
  }
  if (after != by_address_.end() && after->first == first + bytes) {
    merged_bytes += after->second;
    remove(after);
  }
  insert(merged_first, merged_bytes);
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
  remove(range);
  if (lead != 0) {
    insert(range_first, lead);
  }
  if (tail != 0) {
    insert(first + bytes, tail);
  }
}

}  // namespace datum
