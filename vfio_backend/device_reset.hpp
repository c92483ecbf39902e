// Resets of a card through the kernel.
#pragma once

#include <span>

#include <datum/base/result.hpp>

#include "vfio_backend/sysfs.hpp"

namespace datum::vfio {

/// Resets the function alone. unsupported_feature: it cannot be.
[[nodiscard]] Status reset_function(Syscalls& syscalls, const PciDevice& device, int device_fd);

/// Resets the slot or bus, with everything on it. `owners`: what AddressSpace::reset_owners gave.
/// not_available: something on the bus does not belong to this process, and the sentence names it;
/// unsupported_feature: the machine cannot.
[[nodiscard]] Status reset_bus(Syscalls& syscalls, const PciDevice& device, int device_fd,
                               std::span<const int> owners);

}  // namespace datum::vfio
