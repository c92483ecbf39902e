// Checks what queues and immediate lists are created with.
#pragma once

#include <string_view>

#include <level_zero/ze_api.h>

#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/command/queue_settings.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {

/// SUCCESS and `settings`, or the code for what is wrong with `desc` (not null).
ze_result_t check_queue_descriptor(Device& device, const ze_command_queue_desc_t& desc,
                                   QueueSettings& settings);

/// Names that the API gives to the two pointers of a call that creates from a queue descriptor.
struct CreationArguments {
  std::string_view descriptor;
  std::string_view handle;
};

/// Checks the arguments in the order of the API, then writes the handle of what `create(context, device,
/// settings)` made.
template <class Handle, class Create>
ze_result_t create_from_queue_descriptor(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                         const ze_command_queue_desc_t* desc, Handle* handle,
                                         const CreationArguments& names, Create&& create) {
  auto* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  auto* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (desc == nullptr) {
    return refuse_null_pointer(names.descriptor);
  }
  if (handle == nullptr) {
    return refuse_null_pointer(names.handle);
  }
  QueueSettings settings;
  if (const ze_result_t checked = check_queue_descriptor(*device, *desc, settings);
      checked != ZE_RESULT_SUCCESS) {
    return checked;
  }
  if (!context->has(*device)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the device is not one of the context's");
  }
  auto created = create(*context, *device, settings);
  if (!created) {
    return answer(created.error());
  }
  *handle = reinterpret_cast<Handle>((*created)->handle());
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
