// The Level Zero loader of this machine, opened at run time: `datum doctor` must run where there is none.
#pragma once

#include <level_zero/ze_api.h>

#include <datum/base/result.hpp>

namespace datum::tool {

/// Functions of the loader; those that older loaders lack may be null. They stay valid until the process
/// ends.
struct Loader {
  decltype(&::zeInit) init = nullptr;
  decltype(&::zeInitDrivers) init_drivers = nullptr;  ///< may be null
  decltype(&::zeDriverGet) driver_get = nullptr;
  decltype(&::zeDriverGetProperties) driver_properties = nullptr;
  decltype(&::zeDriverGetApiVersion) driver_api_version = nullptr;
  decltype(&::zeDriverGetExtensionProperties) driver_extensions = nullptr;
  decltype(&::zeDeviceGet) device_get = nullptr;
  decltype(&::zeDeviceGetProperties) device_properties = nullptr;
  decltype(&::zeDeviceGetMemoryProperties) device_memories = nullptr;
  decltype(&::zeDeviceGetCommandQueueGroupProperties) device_queue_groups = nullptr;
  decltype(&::zeDevicePciGetPropertiesExt) device_pci = nullptr;  ///< may be null
};

/// dependency_unavailable: no loader, or one that lacks what every loader has.
[[nodiscard]] Result<Loader> open_loader();

}  // namespace datum::tool
