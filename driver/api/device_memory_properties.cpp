// Memories of a device, and what may access them.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "driver/api/bandwidth.hpp"
#include "driver/api/device_identity.hpp"
#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/memory/exported_file.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr std::string_view memory_names[] = {"DRAM", "on-chip memory"};

void fill_memory(Device& device, std::uint32_t ordinal, ze_device_memory_properties_t& properties) {
  properties.flags = 0;
  properties.maxClockRate = static_cast<std::uint32_t>(device.board().capabilities().clock_hz / 1'000'000);
  properties.maxBusWidth = memory_port_bits;
  properties.totalSize = device.heap(ordinal).total_bytes();
  std::memset(properties.name, 0, sizeof(properties.name));
  std::memcpy(properties.name, memory_names[ordinal].data(), memory_names[ordinal].size());
}

void fill_memory_extension(Device& device, std::uint32_t ordinal,
                           ze_device_memory_ext_properties_t& properties) {
  properties.type = ordinal == 0 ? ZE_DEVICE_MEMORY_EXT_TYPE_DDR4 : ZE_DEVICE_MEMORY_EXT_TYPE_SRAM;
  properties.physicalSize = device.heap(ordinal).total_bytes();
  properties.readBandwidth = memory_bandwidth(device);
  properties.writeBandwidth = properties.readBandwidth;
  properties.bandwidthUnit = ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC;
}

}  // namespace

std::uint64_t usable_memory(Device& device, const DeviceHeap& heap) {
  device.rings().pump();  // work that has ended gives back what was freed while it ran
  device.give_back_idle();
  return heap.available_bytes();
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t hDevice, uint32_t* pCount,
                                        ze_device_memory_properties_t* pMemProperties) {
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  const std::uint32_t wanted = pMemProperties != nullptr ? *pCount : 0;
  *pCount = wanted == 0 ? device->memory_count() : std::min(wanted, device->memory_count());
  for (std::uint32_t ordinal = 0; wanted != 0 && ordinal < *pCount; ++ordinal) {
    ze_device_memory_properties_t& properties = pMemProperties[ordinal];
    fill_memory(*device, ordinal, properties);
    if (properties.stype != ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES) {
      continue;
    }
    for_each_output_extension(properties.pNext, [&](ze_structure_type_t stype, void* structure) {
      if (stype == ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES) {
        fill_memory_extension(*device, ordinal, *static_cast<ze_device_memory_ext_properties_t*>(structure));
      }
      return ZE_RESULT_SUCCESS;
    });
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetMemoryAccessProperties(ze_device_handle_t hDevice,
                                              ze_device_memory_access_properties_t* pMemAccessProperties) {
  if (find<Device>(hDevice) == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (pMemAccessProperties == nullptr) {
    return refuse_null_pointer("pMemAccessProperties");
  }
  // Host and board reach host and shared memory at the same time, but the board's engines know no atomic
  // operation. A shared allocation lives in host memory, so every device of its context reaches it. System
  // memory is legal in every command, pinned or in pieces; not at the same time as the host uses it, since a
  // piece is a copy.
  constexpr ze_memory_access_cap_flags_t concurrent =
      ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT;
  pMemAccessProperties->hostAllocCapabilities = concurrent;
  pMemAccessProperties->deviceAllocCapabilities = concurrent;
  pMemAccessProperties->sharedSingleDeviceAllocCapabilities = concurrent;
  pMemAccessProperties->sharedCrossDeviceAllocCapabilities = concurrent;
  pMemAccessProperties->sharedSystemAllocCapabilities = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCacheProperties(ze_device_handle_t hDevice, uint32_t* pCount,
                                       ze_device_cache_properties_t*) {
  if (find<Device>(hDevice) == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  *pCount = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t
zeDeviceGetExternalMemoryProperties(ze_device_handle_t hDevice,
                                    ze_device_external_memory_properties_t* pExternalMemoryProperties) {
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (pExternalMemoryProperties == nullptr) {
    return refuse_null_pointer("pExternalMemoryProperties");
  }
  pExternalMemoryProperties->memoryAllocationImportTypes = 0;
  pExternalMemoryProperties->memoryAllocationExportTypes = 0;
  for (const auto& [type, flag] : {std::pair{ExternalType::opaque, ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD},
                                   std::pair{ExternalType::dma_buf, ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF}}) {
    const ze_external_memory_type_flags_t bit = flag;
    pExternalMemoryProperties->memoryAllocationImportTypes |= device->imports(type) ? bit : 0;
    pExternalMemoryProperties->memoryAllocationExportTypes |= device->exports(type) ? bit : 0;
  }
  pExternalMemoryProperties->imageImportTypes = 0;
  pExternalMemoryProperties->imageExportTypes = 0;
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
