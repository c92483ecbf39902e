#include "driver/api/image_descriptor.hpp"

#include <fmt/format.h>

#include "driver/api/descriptor_type.hpp"
#include "driver/api/image_format.hpp"
#include "driver/api/result.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr ze_image_flags_t known_image_flags = ZE_IMAGE_FLAG_KERNEL_WRITE | ZE_IMAGE_FLAG_BIAS_UNCACHED;

ze_result_t check_side(const char* name, std::uint64_t value, std::uint64_t most) {
  if (value == 0 || value > most) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("the image's {} is {}; this kind of image has 1 to {}", name, value, most));
  }
  return ZE_RESULT_SUCCESS;
}

/// A member that this kind of image has, its limit, and where it goes.
template <class Number>
ze_result_t take_side(const char* name, Number value, std::uint64_t most, Number& side) {
  side = value;
  return check_side(name, value, most);
}

ze_result_t read_extent(Device& device, const ze_image_desc_t& desc, ImageLayout& layout) {
  ImageExtent& extent = layout.extent;
  std::uint64_t most_wide = ImageLimits::width_1d;
  std::uint64_t most_high = 1;
  if (desc.type == ZE_IMAGE_TYPE_2D || desc.type == ZE_IMAGE_TYPE_2DARRAY) {
    most_wide = most_high = ImageLimits::side_2d;
  } else if (desc.type == ZE_IMAGE_TYPE_3D) {
    most_wide = most_high = ImageLimits::side_3d;
  } else if (desc.type == ZE_IMAGE_TYPE_BUFFER) {
    most_wide = device.max_allocation_bytes();
  }
  ze_result_t code = take_side("width", desc.width, most_wide, extent.width);
  if (code == ZE_RESULT_SUCCESS && most_high != 1) {
    code = take_side("height", desc.height, most_high, extent.height);
  }
  if (code == ZE_RESULT_SUCCESS && desc.type == ZE_IMAGE_TYPE_3D) {
    code = take_side("depth", desc.depth, most_high, extent.depth);
  } else if (code == ZE_RESULT_SUCCESS && desc.type == ZE_IMAGE_TYPE_2DARRAY) {
    code = take_side("number of array levels", desc.arraylevels, ImageLimits::array_levels, extent.depth);
  } else if (code == ZE_RESULT_SUCCESS && desc.type == ZE_IMAGE_TYPE_1DARRAY) {
    code = take_side("number of array levels", desc.arraylevels, ImageLimits::array_levels, extent.height);
  }
  if (code == ZE_RESULT_SUCCESS && desc.type == ZE_IMAGE_TYPE_BUFFER) {
    if (desc.width % layout.element_bytes != 0) {
      return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    fmt::format("a buffer image of {} bytes is no whole number of elements of {} bytes",
                                desc.width, layout.element_bytes));
    }
    extent.width /= layout.element_bytes;
  }
  return code;
}

}  // namespace

ze_result_t check_image_enumerators(const ze_image_desc_t& desc) {
  if (!is_descriptor(desc.stype, ZE_STRUCTURE_TYPE_IMAGE_DESC)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "desc->stype is not ZE_STRUCTURE_TYPE_IMAGE_DESC");
  }
  if ((desc.flags & ~known_image_flags) != 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "desc->flags has bits that mean nothing");
  }
  if (desc.type > ZE_IMAGE_TYPE_BUFFER) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "desc->type is no type of image");
  }
  return check_enumerators(desc.format);
}

ze_result_t read_image_descriptor(Device& device, const ze_image_desc_t& desc, ImageLayout& layout,
                                  ImageFormat& format) {
  layout.kind = static_cast<ImageKind>(desc.type);
  layout.element_bytes = element_bytes(desc.format);
  if (layout.element_bytes == 0) {
    return refuse(
        ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
        "the device has no media formats, and each other one with the types that fit its components");
  }
  if (desc.miplevels != 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "desc->miplevels must be 0");
  }
  format.layout = static_cast<std::uint32_t>(desc.format.layout);
  format.type = static_cast<std::uint32_t>(desc.format.type);
  format.swizzle = {static_cast<std::uint32_t>(desc.format.x), static_cast<std::uint32_t>(desc.format.y),
                    static_cast<std::uint32_t>(desc.format.z), static_cast<std::uint32_t>(desc.format.w)};
  return read_extent(device, desc, layout);
}

}  // namespace datum::api
