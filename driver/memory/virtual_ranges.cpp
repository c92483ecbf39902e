#include "driver/memory/virtual_ranges.hpp"

#include <algorithm>

namespace datum {
namespace {

bool is_continued_by(const VirtualPiece& first, const VirtualPiece& second) noexcept {
  return first.end() == second.base && first.reservation == second.reservation &&
         first.mapping == second.mapping;
}

}  // namespace

void VirtualRanges::add_reservation(Range range) {
  VirtualPiece piece;
  piece.base = range.base;
  piece.bytes = range.bytes;
  piece.reservation = range.base;
  const auto entry = pieces_.emplace(range.base, piece).first;
  try {
    reservations_.emplace(range.base, range.bytes);
  } catch (...) {
    pieces_.erase(entry);
    throw;
  }
}

void VirtualRanges::remove_reservation(std::uintptr_t base) {
  const auto found = reservations_.find(base);
  if (found != reservations_.end()) {
    pieces_.erase(pieces_.lower_bound(base), pieces_.lower_bound(base + found->second));
    reservations_.erase(found);
  }
}

std::optional<VirtualRanges::Range> VirtualRanges::reservation_at(std::uintptr_t address) const {
  auto found = reservations_.upper_bound(address);
  if (found == reservations_.begin() || address - (--found)->first >= found->second) {
    return std::nullopt;
  }
  return Range{found->first, found->second};
}

std::vector<VirtualRanges::Range> VirtualRanges::reservations() const {
  std::vector<Range> all;
  all.reserve(reservations_.size());
  for (const auto& [base, bytes] : reservations_) {
    all.push_back({base, bytes});
  }
  return all;
}

VirtualRanges::Pieces::const_iterator VirtualRanges::at_or_before(std::uintptr_t address) const {
  auto piece = pieces_.upper_bound(address);
  if (piece == pieces_.begin() || address >= (--piece)->second.end()) {
    return pieces_.end();
  }
  return piece;
}

void VirtualRanges::split(std::uintptr_t at) {
  const auto found = at_or_before(at);
  if (found == pieces_.end() || found->first == at) {
    return;
  }
  VirtualPiece& first = pieces_.at(found->first);
  VirtualPiece second = first;
  const std::uint64_t bytes = at - first.base;
  second.base = at;
  second.bytes -= bytes;
  second.offset += bytes;
  pieces_.emplace(at, std::move(second));
  first.bytes = bytes;
}

void VirtualRanges::cut(Range range) {
  split(range.base);
  split(range.base + range.bytes);
}

/// Joins what has become alike in the range and at its ends.
void VirtualRanges::merge(Range range) {
  auto piece = pieces_.lower_bound(range.base);
  if (piece != pieces_.begin()) {
    --piece;
  }
  while (piece != pieces_.end()) {
    const auto next = std::next(piece);
    if (next == pieces_.end() || next->first > range.base + range.bytes) {
      return;
    }
    if (is_continued_by(piece->second, next->second) && piece->second.access == next->second.access) {
      piece->second.bytes += next->second.bytes;
      pieces_.erase(next);
    } else {
      piece = next;
    }
  }
}

void VirtualRanges::map(Range range, const std::shared_ptr<PhysicalMemory>& object, std::uint64_t offset,
                        std::uint64_t mapping, PageAccess access) {
  split(range.base);
  split(range.base + range.bytes);
  const auto first = pieces_.find(range.base);
  pieces_.erase(std::next(first), pieces_.lower_bound(range.base + range.bytes));
  VirtualPiece& piece = first->second;
  piece.bytes = range.bytes;
  piece.object = object;
  piece.offset = offset;
  piece.mapping = mapping;
  piece.access = access;
}

void VirtualRanges::unmap(Range range) {
  split(range.base);
  split(range.base + range.bytes);
  for (auto piece = pieces_.find(range.base);
       piece != pieces_.end() && piece->first < range.base + range.bytes; ++piece) {
    piece->second.object.reset();
    piece->second.mapping = 0;
    piece->second.offset = 0;
    piece->second.access = PageAccess::none;
  }
  merge(range);
}

void VirtualRanges::set_access(Range range, PageAccess access) {
  split(range.base);
  split(range.base + range.bytes);
  for (auto piece = pieces_.find(range.base);
       piece != pieces_.end() && piece->first < range.base + range.bytes; ++piece) {
    piece->second.access = access;
  }
  merge(range);
}

std::vector<VirtualPiece> VirtualRanges::pieces_of(Range range) const {
  std::vector<VirtualPiece> pieces;
  const std::uintptr_t end = range.base + range.bytes;
  const bool all = visit(range, [&](const VirtualPiece& whole) {
    VirtualPiece piece = whole;
    piece.base = std::max(piece.base, range.base);
    piece.offset += piece.base - whole.base;
    piece.bytes = std::min(whole.end(), end) - piece.base;
    pieces.push_back(std::move(piece));
    return true;
  });
  if (!all) {
    pieces.clear();
  }
  return pieces;
}

std::optional<VirtualPiece> VirtualRanges::alike(Range range) const {
  std::optional<VirtualPiece> first;
  const std::uintptr_t end = range.base + range.bytes;
  visit(range, [&](const VirtualPiece& piece) {
    if (!first) {
      first = piece;
      first->base = range.base;
      first->offset += range.base - piece.base;
    } else if (piece.access != first->access) {
      return false;
    }
    first->bytes = std::min(piece.end(), end) - range.base;
    return true;
  });
  return first;
}

std::optional<VirtualPiece> VirtualRanges::mapping_at(std::uintptr_t address) const {
  const auto at = at_or_before(address);
  if (at == pieces_.end() || at->second.object == nullptr) {
    return std::nullopt;
  }
  VirtualPiece whole = at->second;
  for (auto before = at; before != pieces_.begin();) {
    --before;
    if (!is_continued_by(before->second, whole)) {
      break;
    }
    whole.bytes += before->second.bytes;
    whole.base = before->second.base;
    whole.offset = before->second.offset;
  }
  for (auto after = std::next(at); after != pieces_.end() && is_continued_by(whole, after->second); ++after) {
    whole.bytes += after->second.bytes;
  }
  return whole;
}

}  // namespace datum
