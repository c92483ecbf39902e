// The start of nearly every function of the management interface.
#pragma once

#include <string_view>

#include <level_zero/zes_api.h>

#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"

namespace datum::api {

/// SUCCESS and the device, whose handle is the core's; else INVALID_NULL_HANDLE, or INVALID_NULL_POINTER for
/// an `output` that is null, which `output_name` names.
inline ze_result_t find_managed(zes_device_handle_t handle, const void* output, std::string_view output_name,
                                Device*& device) {
  device = find<Device>(handle);
  if (device == nullptr) {
    return refuse_handle(handle, "hDevice");
  }
  return output != nullptr ? ZE_RESULT_SUCCESS : refuse_null_pointer(output_name);
}

}  // namespace datum::api
