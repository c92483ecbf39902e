// From the address of a card to a device that is open and behind its IOMMU.
#pragma once

#include <optional>

#include <datum/base/result.hpp>

#include "vfio_backend/address_space.hpp"
#include "vfio_backend/sysfs.hpp"

namespace datum::vfio {

/// What must hold before the kernel is asked: bound to vfio-pci, an IOMMU serves it.
[[nodiscard]] Status check_usable(Syscalls& syscalls, const PciDevice& device);

/// Opens through iommufd, or through group and container where this kernel (or this user's permissions) has
/// no iommufd for the device; `forced` allows one only.
[[nodiscard]] Result<OpenedDevice> open_device(Syscalls& syscalls, const PciDevice& device,
                                               std::optional<KernelInterface> forced);

}  // namespace datum::vfio
