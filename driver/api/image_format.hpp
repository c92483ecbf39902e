// Formats of images.
#pragma once

#include <cstdint>

#include <level_zero/ze_api.h>

namespace datum::api {

/// SUCCESS, or INVALID_ENUMERATION for numbers that the API does not define.
ze_result_t check_enumerators(const ze_image_format_t& format);

/// Bytes of one element; 0: there are no such images. The device has every format whose elements are whole
/// bytes in one plane and whose type fits its components; media formats it has not.
[[nodiscard]] std::uint32_t element_bytes(const ze_image_format_t& format) noexcept;

}  // namespace datum::api
