// Properties of the driver.
#include "driver/object/driver.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <datum/ze_datum.h>
#include <datum/ze_ipc_phys_mem_handle_range.h>

#include "driver/api/datum_extensions.hpp"
#include "driver/api/driver_version.hpp"
#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/host_pointer_functions.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/ddi_handle.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

// The last four bytes are the version: a UUID tells versions of a driver apart.
constexpr ze_driver_uuid_t driver_uuid = {
    {0xda, 0x70, 0xd1, 0x7e, 0x4c, 0x05, 0x4b, 0x1f, 0x9a, 0x3e, 0x66, 0x2d, (driver_version >> 24U) & 0xffU,
     (driver_version >> 16U) & 0xffU, (driver_version >> 8U) & 0xffU, driver_version & 0xffU}};

struct Extension {
  std::string_view name;
  std::uint32_t version;
};

constexpr std::array extensions = {
    Extension{ZE_DRIVER_DDI_HANDLES_EXT_NAME, ZE_DRIVER_DDI_HANDLES_EXT_VERSION_1_1},
    Extension{ZE_PCI_PROPERTIES_EXT_NAME, ZE_PCI_PROPERTIES_EXT_VERSION_1_0},
    Extension{ZE_RELAXED_ALLOCATION_LIMITS_EXT_NAME, ZE_RELAXED_ALLOCATION_LIMITS_EXT_VERSION_1_0},
    Extension{ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME, ZE_RELAXED_ALLOCATION_LIMITS_EXP_VERSION_1_0},
    Extension{ZE_MEMORY_FREE_POLICIES_EXT_NAME, ZE_MEMORY_FREE_POLICIES_EXT_VERSION_1_0},
    Extension{ZE_DEVICE_MEMORY_PROPERTIES_EXT_NAME, ZE_DEVICE_MEMORY_PROPERTIES_EXT_VERSION_1_0},
    Extension{ZE_VIRTUAL_MEM_READONLY_PROPERTIES_EXT_NAME,
              ZE_VIRTUAL_MEM_READONLY_PROPERTIES_EXT_VERSION_1_0},
    Extension{ZE_DEVICE_USABLEMEM_SIZE_PROPERTIES_EXT_NAME,
              ZE_DEVICE_USABLEMEM_SIZE_PROPERTIES_EXT_VERSION_1_0},
    Extension{ZE_EVENT_QUERY_TIMESTAMPS_EXP_NAME, ZE_EVENT_QUERY_TIMESTAMPS_EXP_VERSION_1_0},
    Extension{ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_NAME, ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_VERSION_1_0},
    Extension{ZE_EVENT_POOL_COUNTER_BASED_EXP_NAME, ZE_EVENT_POOL_COUNTER_BASED_EXP_VERSION_1_0},
    Extension{ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_NAME, ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_VERSION_1_0},
    Extension{ZE_COMMAND_LIST_CLONE_EXP_NAME, ZE_COMMAND_LIST_CLONE_EXP_VERSION_1_0},
    Extension{ZE_MUTABLE_COMMAND_LIST_EXP_NAME, ZE_MUTABLE_COMMAND_LIST_EXP_VERSION_1_1},
    Extension{ZE_IMAGE_COPY_EXT_NAME, ZE_IMAGE_COPY_EXT_VERSION_1_0},
    Extension{ZE_IMAGE_VIEW_EXT_NAME, ZE_IMAGE_VIEW_EXT_VERSION_1_0},
    Extension{ZE_IMAGE_VIEW_EXP_NAME, ZE_IMAGE_VIEW_EXP_VERSION_1_0},
    Extension{ZE_IMAGE_MEMORY_PROPERTIES_EXP_NAME, ZE_IMAGE_MEMORY_PROPERTIES_EXP_VERSION_1_0},
    Extension{ZE_IMAGE_QUERY_ALLOC_PROPERTIES_EXT_NAME, ZE_IMAGE_QUERY_ALLOC_PROPERTIES_EXT_VERSION_1_0},
    Extension{ZE_BINDLESS_IMAGE_EXP_NAME, ZE_BINDLESS_IMAGE_EXP_VERSION_1_0},
    Extension{ZE_IMAGE_FORMAT_SUPPORT_EXT_NAME, ZE_IMAGE_FORMAT_SUPPORT_EXT_VERSION_1_0},
    Extension{ZE_IPC_MEM_HANDLE_TYPE_EXT_NAME, ZE_IPC_MEM_HANDLE_TYPE_EXT_VERSION_1_0},
    Extension{ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME, ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_VERSION_1_0},
    Extension{ZE_EXTERNAL_MEMORY_MAPPING_EXT_NAME, ZE_EXTERNAL_MEMMAP_SYSMEM_EXT_VERSION_1_0},
    Extension{ZE_SUB_ALLOCATIONS_EXP_NAME, ZE_SUB_ALLOCATIONS_EXP_VERSION_1_0},
    Extension{ZE_BANDWIDTH_PROPERTIES_EXP_NAME, ZE_BANDWIDTH_PROPERTIES_EXP_VERSION_1_0},
    Extension{ZE_DEVICE_IP_VERSION_EXT_NAME, ZE_DEVICE_IP_VERSION_VERSION_1_0},
    Extension{ZEX_DATUM_BOARD_CLOCK_NAME, ZEX_DATUM_BOARD_CLOCK_VERSION},
    Extension{ZEX_DATUM_BOARD_REGISTERS_NAME, ZEX_DATUM_BOARD_REGISTERS_VERSION},
};

}  // namespace

