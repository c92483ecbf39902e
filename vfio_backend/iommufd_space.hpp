// A card through iommufd and the device's own node.
#pragma once

#include <datum/base/result.hpp>

#include "vfio_backend/address_space.hpp"
#include "vfio_backend/sysfs.hpp"

namespace datum::vfio {

inline constexpr const char* iommufd_node = "/dev/iommu";

/// Opens and binds `device`, which is bound to vfio-pci, and attaches it to a new address space. Errors:
/// dependency_unavailable: this kernel has no such interface; insufficient_permissions; not_available: in use
/// or the group is not viable.
[[nodiscard]] Result<OpenedDevice> open_through_iommufd(Syscalls& syscalls, const PciDevice& device);

}  // namespace datum::vfio
