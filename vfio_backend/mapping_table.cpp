#include "vfio_backend/mapping_table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace datum::vfio {

Status MappingTable::check(Iova iova, std::uint64_t bytes) const {
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
  const auto after = entries_.upper_bound(last);
  if (after != entries_.begin()) {
    const auto& [base, entry] = *std::prev(after);
    if (base + (entry.bytes - 1) >= first) {
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("mapping of {} bytes at IOVA {:#x} overlaps the one at {:#x}", bytes, first, base));
    }
  }
  return {};
}

void MappingTable::add(Iova iova, std::uint64_t bytes, OwnedMapping file) {
  entries_.emplace(raw(iova), Entry{bytes, std::move(file)});
}

bool MappingTable::has(Iova iova, std::uint64_t bytes) const {
  const auto found = entries_.find(raw(iova));
  return found != entries_.end() && found->second.bytes == bytes;
}

void MappingTable::remove(Iova iova) { entries_.erase(raw(iova)); }

}  // namespace datum::vfio
