// A driver for tests of the tables alone: one device, contexts and host memory from malloc. What else is
// built has a stand-in.

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "driver/api/tables/ddi_handle.hpp"
#include "driver/api/tables/entry_points.hpp"

namespace {

struct Object {
  ze_handle_t tables = datum::api::ddi_handle_prefix();
};

/// Never destroyed: a program's own static objects may still call the driver while the process ends.
Object& probe_driver() {
  static Object* const object = new Object;
  return *object;
}

Object& probe_device() {
  static Object* const object = new Object;
  return *object;
}

template <class Handle>
Handle handle_of(Object& object) {
  return reinterpret_cast<Handle>(&object);
}

/// The count-then-fill protocol for a list of one.
template <class Item>
ze_result_t give_one(std::uint32_t* count, Item* items, const Item& item) {
  if (count == nullptr) {
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  }
  if (*count > 0 && items != nullptr) {
    items[0] = item;
  }
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

}  // namespace

namespace datum::api {

ze_result_t zeInit(ze_init_flags_t flags) {
  return flags == 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t zeInitDrivers(std::uint32_t* count, ze_driver_handle_t* handles,
                          ze_init_driver_type_desc_t* desc) {
  constexpr ze_init_driver_type_flags_t other_kinds =
      ZE_INIT_DRIVER_TYPE_FLAG_GPU | ZE_INIT_DRIVER_TYPE_FLAG_NPU;
  if (count == nullptr || desc == nullptr) {
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  }
  if ((desc->flags & ~other_kinds) == 0) {
    *count = 0;
    return ZE_RESULT_ERROR_UNINITIALIZED;
  }
  return give_one(count, handles, handle_of<ze_driver_handle_t>(probe_driver()));
}

ze_result_t zeDriverGet(std::uint32_t* count, ze_driver_handle_t* handles) {
  return give_one(count, handles, handle_of<ze_driver_handle_t>(probe_driver()));
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t, ze_driver_properties_t* properties) {
  for (auto* next = static_cast<ze_base_properties_t*>(properties->pNext); next != nullptr;
       next = static_cast<ze_base_properties_t*>(next->pNext)) {
    if (next->stype == ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES) {
      reinterpret_cast<ze_driver_ddi_handles_ext_properties_t*>(next)->flags =
          ddi_handles_usable() ? ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED : 0;
    }
  }
  // The address of the driver's object, so that a program can tell whether its handle is that object or a
  // loader's wrapper.
  const Object* const object = &probe_driver();
  std::memset(&properties->uuid, 0, sizeof(properties->uuid));
  std::memcpy(&properties->uuid, &object, sizeof(object));
  properties->driverVersion = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t, std::uint32_t* count,
                                           ze_driver_extension_properties_t* extensions) {
  static constexpr ze_driver_extension_properties_t ddi_handles = {ZE_DRIVER_DDI_HANDLES_EXT_NAME,
                                                                   ZE_DRIVER_DDI_HANDLES_EXT_VERSION_1_1};
  return give_one(count, extensions, ddi_handles);
}

ze_result_t zeDeviceGet(ze_driver_handle_t, std::uint32_t* count, ze_device_handle_t* handles) {
  return give_one(count, handles, handle_of<ze_device_handle_t>(probe_device()));
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t, ze_device_properties_t* properties) {
  properties->type = ZE_DEVICE_TYPE_FPGA;
  std::strncpy(properties->name, "probe", sizeof(properties->name));
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetStatus(ze_device_handle_t device) {
  return device == nullptr ? ZE_RESULT_ERROR_INVALID_NULL_HANDLE : ZE_RESULT_SUCCESS;
}

ze_result_t zeContextCreate(ze_driver_handle_t, const ze_context_desc_t*, ze_context_handle_t* context) {
  *context = handle_of<ze_context_handle_t>(*new Object);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextDestroy(ze_context_handle_t context) {
  delete reinterpret_cast<Object*>(context);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemAllocHost(ze_context_handle_t, const ze_host_mem_alloc_desc_t*, std::size_t bytes,
                           std::size_t, void** pointer) {
  *pointer = std::malloc(bytes);
  return *pointer != nullptr ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t zeMemFree(ze_context_handle_t, void* pointer) {
  std::free(pointer);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesInit(zes_init_flags_t) { return ZE_RESULT_SUCCESS; }

ze_result_t zesDriverGet(std::uint32_t* count, zes_driver_handle_t* handles) {
  return give_one(count, handles, handle_of<zes_driver_handle_t>(probe_driver()));
}

ze_result_t zesDeviceGet(zes_driver_handle_t, std::uint32_t* count, zes_device_handle_t* handles) {
  return give_one(count, handles, handle_of<zes_device_handle_t>(probe_device()));
}

}  // namespace datum::api
