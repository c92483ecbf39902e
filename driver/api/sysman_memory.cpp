// Management interface: memory modules. Their handles stand for the heaps of a device.
#include <algorithm>

#include "driver/api/device_identity.hpp"
#include "driver/api/sysman_lookup.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/device/traffic_counters.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {
namespace {

DeviceHeap* find_memory(zes_mem_handle_t handle) {
  return static_cast<DeviceHeap*>(find_object(ObjectType::sysman_memory, handle));
}

Device* device_of(const DeviceHeap& memory) {
  Driver* driver = current_driver();
  for (std::size_t index = 0; driver != nullptr && index < driver->devices().size(); ++index) {
    Device& device = *driver->devices()[index];
    if (memory.ordinal() < device.memory_count() && &device.heap(memory.ordinal()) == &memory) {
      return &device;
    }
  }
  return nullptr;
}

}  // namespace

ze_result_t zesDeviceEnumMemoryModules(zes_device_handle_t hDevice, uint32_t* pCount,
                                       zes_mem_handle_t* phMemory) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pCount, "pCount", device); code != ZE_RESULT_SUCCESS) {
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
  Device* device = device_of(*memory);
  pState->free = device != nullptr ? usable_memory(*device, *memory) : memory->available_bytes();
  pState->size = memory->total_bytes();
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesMemoryGetBandwidth(zes_mem_handle_t hMemory, zes_mem_bandwidth_t* pBandwidth) {
  const DeviceHeap* memory = find_memory(hMemory);
  Device* device = memory != nullptr ? device_of(*memory) : nullptr;
  if (device == nullptr) {
    return refuse_handle(hMemory, "hMemory");
  }
  if (pBandwidth == nullptr) {
    return refuse_null_pointer("pBandwidth");
  }
  if (memory->ordinal() != 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "the board counts no accesses of its on-chip memory");
  }
  const Result<TrafficCounters> traffic = dram_traffic(device->board());
  if (!traffic) {
    return answer(traffic.error());
  }
  pBandwidth->readCounter = traffic->read_bytes;
  pBandwidth->writeCounter = traffic->written_bytes;
  pBandwidth->maxBandwidth = bus_beat_bytes * device->board().capabilities().clock_hz;
  pBandwidth->timestamp = traffic->at_us;
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
