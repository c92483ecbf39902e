// What may stand behind the descriptor of an image.
#pragma once

#include <cstdint>

#include <level_zero/ze_api.h>

#include "driver/object/image_layout.hpp"

namespace datum::api {

struct ImageExtensions {
  bool on_memory = false;     ///< the image is laid over memory of the application's
  void* memory = nullptr;     ///< its first byte
  bool custom_pitch = false;  ///< and with pitches of the application's
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;
};

/// Reads the chain. Extensions that would make the image something that the board does not know are refused.
ze_result_t read_image_extensions(const void* chain, ImageExtensions& extensions);

/// Gives a layout the pitches that were asked for, if any were.
ze_result_t apply_pitches(const ImageExtensions& extensions, ImageLayout& layout);

}  // namespace datum::api
