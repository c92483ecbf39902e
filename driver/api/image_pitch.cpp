// How far apart the rows of a 2D image in linear memory lie.
#include <limits>

#include <fmt/format.h>

#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/image_layout.hpp"

namespace datum::api {
namespace {

constexpr unsigned largest_element_bytes = 16;
constexpr std::size_t largest_pitch_bytes = std::numeric_limits<std::uint32_t>::max();  // of a descriptor

}  // namespace

ze_result_t zeMemGetPitchFor2dImage(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                    size_t imageWidth, size_t imageHeight, unsigned int elementSizeInBytes,
                                    size_t* rowPitch) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  // A null pointer has no code of its own in the list of this function.
  if (rowPitch == nullptr) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "rowPitch is null");
  }
  if (!context->has(*device)) {
    return refuse_foreign_device();
  }
  if (imageWidth == 0 || imageHeight == 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the image has no pixels: its width or height is 0");
  }
  if (elementSizeInBytes == 0 || elementSizeInBytes > largest_element_bytes) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("elementSizeInBytes is {}; pixels have 1 to {} bytes", elementSizeInBytes,
                              largest_element_bytes));
  }
  if (imageWidth > (largest_pitch_bytes - row_pitch_alignment_bytes) / elementSizeInBytes) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("a row of {} pixels of {} bytes is above the largest pitch of {} bytes",
                              imageWidth, elementSizeInBytes, largest_pitch_bytes));
  }
  const std::size_t pitch = aligned_row_pitch(imageWidth, elementSizeInBytes);
  if (imageHeight > std::numeric_limits<std::size_t>::max() / pitch) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("{} rows of {} bytes are more than an address space", imageHeight, pitch));
  }
  *rowPitch = pitch;
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
