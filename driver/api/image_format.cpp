#include "driver/api/image_format.hpp"

#include <algorithm>
#include <array>

#include "driver/api/result.hpp"

namespace datum::api {
namespace {

/// Bits of the smallest component; `packed`: components of several sizes in one word.
struct Layout {
  ze_image_format_layout_t layout = ZE_IMAGE_FORMAT_LAYOUT_8;
  std::uint32_t bytes = 0;
  std::uint32_t component_bits = 0;
  bool packed = false;
};

constexpr std::array layouts = {
    Layout{ZE_IMAGE_FORMAT_LAYOUT_8, 1, 8},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_8_8, 2, 8},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_8_8_8, 3, 8},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, 4, 8},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_16, 2, 16},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_16_16, 4, 16},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_16_16_16, 6, 16},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, 8, 16},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_32, 4, 32},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_32_32, 8, 32},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_32_32_32, 12, 32},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, 16, 32},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2, 4, 10, true},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_11_11_10, 4, 10, true},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_5_6_5, 2, 5, true},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1, 2, 5, true},
    Layout{ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4, 2, 4, true},
};

bool type_fits(const Layout& layout, ze_image_format_type_t type) noexcept {
  switch (type) {
  case ZE_IMAGE_FORMAT_TYPE_UINT:
    return true;
  case ZE_IMAGE_FORMAT_TYPE_SINT:
    return !layout.packed;
  case ZE_IMAGE_FORMAT_TYPE_UNORM:
    return layout.component_bits <= 16;
  case ZE_IMAGE_FORMAT_TYPE_SNORM:
    return !layout.packed && layout.component_bits <= 16;
  case ZE_IMAGE_FORMAT_TYPE_FLOAT:
    return layout.component_bits >= 16 || layout.layout == ZE_IMAGE_FORMAT_LAYOUT_11_11_10;
  default:
    return false;
  }
}

}  // namespace

ze_result_t check_enumerators(const ze_image_format_t& format) {
  if (format.layout > ZE_IMAGE_FORMAT_LAYOUT_32_32_32) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "the layout of the image's format is no layout");
  }
  if (format.type > ZE_IMAGE_FORMAT_TYPE_FLOAT) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "the type of the image's format is no type");
  }
  for (const ze_image_format_swizzle_t swizzle : {format.x, format.y, format.z, format.w}) {
    if (swizzle > ZE_IMAGE_FORMAT_SWIZZLE_D) {
      return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "a swizzle of the image's format is no swizzle");
    }
  }
  return ZE_RESULT_SUCCESS;
}

std::uint32_t element_bytes(const ze_image_format_t& format) noexcept {
  const auto* found = std::find_if(layouts.begin(), layouts.end(),
                                   [&](const Layout& layout) { return layout.layout == format.layout; });
  return found != layouts.end() && type_fits(*found, format.type) ? found->bytes : 0;
}

}  // namespace datum::api
