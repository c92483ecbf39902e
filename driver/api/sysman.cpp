// The least of the management interface that lets other tools still see their devices: drivers, devices,
// memories. Drivers and devices have the same handles as in the core.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "driver/api/device_identity.hpp"
#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {
namespace {

constexpr std::string_view driver_version = "0.1.0";

void set_text(char (&field)[ZES_STRING_PROPERTY_SIZE], std::string_view text) {
  std::memset(field, 0, sizeof(field));
  std::memcpy(field, text.data(), std::min(text.size(), sizeof(field) - 1));
}

ze_result_t find_device(zes_device_handle_t handle, const void* output, std::string_view output_name,
                        Device*& device) {
  device = find<Device>(handle);
  if (device == nullptr) {
    return refuse_handle(handle, "hDevice");
  }
  return output != nullptr ? ZE_RESULT_SUCCESS : refuse_null_pointer(output_name);
}

ze_result_t give_none(zes_device_handle_t handle, uint32_t* count) {
  Device* device = nullptr;
  const ze_result_t code = find_device(handle, count, "pCount", device);
  if (code == ZE_RESULT_SUCCESS) {
    *count = 0;
  }
  return code;
}

DeviceHeap* find_memory(zes_mem_handle_t handle) {
  return static_cast<DeviceHeap*>(find_object(ObjectType::sysman_memory, handle));
}

/// What the core says of the same memory.
std::uint64_t free_bytes_of(const DeviceHeap& memory) {
  if (Driver* driver = current_driver()) {
    for (const std::unique_ptr<Device>& device : driver->devices()) {
      if (memory.ordinal() < device->memory_count() && &device->heap(memory.ordinal()) == &memory) {
        return usable_memory(*device, memory);
      }
    }
  }
  return memory.available_bytes();
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
  if (const ze_result_t code = find_device(hDevice, pProperties, "pProperties", device);
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
  set_text(pProperties->driverVersion, driver_version);
  if (pProperties->stype != ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES) {
    return ZE_RESULT_SUCCESS;
  }
  return for_each_output_extension(pProperties->pNext, [&](ze_structure_type_t stype, void* structure) {
    if (static_cast<unsigned>(stype) == ZES_STRUCTURE_TYPE_DEVICE_EXT_PROPERTIES) {
      auto& extension = *static_cast<zes_device_ext_properties_t*>(structure);
      std::copy(device->uuid().begin(), device->uuid().end(), extension.uuid.id);
      extension.type = ZES_DEVICE_TYPE_FPGA;
      extension.flags = 0;
    }
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zesDeviceGetState(zes_device_handle_t hDevice, zes_device_state_t* pState) {
  Device* device = nullptr;
  if (const ze_result_t code = find_device(hDevice, pState, "pState", device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  pState->reset =
      device->board().health().ok() ? 0 : static_cast<zes_reset_reason_flags_t>(ZES_RESET_REASON_FLAG_WEDGED);
  pState->repaired = ZES_REPAIR_STATUS_UNSUPPORTED;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesDevicePciGetProperties(zes_device_handle_t hDevice, zes_pci_properties_t* pProperties) {
  Device* device = nullptr;
  if (const ze_result_t code = find_device(hDevice, pProperties, "pProperties", device);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const board::PciAddress& pci = device->board().function().info().pci;
  pProperties->address = {pci.domain, pci.bus, pci.device, pci.function};
  pProperties->maxSpeed = {-1, -1, -1};
  pProperties->haveBandwidthCounters = 0;
  pProperties->havePacketCounters = 0;
  pProperties->haveReplayCounters = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesDeviceEnumFabricPorts(zes_device_handle_t hDevice, uint32_t* pCount,
                                     zes_fabric_port_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceGetSubDevicePropertiesExp(zes_device_handle_t hDevice, uint32_t* pCount,
                                               zes_subdevice_exp_properties_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumMemoryModules(zes_device_handle_t hDevice, uint32_t* pCount,
                                       zes_mem_handle_t* phMemory) {
  Device* device = nullptr;
  if (const ze_result_t code = find_device(hDevice, pCount, "pCount", device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const std::uint32_t wanted = phMemory != nullptr ? *pCount : 0;
  *pCount = wanted == 0 ? device->memory_count() : std::min(wanted, device->memory_count());
  for (std::uint32_t ordinal = 0; wanted != 0 && ordinal < *pCount; ++ordinal) {
    phMemory[ordinal] = reinterpret_cast<zes_mem_handle_t>(device->sysman_memory(ordinal));
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesMemoryGetProperties(zes_mem_handle_t hMemory, zes_mem_properties_t* pProperties) {
  const DeviceHeap* memory = find_memory(hMemory);
  if (memory == nullptr) {
    return refuse_handle(hMemory, "hMemory");
  }
  if (pProperties == nullptr) {
    return refuse_null_pointer("pProperties");
  }
  pProperties->type = memory->ordinal() == 0 ? ZES_MEM_TYPE_DDR4 : ZES_MEM_TYPE_SRAM;
  pProperties->onSubdevice = 0;
  pProperties->subdeviceId = 0;
  pProperties->location = ZES_MEM_LOC_DEVICE;
  pProperties->physicalSize = memory->total_bytes();
  pProperties->busWidth = -1;
  pProperties->numChannels = -1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesMemoryGetState(zes_mem_handle_t hMemory, zes_mem_state_t* pState) {
  const DeviceHeap* memory = find_memory(hMemory);
  if (memory == nullptr) {
    return refuse_handle(hMemory, "hMemory");
  }
  if (pState == nullptr) {
    return refuse_null_pointer("pState");
  }
  pState->health = ZES_MEM_HEALTH_UNKNOWN;
  pState->free = free_bytes_of(*memory);
  pState->size = memory->total_bytes();
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
