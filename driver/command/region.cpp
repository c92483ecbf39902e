#include "driver/command/region.hpp"

#include <initializer_list>

namespace datum {

namespace {

/// Walks the rows of a region in the order of their addresses.
class RowWalk {
 public:
  RowWalk(const RegionShape& shape, std::uint64_t first, const Pitches& pitches)
      : shape_(shape), first_(first), pitches_(pitches) {}

  [[nodiscard]] bool ended() const noexcept { return plane_ == shape_.planes; }

  [[nodiscard]] std::uint64_t begin() const noexcept {
    return first_ + plane_ * pitches_.plane + row_ * pitches_.row;
  }

  [[nodiscard]] std::uint64_t end() const noexcept { return begin() + shape_.row_bytes; }

  void next() noexcept {
    if (++row_ == shape_.rows) {
      row_ = 0;
      ++plane_;
    }
  }

 private:
  const RegionShape& shape_;
  std::uint64_t first_;
  const Pitches& pitches_;
  std::uint64_t row_ = 0;
  std::uint64_t plane_ = 0;
};

/// Rows follow one another without reaching into the next: the order of the walk is that of addresses.
bool rises(const RegionShape& shape, const Pitches& pitches) noexcept {
  const bool rows_rise = shape.rows == 1 || pitches.row >= shape.row_bytes;
  const bool planes_rise =
      shape.planes == 1 || pitches.plane >= (shape.rows - 1) * pitches.row + shape.row_bytes;
  return rows_rise && planes_rise;
}

/// Rows that are compared where the two pitches differ: some ten milliseconds. The sizes are the caller's,
/// who may name more rows than anybody would wait for.
constexpr std::uint64_t most_compared_rows = 1ULL << 22U;

bool equal(const Pitches& left, const Pitches& right, const RegionShape& shape) noexcept {
  return (shape.rows == 1 || left.row == right.row) && (shape.planes == 1 || left.plane == right.plane);
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) noexcept { return a > b ? a - b : b - a; }

/// Two placements with the same, rising pitches whose first bytes are `apart`. They differ by whole planes
/// and rows and less than a row, or they share nothing; only two numbers of each can be meant.
bool equal_placements_overlap(const RegionShape& shape, std::uint64_t apart,
                              const Pitches& pitches) noexcept {
  const std::uint64_t first_plane = shape.planes == 1 ? 0 : apart / pitches.plane;
  for (const std::uint64_t plane : {first_plane, first_plane + 1}) {
    if (plane >= shape.planes) {
      break;
    }
    const std::uint64_t left = distance(apart, plane * pitches.plane);
    const std::uint64_t first_row = shape.rows == 1 ? 0 : left / pitches.row;
    for (const std::uint64_t row : {first_row, first_row + 1}) {
      if (row < shape.rows && distance(left, row * pitches.row) < shape.row_bytes) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::uint64_t extent_bytes(const RegionShape& shape, const Pitches& pitches) noexcept {
  std::uint64_t planes = 0;
  std::uint64_t rows = 0;
  std::uint64_t all = 0;
  if (__builtin_mul_overflow(shape.planes - 1, pitches.plane, &planes) ||
      __builtin_mul_overflow(shape.rows - 1, pitches.row, &rows) ||
      __builtin_add_overflow(planes, rows, &all) || __builtin_add_overflow(all, shape.row_bytes, &all)) {
    return ~0ULL;
  }
  return all;
}

bool regions_overlap(const RegionShape& shape, std::uint64_t a, const Pitches& a_pitches, std::uint64_t b,
                     const Pitches& b_pitches) noexcept {
  if (shape.empty() || a + extent_bytes(shape, a_pitches) <= b || b + extent_bytes(shape, b_pitches) <= a) {
    return false;
  }
  if (!rises(shape, a_pitches) || !rises(shape, b_pitches)) {
    return true;  // a side that overlaps itself: its span decides
  }
  if (equal(a_pitches, b_pitches, shape)) {
    return equal_placements_overlap(shape, distance(a, b), a_pitches);
  }
  RowWalk left(shape, a, a_pitches);
  RowWalk right(shape, b, b_pitches);
  for (std::uint64_t row = 0; row < most_compared_rows && !left.ended() && !right.ended(); ++row) {
    if (left.end() <= right.begin()) {
      left.next();
    } else if (right.end() <= left.begin()) {
      right.next();
    } else {
      return true;
    }
  }
  return false;
}

}  // namespace datum
