// Devices: which there are, what they are, how they are.
#include "driver/object/device.hpp"

#include <algorithm>
#include <cstring>

#include "driver/api/bandwidth.hpp"
#include "driver/api/device_identity.hpp"
#include "driver/api/event_capabilities.hpp"
#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/link_speed.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/queue_group.hpp"
#include "driver/device/clock_pair.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/object/driver.hpp"
#include "driver/object/image_layout.hpp"

namespace datum::api {
namespace {

constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr std::size_t fill_pattern_bytes = 16;
constexpr std::uint32_t timestamp_bits = 64;

/// What an image over memory of the application's may look like.
ze_result_t fill_pitched_images(ze_structure_type_t stype, void* structure) {
  if (stype == ZE_STRUCTURE_TYPE_PITCHED_ALLOC_DEVICE_EXP_PROPERTIES) {
    auto& limits = *static_cast<ze_device_pitched_alloc_exp_properties_t*>(structure);
    limits.maxImageLinearWidth = ImageLimits::side_2d;
    limits.maxImageLinearHeight = ImageLimits::side_2d;
  } else if (stype == ZE_STRUCTURE_TYPE_PITCHED_ALLOC_2DIMAGE_LINEAR_PITCH_EXP_INFO) {
    auto& pitch = *static_cast<ze_pitched_alloc_2dimage_linear_pitch_exp_info_t*>(structure);
    pitch.pitchAlign = row_pitch_alignment_bytes;
    pitch.maxSupportedPitch = largest_row_pitch_bytes;
  }
  return ZE_RESULT_SUCCESS;
}

/// The start of nearly every function here: the device, or why there is none; and that the output is there.
struct FoundDevice {
  Device* device = nullptr;
  ze_result_t code = ZE_RESULT_SUCCESS;
};

FoundDevice find_device(ze_device_handle_t handle, const void* output, std::string_view output_name) {
  Device* device = find<Device>(handle);
  if (device == nullptr) {
    return {nullptr, refuse_handle(handle, "hDevice")};
  }
  if (output == nullptr) {
    return {nullptr, refuse_null_pointer(output_name)};
  }
  return {device, ZE_RESULT_SUCCESS};
}

/// For structures whose members have little to say about a board that runs no kernels: everything behind
/// `pNext` is zero.
template <class Structure, class First>
void clear_from(Structure& structure, First& first) {
  auto* begin = reinterpret_cast<unsigned char*>(&first);
  auto* end = reinterpret_cast<unsigned char*>(&structure) + sizeof(structure);
  std::memset(begin, 0, static_cast<std::size_t>(end - begin));
}

}  // namespace

void fill_properties(Device& device, ze_device_properties_t& properties, bool timer_in_hz) {
  const BoardCapabilities& board = device.board().capabilities();
  const board::FunctionInfo& info = device.board().function().info();
  clear_from(properties, properties.type);
  properties.type = device.driver().attitude() == Attitude::gpu ? ZE_DEVICE_TYPE_GPU : ZE_DEVICE_TYPE_FPGA;
  properties.vendorId = info.vendor_id;
  properties.deviceId = info.device_id;
  properties.coreClockRate = static_cast<std::uint32_t>(board.clock_hz / 1'000'000);
  properties.maxMemAllocSize = device.max_allocation_bytes();
  properties.maxHardwareContexts = board.space_count - 1;  // the first space is the driver's own
  properties.timerResolution =
      timer_in_hz ? board.timer_hz : std::max<std::uint64_t>(ns_per_second / board.timer_hz, 1);
  properties.timestampValidBits = timestamp_bits;
  properties.kernelTimestampValidBits = timestamp_bits;
  std::copy(device.uuid().begin(), device.uuid().end(), properties.uuid.id);
  std::memcpy(properties.name, info.name.data(), std::min(info.name.size(), sizeof(properties.name) - 1));
}

ze_result_t zeDeviceGet(ze_driver_handle_t hDriver, uint32_t* pCount, ze_device_handle_t* phDevices) {
  Driver* driver = find<Driver>(hDriver);
  if (driver == nullptr) {
    return refuse_handle(hDriver, "hDriver");
  }
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  const auto available = static_cast<std::uint32_t>(driver->devices().size());
  if (*pCount == 0 || *pCount > available) {
    const bool only_count = *pCount == 0;
    *pCount = available;
    if (only_count) {
      return ZE_RESULT_SUCCESS;
    }
  }
  for (std::uint32_t index = 0; phDevices != nullptr && index < *pCount; ++index) {
    phDevices[index] = reinterpret_cast<ze_device_handle_t>(driver->devices()[index]->handle());
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t* pCount, ze_device_handle_t*) {
  if (const FoundDevice found = find_device(hDevice, pCount, "pCount"); found.device == nullptr) {
    return found.code;
  }
  *pCount = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetRootDevice(ze_device_handle_t hDevice, ze_device_handle_t* phRootDevice) {
  if (const FoundDevice found = find_device(hDevice, phRootDevice, "phRootDevice"); found.device == nullptr) {
    return found.code;
  }
  *phRootDevice = nullptr;  // the answer for a device that is one itself
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t hDevice, ze_device_properties_t* pDeviceProperties) {
  const FoundDevice found = find_device(hDevice, pDeviceProperties, "pDeviceProperties");
  if (found.device == nullptr) {
    return found.code;
  }
  const ze_structure_type_t stype = pDeviceProperties->stype;
  fill_properties(*found.device, *pDeviceProperties, stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
  if (stype != ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES && stype != ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2) {
    return ZE_RESULT_SUCCESS;  // filled for callers that leave it uninitialised; their pNext is as good as
                               // random
  }
  return for_each_output_extension(pDeviceProperties->pNext, [&](ze_structure_type_t type, void* structure) {
    if (type == ZE_STRUCTURE_TYPE_EU_COUNT_EXT) {
      static_cast<ze_eu_count_ext_t*>(structure)->numTotalEUs = 0;
    } else if (type == ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT) {
      static_cast<ze_device_ip_version_ext_t*>(structure)->ipVersion =
          found.device->board().capabilities().version;
    } else if (type == ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES) {
      static_cast<ze_event_query_kernel_timestamps_ext_properties_t*>(structure)->flags =
          timestamp_query_flags;
    } else if (type == ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES) {
      static_cast<ze_device_readonly_memory_ext_properties_t*>(structure)->readonlyCapability =
          ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED;
    } else if (type == ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES) {
      static_cast<ze_device_event_properties_t*>(structure)->flags = counter_based_extras;
    } else if (type == ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES) {
      auto& found_flags = *static_cast<ze_mutable_command_list_exp_properties_t*>(structure);
      found_flags.mutableCommandListFlags = 0;
      found_flags.mutableCommandFlags = mutable_command_flags;
    } else if (type == ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES) {
      static_cast<ze_device_usablemem_size_ext_properties_t*>(structure)->currUsableMemSize =
          usable_memory(*found.device, found.device->heap(0));
    }
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t hDevice,
                                         ze_device_compute_properties_t* pComputeProperties) {
  if (const FoundDevice found = find_device(hDevice, pComputeProperties, "pComputeProperties");
      found.device == nullptr) {
    return found.code;
  }
  clear_from(*pComputeProperties, pComputeProperties->maxTotalGroupSize);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t hDevice,
                                        ze_device_module_properties_t* pModuleProperties) {
  const FoundDevice found = find_device(hDevice, pModuleProperties, "pModuleProperties");
  if (found.device == nullptr) {
    return found.code;
  }
  clear_from(*pModuleProperties, pModuleProperties->spirvVersionSupported);
  // Middleware for GPUs takes a version for granted, though it need not have a module.
  if (found.device->driver().attitude() == Attitude::gpu) {
    pModuleProperties->spirvVersionSupported = ZE_MAKE_VERSION(1, 2);
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetImageProperties(ze_device_handle_t hDevice,
                                       ze_device_image_properties_t* pImageProperties) {
  const FoundDevice found = find_device(hDevice, pImageProperties, "pImageProperties");
  if (found.device == nullptr) {
    return found.code;
  }
  // Images are memory to be copied: no kernel reads, writes or samples one.
  clear_from(*pImageProperties, pImageProperties->maxImageDims1D);
  pImageProperties->maxImageDims1D = ImageLimits::width_1d;
  pImageProperties->maxImageDims2D = ImageLimits::side_2d;
  pImageProperties->maxImageDims3D = ImageLimits::side_3d;
  pImageProperties->maxImageBufferSize = found.device->max_allocation_bytes();
  pImageProperties->maxImageArraySlices = ImageLimits::array_levels;
  if (pImageProperties->stype != ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES) {
    return ZE_RESULT_SUCCESS;
  }
  return for_each_output_extension(pImageProperties->pNext, fill_pitched_images);
}

ze_result_t
zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t hDevice, uint32_t* pCount,
                                       ze_command_queue_group_properties_t* pCommandQueueGroupProperties) {
  const FoundDevice found = find_device(hDevice, pCount, "pCount");
  if (found.device == nullptr) {
    return found.code;
  }
  const unsigned groups = queue_group_count(found.device->driver().attitude());
  const std::uint32_t wanted = pCommandQueueGroupProperties != nullptr ? *pCount : 0;
  *pCount = wanted == 0 ? groups : std::min(wanted, groups);
  for (std::uint32_t ordinal = 0; ordinal < std::min(wanted, groups); ++ordinal) {
    ze_command_queue_group_properties_t& group = pCommandQueueGroupProperties[ordinal];
    group.flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
    if (ordinal == 0 && groups > 1) {
      group.flags |= ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
    }
    group.maxMemoryFillPatternSize = fill_pattern_bytes;
    group.numQueues = found.device->queue_count();
    if (group.stype == ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES) {
      for_each_output_extension(group.pNext, [&](ze_structure_type_t type, void* structure) {
        if (type == ZE_STRUCTURE_TYPE_COPY_BANDWIDTH_EXP_PROPERTIES) {
          fill_copy_bandwidth(*found.device, *static_cast<ze_copy_bandwidth_exp_properties_t*>(structure));
        }
        return ZE_RESULT_SUCCESS;
      });
    }
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetP2PProperties(ze_device_handle_t hDevice, ze_device_handle_t hPeerDevice,
                                     ze_device_p2p_properties_t* pP2PProperties) {
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  Device* peer = find<Device>(hPeerDevice);
  if (peer == nullptr) {
    return refuse_handle(hPeerDevice, "hPeerDevice");
  }
  if (pP2PProperties == nullptr) {
    return refuse_null_pointer("pP2PProperties");
  }
  // The specification makes every device a full peer of its own; across the bus there are no atomics.
  pP2PProperties->flags = device->can_access(*peer) ? ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS : 0;
  if (device == peer) {
    pP2PProperties->flags |= ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
  }
  if (pP2PProperties->stype != ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES) {
    return ZE_RESULT_SUCCESS;
  }
  return for_each_output_extension(pP2PProperties->pNext, [&](ze_structure_type_t type, void* structure) {
    if (type == ZE_STRUCTURE_TYPE_DEVICE_P2P_BANDWIDTH_EXP_PROPERTIES) {
      fill_p2p_bandwidth(*device, *peer, *static_cast<ze_device_p2p_bandwidth_exp_properties_t*>(structure));
    }
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDeviceCanAccessPeer(ze_device_handle_t hDevice, ze_device_handle_t hPeerDevice,
                                  ze_bool_t* value) {
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  Device* peer = find<Device>(hPeerDevice);
  if (peer == nullptr) {
    return refuse_handle(hPeerDevice, "hPeerDevice");
  }
  if (value == nullptr) {
    return refuse_null_pointer("value");
  }
  *value = device->can_access(*peer) ? 1 : 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetStatus(ze_device_handle_t hDevice) {
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  return answer(device->board().health());
}

ze_result_t zeDeviceGetGlobalTimestamps(ze_device_handle_t hDevice, uint64_t* hostTimestamp,
                                        uint64_t* deviceTimestamp) {
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (hostTimestamp == nullptr) {
    return refuse_null_pointer("hostTimestamp");
  }
  if (deviceTimestamp == nullptr) {
    return refuse_null_pointer("deviceTimestamp");
  }
  const ClockPair clocks = read_clock_pair(device->board());
  if (const Status alive = device->board().health(); !alive.ok()) {
    return answer(alive);
  }
  *hostTimestamp = clocks.host_ns;
  *deviceTimestamp = clocks.board_ticks;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice, ze_pci_ext_properties_t* pPciProperties) {
  const FoundDevice found = find_device(hDevice, pPciProperties, "pPciProperties");
  if (found.device == nullptr) {
    return found.code;
  }
  const board::FunctionInfo& info = found.device->board().function().info();
  pPciProperties->address = {info.pci.domain, info.pci.bus, info.pci.device, info.pci.function};
  pPciProperties->maxSpeed = speed_of<ze_pci_speed_ext_t>(info.fastest_link);
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
