// The shape of what a copy moves: bytes, rows, planes.
#pragma once

#include <cstdint>

namespace datum {

/// Where rows and planes of one side stand. The first byte is at the side's address.
struct Pitches {
  std::uint64_t row = 0;
  std::uint64_t plane = 0;
};

/// A plain copy is one row of one plane.
struct RegionShape {
  std::uint64_t row_bytes = 0;
  std::uint64_t rows = 1;
  std::uint64_t planes = 1;

  [[nodiscard]] bool empty() const noexcept { return row_bytes == 0 || rows == 0 || planes == 0; }
};

/// From the first byte to the last one, in bytes; the shape is not empty. ~0 when that does not fit.
[[nodiscard]] std::uint64_t extent_bytes(const RegionShape& shape, const Pitches& pitches) noexcept;

/// Whether two placements of one shape share a byte. Exact for equal pitches; else of regions with millions
/// of rows only the first ones are compared, and false may mean that nobody knows.
[[nodiscard]] bool regions_overlap(const RegionShape& shape, std::uint64_t a, const Pitches& a_pitches,
                                   std::uint64_t b, const Pitches& b_pitches) noexcept;

}  // namespace datum
