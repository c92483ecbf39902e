// Management interface: initialisation, drivers and devices, which have the same handles as in the core.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "driver/api/device_identity.hpp"
#include "driver/api/driver_version.hpp"
#include "driver/api/extension_chain.hpp"
#include "driver/api/sysman_lookup.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {
namespace {

void set_text(char (&field)[ZES_STRING_PROPERTY_SIZE], std::string_view text) {
  std::memset(field, 0, sizeof(field));
  std::memcpy(field, text.data(), std::min(text.size(), sizeof(field) - 1));
}

}  // namespace

ze_result_t zesInit(zes_init_flags_t flags) {
  if (flags > ZES_INIT_FLAG_PLACEHOLDER) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "flags has bits that mean nothing");
  }
  return api::zeInit(0);
}

ze_result_t zesDriverGet(uint32_t* pCount, zes_driver_handle_t* phDrivers) {
  return api::zeDriverGet(pCount, reinterpret_cast<ze_driver_handle_t*>(phDrivers));
}

ze_result_t zesDeviceGet(zes_driver_handle_t hDriver, uint32_t* pCount, zes_device_handle_t* phDevices) {
  return api::zeDeviceGet(reinterpret_cast<ze_driver_handle_t>(hDriver), pCount,
                          reinterpret_cast<ze_device_handle_t*>(phDevices));
}

ze_result_t zesDriverGetDeviceByUuidExp(zes_driver_handle_t hDriver, zes_uuid_t uuid,
                                        zes_device_handle_t* phDevice, ze_bool_t* onSubdevice,
                                        uint32_t* subdeviceId) {
  Driver* driver = find<Driver>(hDriver);
  if (driver == nullptr) {
    return refuse_handle(hDriver, "hDriver");
  }
  if (phDevice == nullptr) {
    return refuse_null_pointer("phDevice");
  }
  if (onSubdevice == nullptr) {
    return refuse_null_pointer("onSubdevice");
  }
  if (subdeviceId == nullptr) {
    return refuse_null_pointer("subdeviceId");
  }
  for (const std::unique_ptr<Device>& device : driver->devices()) {
    if (std::equal(device->uuid().begin(), device->uuid().end(), uuid.id)) {
      *phDevice = reinterpret_cast<zes_device_handle_t>(device->handle());
      *onSubdevice = 0;
      *subdeviceId = 0;
      return ZE_RESULT_SUCCESS;
    }
  }
  return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "no device of this driver has that UUID");
}

ze_result_t zesDeviceGetProperties(zes_device_handle_t hDevice, zes_device_properties_t* pProperties) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pProperties, "pProperties", device);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  fill_properties(*device, pProperties->core,
                  pProperties->core.stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
  pProperties->numSubdevices = 0;
  set_text(pProperties->serialNumber, "unknown");
  set_text(pProperties->boardNumber, device->board().function().info().address);
  set_text(pProperties->brandName, "Datum");
  set_text(pProperties->modelName, device->board().function().info().name);
  set_text(pProperties->vendorName, "unknown");
  set_text(pProperties->driverVersion, driver_version_text);
  if (pProperties->stype != ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES) {
    return ZE_RESULT_SUCCESS;
  }
  return for_each_output_extension(pProperties->pNext, [&](ze_structure_type_t stype, void* structure) {
    if (static_cast<unsigned>(stype) == ZES_STRUCTURE_TYPE_DEVICE_EXT_PROPERTIES) {
      auto& extension = *static_cast<zes_device_ext_properties_t*>(structure);
      std::copy(device->uuid().begin(), device->uuid().end(), extension.uuid.id);
      extension.type =
          device->driver().attitude() == Attitude::gpu ? ZES_DEVICE_TYPE_GPU : ZES_DEVICE_TYPE_FPGA;
      extension.flags = 0;
    }
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zesDeviceGetState(zes_device_handle_t hDevice, zes_device_state_t* pState) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pState, "pState", device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  pState->reset =
      device->board().health().ok() ? 0 : static_cast<zes_reset_reason_flags_t>(ZES_RESET_REASON_FLAG_WEDGED);
  pState->repaired = ZES_REPAIR_STATUS_UNSUPPORTED;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesDeviceReset(zes_device_handle_t hDevice, ze_bool_t force) {
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  return answer(device->reset(force != 0));
}

ze_result_t zesDeviceResetExt(zes_device_handle_t hDevice, zes_reset_properties_t* pProperties) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pProperties, "pProperties", device);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  switch (pProperties->resetType) {
  case ZES_RESET_TYPE_WARM:
  case ZES_RESET_TYPE_FLR:
    return answer(device->reset(pProperties->force != 0));
  case ZES_RESET_TYPE_COLD:
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "the board's power cannot be switched from here");
  default:
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "pProperties->resetType is no type of reset");
  }
}

}  // namespace datum::api
