#include "sim/host/iommu.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace datum::sim {

namespace {

constexpr std::size_t faults_kept = 256;

bool allows(board::DmaAccess granted, board::DmaAccess wanted) {
  return (static_cast<unsigned>(granted) & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
}

Error invalid(std::string message) { return make_error(ErrorCode::invalid_argument, std::move(message)); }

}  // namespace

std::vector<board::IovaRange> Iommu::ranges() const {
  const auto last = limits_.address_bits >= 64 ? ~0ULL : (1ULL << limits_.address_bits) - 1;
  return {{Iova{0}, Iova{message_window_first - 1}}, {Iova{message_window_last + 1}, Iova{last}}};
}

Status Iommu::check(Iova iova, std::uint64_t bytes) const {
  const auto first = raw(iova);
  if (bytes == 0 || !is_aligned(bytes, small_page_bytes) || !is_aligned(first, small_page_bytes)) {
    return invalid(fmt::format("mapping of {} bytes at IOVA {:#x}: both must be multiples of {}, and some",
                               bytes, first, small_page_bytes));
  }
  const auto last = first + (bytes - 1);
  const auto allowed = ranges();
  const bool inside = last >= first && std::ranges::any_of(allowed, [&](const board::IovaRange& range) {
                        return first >= raw(range.first) && last <= raw(range.last);
                      });
  if (!inside) {
    return invalid(fmt::format("mapping of {} bytes at IOVA {:#x} leaves the ranges that the IOMMU offers",
                               bytes, first));
  }
  const auto after = entries_.upper_bound(last);
  if (after != entries_.begin()) {
    const auto& [base, entry] = *std::prev(after);
    if (base + (entry.range.size_bytes() - 1) >= first) {
      return invalid(
          fmt::format("mapping of {} bytes at IOVA {:#x} overlaps the one at {:#x}", bytes, first, base));
    }
  }
  if (limits_.max_mappings != 0 && entries_.size() >= limits_.max_mappings) {
    return make_error(ErrorCode::out_of_host_memory,
                      fmt::format("the IOMMU holds {} mappings, its limit", entries_.size()),
                      "free large host allocations, each of which is a mapping, or give the board's address "
                      "more with mappings=");
  }
  if (limits_.max_locked_bytes != 0 && bytes > limits_.max_locked_bytes - locked_bytes_) {
    return make_error(
        ErrorCode::out_of_host_memory,
        fmt::format("mapping {} bytes more than the {} that are mapped exceeds the locked-memory limit of {}",
                    bytes, locked_bytes_, limits_.max_locked_bytes),
        "the board's option locked= sets that limit");
  }
  return {};
}

void Iommu::map(Iova iova, HostRange range, board::DmaAccess access) {
  locked_bytes_ += range.size_bytes();
  entries_.emplace(raw(iova), Entry{std::move(range), access});
}

Status Iommu::unmap(Iova iova, std::uint64_t bytes) {
  const auto found = entries_.find(raw(iova));
  if (found == entries_.end() || found->second.range.size_bytes() != bytes) {
    return invalid(fmt::format("there is no mapping of exactly {} bytes at IOVA {:#x}", bytes, raw(iova)));
  }
  locked_bytes_ -= bytes;
  entries_.erase(found);
  return {};
}

Result<std::uint64_t> Iommu::unmap_inside(std::uint64_t first, std::uint64_t last) {
  const auto begin = entries_.lower_bound(first);
  const auto end = entries_.upper_bound(last);
  const auto last_of = [](const auto& entry) { return entry.first + (entry.second.range.size_bytes() - 1); };
  const bool cut_in_front = begin != entries_.begin() && last_of(*std::prev(begin)) >= first;
  const bool cut_behind = begin != end && last_of(*std::prev(end)) > last;
  if (cut_in_front || cut_behind) {
    return invalid(fmt::format("unmapping [{:#x}, {:#x}] would cut a mapping in two", first, last));
  }
  std::uint64_t count = 0;
  for (auto at = begin; at != end; at = entries_.erase(at)) {
    locked_bytes_ -= at->second.range.size_bytes();
    ++count;
  }
  return count;
}

Iommu::Hit Iommu::lookup(std::uint64_t iova, board::DmaAccess access) const noexcept {
  const auto after = entries_.upper_bound(iova);
  if (after == entries_.begin()) {
    return {};
  }
  const auto& [base, entry] = *std::prev(after);
  const auto offset = iova - base;
  if (offset >= entry.range.size_bytes() || !allows(entry.access, access)) {
    return {};
  }
  return {&entry.range, offset, entry.range.size_bytes() - offset};
}

void Iommu::record_fault(const board::DmaFault& fault) {
  if (faults_.size() < faults_kept) {
    faults_.push_back(fault);
  }
}

std::vector<board::DmaFault> Iommu::take_faults() noexcept { return std::exchange(faults_, {}); }

}  // namespace datum::sim
