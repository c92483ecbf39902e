#include "vfio_backend/mapping_table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

namespace datum::vfio {

Status MappingTable::begin_map(Iova iova, std::uint64_t bytes) {
  const std::uint64_t first = raw(iova);
  if (bytes == 0 || !is_aligned(bytes, limits_.granule_bytes) || !is_aligned(first, limits_.granule_bytes)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("mapping of {} bytes at IOVA {:#x}: both must be multiples of {}, and some",
                                  bytes, first, limits_.granule_bytes));
  }
  const std::uint64_t last = first + (bytes - 1);
  const bool inside =
      last >= first && std::ranges::any_of(limits_.iova_ranges, [&](const board::IovaRange& range) {
        return first >= raw(range.first) && last <= raw(range.last);
      });
  if (!inside) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("mapping of {} bytes at IOVA {:#x} leaves the ranges that the IOMMU offers",
                                  bytes, first));
  }
  const ScopedLock lock(mutex_);
  const auto after = entries_.upper_bound(last);
  if (after != entries_.begin()) {
    const auto& [base, entry] = *std::prev(after);
    if (base + (entry.bytes - 1) >= first) {
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("mapping of {} bytes at IOVA {:#x} overlaps the one at {:#x}", bytes, first, base));
    }
  }
  entries_.emplace(first, Entry{bytes, false, {}});
  return {};
}

void MappingTable::end_map(Iova iova, OwnedMapping file) {
  const ScopedLock lock(mutex_);
  Entry& entry = entries_.at(raw(iova));
  entry.settled = true;
  entry.file = std::move(file);
}

Status MappingTable::begin_unmap(Iova iova, std::uint64_t bytes) {
  const ScopedLock lock(mutex_);
  const auto found = entries_.find(raw(iova));
  if (found == entries_.end() || found->second.bytes != bytes || !found->second.settled) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("there is no mapping of exactly {} bytes at IOVA {:#x}", bytes, raw(iova)));
  }
  found->second.settled = false;
  return {};
}

void MappingTable::keep(Iova iova) {
  const ScopedLock lock(mutex_);
  entries_.at(raw(iova)).settled = true;
}

void MappingTable::remove(Iova iova) {
  OwnedMapping file;  // goes without the lock
  const ScopedLock lock(mutex_);
  const auto found = entries_.find(raw(iova));
  if (found != entries_.end()) {
    file = std::move(found->second.file);
    entries_.erase(found);
  }
}

}  // namespace datum::vfio
