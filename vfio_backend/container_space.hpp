// A card through its group and a container with a type-1 version-2 IOMMU.
#pragma once

#include <datum/base/result.hpp>

#include "vfio_backend/address_space.hpp"
#include "vfio_backend/sysfs.hpp"

namespace datum::vfio {

inline constexpr const char* container_node = "/dev/vfio/vfio";

/// Opens the group of `device`, which is bound to vfio-pci, joins it to a new container and opens the device.
/// Errors: dependency_unavailable: this kernel has no such interface; insufficient_permissions;
/// not_available: in use or the group is not viable.
[[nodiscard]] Result<OpenedDevice> open_through_container(Syscalls& syscalls, const PciDevice& device);

}  // namespace datum::vfio
