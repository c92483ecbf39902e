// How an image lies in memory: linear, rows and slices at a fixed distance.
#pragma once

#include <cstdint>

namespace datum {

/// Rows that begin with a beat of the memory's bus are copied fastest.
inline constexpr std::uint64_t row_pitch_alignment_bytes = 64;

/// A region copy's descriptor has 32 bits for it.
inline constexpr std::uint64_t largest_row_pitch_bytes =
    0xffff'ffffU / row_pitch_alignment_bytes * row_pitch_alignment_bytes;

/// Distance of the rows of an image of two or three dimensions; also the answer for memory that an
/// application lays out itself. Everything in range: `width` x `element_bytes` + the alignment fits 64 bits.
[[nodiscard]] constexpr std::uint64_t aligned_row_pitch(std::uint64_t width,
                                                        std::uint64_t element_bytes) noexcept {
  return (width * element_bytes + row_pitch_alignment_bytes - 1) / row_pitch_alignment_bytes *
         row_pitch_alignment_bytes;
}

/// What a region copy and the board's memory allow.
struct ImageLimits {
  static constexpr std::uint32_t width_1d = 65536;
  static constexpr std::uint32_t side_2d = 8192;
  static constexpr std::uint32_t side_3d = 2048;
  static constexpr std::uint32_t array_levels = 2048;
};

/// The numbers are those of ze_image_type_t.
enum class ImageKind : std::uint8_t { line, line_array, plane, plane_array, volume, buffer };

/// In elements. The levels of an array of lines are its rows, those of an array of planes its slices; what a
/// kind does not have is 1.
struct ImageExtent {
  std::uint64_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t depth = 1;

  friend bool operator==(const ImageExtent&, const ImageExtent&) = default;
};

struct ImageLayout {
  ImageKind kind = ImageKind::line;
  std::uint32_t element_bytes = 1;
  ImageExtent extent;
  std::uint64_t own_row_pitch = 0;    ///< as the application laid it out; 0: as the driver does
  std::uint64_t own_slice_pitch = 0;  ///< the same

  [[nodiscard]] constexpr std::uint64_t row_bytes() const noexcept { return extent.width * element_bytes; }

  [[nodiscard]] constexpr bool one_row() const noexcept {
    return kind == ImageKind::line || kind == ImageKind::buffer;
  }

  [[nodiscard]] constexpr std::uint64_t row_pitch() const noexcept {
    if (own_row_pitch != 0) {
      return own_row_pitch;
    }
    return one_row() ? row_bytes() : aligned_row_pitch(extent.width, element_bytes);
  }

  [[nodiscard]] constexpr std::uint64_t slice_pitch() const noexcept {
    return own_slice_pitch != 0 ? own_slice_pitch : row_pitch() * extent.height;
  }

  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept { return slice_pitch() * extent.depth; }
};

}  // namespace datum