ze_result_t zeDriverGetApiVersion(ze_driver_handle_t hDriver, ze_api_version_t* version) {
  if (find<Driver>(hDriver) == nullptr) {
    return refuse_handle(hDriver, "hDriver");
  }
  if (version == nullptr) {
    return refuse_null_pointer("version");
  }
  *version = ZE_API_VERSION_1_17;
  return ZE_RESULT_SUCCESS;
}

ze_context_handle_t zeDriverGetDefaultContext(ze_driver_handle_t hDriver) {
  Driver* driver = find<Driver>(hDriver);
  if (driver == nullptr) {
    refuse_handle(hDriver, "hDriver");
    return nullptr;
  }
  const Result<Context*> context = driver->default_context();
  if (!context.ok()) {
    answer(context.error());
    return nullptr;
  }
  return reinterpret_cast<ze_context_handle_t>((*context)->handle());
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t hDriver, ze_driver_properties_t* pDriverProperties) {
  if (find<Driver>(hDriver) == nullptr) {
    return refuse_handle(hDriver, "hDriver");
  }
  if (pDriverProperties == nullptr) {
    return refuse_null_pointer("pDriverProperties");
  }
  pDriverProperties->uuid = driver_uuid;
  pDriverProperties->driverVersion = driver_version;
  if (pDriverProperties->stype != ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES) {
    return ZE_RESULT_SUCCESS;  // filled for callers that leave it uninitialised; their pNext is as good as
                               // random
  }
  return for_each_output_extension(pDriverProperties->pNext, [](ze_structure_type_t stype, void* structure) {
    if (stype == ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES) {
      static_cast<ze_driver_ddi_handles_ext_properties_t*>(structure)->flags =
          ddi_handles_usable() ? ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED : 0;
    } else if (stype == ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES) {
      static_cast<ze_driver_memory_free_ext_properties_t*>(structure)->freePolicies =
          ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
          ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
    }
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDriverGetIpcProperties(ze_driver_handle_t hDriver, ze_driver_ipc_properties_t* pIpcProperties) {
  Driver* driver = find<Driver>(hDriver);
  if (driver == nullptr) {
    return refuse_handle(hDriver, "hDriver");
  }
  if (pIpcProperties == nullptr) {
    return refuse_null_pointer("pIpcProperties");
  }
  const bool all_share = std::ranges::all_of(driver->devices(), [](const std::unique_ptr<Device>& device) {
    const board::FunctionLimits& limits = device->board().function().limits();
    return limits.can_export.memfd && limits.can_import.memfd && limits.shareable_between_processes;
  });
  // The words of events are host memory, which every board reaches.
  pIpcProperties->flags = ZE_IPC_PROPERTY_FLAG_EVENT_POOL |
                          (all_share ? ze_ipc_property_flags_t{ZE_IPC_PROPERTY_FLAG_MEMORY} : 0);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t hDriver, uint32_t* pCount,
                                           ze_driver_extension_properties_t* pExtensionProperties) {
  if (find<Driver>(hDriver) == nullptr) {
    return refuse_handle(hDriver, "hDriver");
  }
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  const auto available = static_cast<std::uint32_t>(extensions.size());
  if (*pCount == 0 || pExtensionProperties == nullptr) {
    *pCount = available;
    return ZE_RESULT_SUCCESS;
  }
  *pCount = std::min(*pCount, available);
  for (std::uint32_t index = 0; index < *pCount; ++index) {
    ze_driver_extension_properties_t& entry = pExtensionProperties[index];
    std::memset(entry.name, 0, sizeof(entry.name));
    std::memcpy(entry.name, extensions[index].name.data(), extensions[index].name.size());
    entry.version = extensions[index].version;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionFunctionAddress(ze_driver_handle_t hDriver, const char* name,
                                                void** ppFunctionAddress) {
  if (find<Driver>(hDriver) == nullptr) {
    return refuse_handle(hDriver, "hDriver");
  }
  if (name == nullptr) {
    return refuse_null_pointer("name");
  }
  if (ppFunctionAddress == nullptr) {
    return refuse_null_pointer("ppFunctionAddress");
  }
  void* address = find_datum_extension(name);
  if (address == nullptr && find<Driver>(hDriver)->attitude() == Attitude::gpu) {
    address = find_host_pointer_function(name);
  }
  if (address == nullptr) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "name is not a function of an extension of this driver");
  }
  *ppFunctionAddress = address;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetLastErrorDescription(ze_driver_handle_t hDriver, const char** ppString) {
  if (find<Driver>(hDriver) == nullptr) {
    return refuse_handle(hDriver, "hDriver");
  }
  if (ppString == nullptr) {
    return refuse_null_pointer("ppString");
  }
  *ppString = last_error_description();
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
