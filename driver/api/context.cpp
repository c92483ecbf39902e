// Contexts and residency.
#include "driver/object/context.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "driver/api/descriptor_type.hpp"
#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {
namespace {

ze_result_t check_description(const ze_context_desc_t& desc) {
  if (!is_descriptor(desc.stype, ZE_STRUCTURE_TYPE_CONTEXT_DESC)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "desc->stype is not ZE_STRUCTURE_TYPE_CONTEXT_DESC");
  }
  return for_each_extension(desc.pNext, [](ze_structure_type_t stype, const void* structure) {
    if (stype == ZE_STRUCTURE_TYPE_POWER_SAVING_HINT_EXP_DESC &&
        static_cast<const ze_context_power_saving_hint_exp_desc_t*>(structure)->hint > 100) {
      return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the power saving hint is above 100 percent");
    }
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t create_context(Driver& driver, std::vector<Device*> devices, ze_context_handle_t* handle) {
  for (Device* device : devices) {
    if (const Status alive = device->board().health(); !alive.ok()) {
      return answer(alive);
    }
  }
  Result<std::unique_ptr<Context>> context = Context::create(driver, std::move(devices));
  if (!context.ok()) {
    return answer(context.error());
  }
  *handle = reinterpret_cast<ze_context_handle_t>((*context).release()->handle());
  return ZE_RESULT_SUCCESS;
}

std::vector<Device*> all_devices(Driver& driver) {
  std::vector<Device*> devices;
  for (const std::unique_ptr<Device>& device : driver.devices()) {
    devices.push_back(device.get());
  }
  return devices;
}

/// The arguments that zeContextCreate and zeContextCreateEx share.
ze_result_t check_arguments(ze_driver_handle_t driver, const ze_context_desc_t* desc,
                            const ze_context_handle_t* context) {
  if (find<Driver>(driver) == nullptr) {
    return refuse_handle(driver, "hDriver");
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (context == nullptr) {
    return refuse_null_pointer("phContext");
  }
  if (desc->flags > ZE_CONTEXT_FLAG_TBD) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "desc->flags has bits that mean nothing");
  }
  return ZE_RESULT_SUCCESS;
}

/// Context and device of a call that names both.
struct Place {
  Context* context = nullptr;
  Device* device = nullptr;
};

ze_result_t find_place(ze_context_handle_t context, ze_device_handle_t device, Place& place) {
  place.context = find<Context>(context);
  if (place.context == nullptr) {
    return refuse_handle(context, "hContext");
  }
  if (const ze_result_t code = check_alive(*place.context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  place.device = find<Device>(device);
  if (place.device == nullptr) {
    return refuse_handle(device, "hDevice");
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t check_membership(const Place& place) {
  return place.context->has(*place.device) ? ZE_RESULT_SUCCESS : refuse_foreign_device();
}

/// Residency of [pointer, +size), which is either Datum's memory or nothing to be resident.
ze_result_t check_memory(const Place& place, const void* pointer, std::size_t size) {
  const auto allocation = place.context->find(pointer);
  if (!allocation) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "ptr is not in a live allocation of hContext");
  }
  if (size > allocation->size_bytes - (reinterpret_cast<std::uintptr_t>(pointer) - allocation->base)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the range leaves its allocation");
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t zeContextCreate(ze_driver_handle_t hDriver, const ze_context_desc_t* desc,
                            ze_context_handle_t* phContext) {
  if (const ze_result_t code = check_arguments(hDriver, desc, phContext); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (const ze_result_t code = check_description(*desc); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  Driver& driver = *find<Driver>(hDriver);
  return create_context(driver, all_devices(driver), phContext);
}

ze_result_t zeContextCreateEx(ze_driver_handle_t hDriver, const ze_context_desc_t* desc, uint32_t numDevices,
                              ze_device_handle_t* phDevices, ze_context_handle_t* phContext) {
  if (const ze_result_t code = check_arguments(hDriver, desc, phContext); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (phDevices == nullptr && numDevices > 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_SIZE, "numDevices is not 0 and phDevices is null");
  }
  if (const ze_result_t code = check_description(*desc); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  Driver& driver = *find<Driver>(hDriver);
  std::vector<Device*> devices;
  for (std::uint32_t index = 0; index < numDevices; ++index) {
    Device* device = find<Device>(phDevices[index]);
    if (device == nullptr) {
      return refuse_handle(phDevices[index], fmt::format("phDevices[{}]", index));
    }
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  }
  return create_context(driver, devices.empty() ? all_devices(driver) : std::move(devices), phContext);
}

ze_result_t zeContextDestroy(ze_context_handle_t hContext) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (context->driver().owns(*context)) {
    return refuse(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                  "hContext is the driver's default context, which lives as long as the driver");
  }
  if (context->has_children()) {
    for (Device* device : context->devices()) {
      device->rings().pump();  // memory that was freed in use may be unused by now
    }
  }
  if (context->has_children()) {
    return refuse(
        ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
        "queues, command lists or event pools of hContext are still there, or commands in flight use "
        "memory that was freed with DEFER_FREE");
  }
  if (!unregister_handle(context->handle())) {
    return refuse_handle(hContext, "hContext");  // another thread was first
  }
  delete context;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextGetStatus(ze_context_handle_t hContext) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  return answer(context->health());
}

ze_result_t zeContextSystemBarrier(ze_context_handle_t hContext, ze_device_handle_t hDevice) {
  Place place;
  if (const ze_result_t code = find_place(hContext, hDevice, place); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (const ze_result_t code = check_membership(place); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return answer(place.device->board().mmu().flush_writes());
}

ze_result_t zeContextMakeMemoryResident(ze_context_handle_t hContext, ze_device_handle_t hDevice, void* ptr,
                                        size_t size) {
  Place place;
  if (const ze_result_t code = find_place(hContext, hDevice, place); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (const ze_result_t code = check_membership(place); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (const ze_result_t code = check_memory(place, ptr, size); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  // Memory of this driver never moves: bringing its page-table entries to the board is all that is left to
  // do.
  return answer(place.context->space(*place.device).commit());
}

ze_result_t zeContextEvictMemory(ze_context_handle_t hContext, ze_device_handle_t hDevice, void* ptr,
                                 size_t size) {
  Place place;
  if (const ze_result_t code = find_place(hContext, hDevice, place); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (const ze_result_t code = check_membership(place); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return check_memory(place, ptr, size);
}

}  // namespace datum::api
