#include "driver/command/region.hpp"

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
  RowWalk left(shape, a, a_pitches);
  RowWalk right(shape, b, b_pitches);
  while (!left.ended() && !right.ended()) {
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
