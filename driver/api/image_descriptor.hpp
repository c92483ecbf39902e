// From ze_image_desc_t to the driver's own description of an image.
#pragma once

#include <level_zero/ze_api.h>

#include "driver/object/image.hpp"

namespace datum {
class Device;
}

namespace datum::api {

/// stype, flags, type and the numbers of the format. SUCCESS, INVALID_ARGUMENT or INVALID_ENUMERATION.
ze_result_t check_image_enumerators(const ze_image_desc_t& desc);

/// What the device makes of a descriptor that passed check_image_enumerators: `layout` and `format`, or
/// UNSUPPORTED_IMAGE_FORMAT, INVALID_ARGUMENT for extents outside the limits of zeDeviceGetImageProperties.
ze_result_t read_image_descriptor(Device& device, const ze_image_desc_t& desc, ImageLayout& layout,
                                  ImageFormat& format);

}  // namespace datum::api
