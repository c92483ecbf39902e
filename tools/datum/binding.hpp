// Handing a card, and its whole IOMMU group, to vfio-pci and back: first a plan of writes to sysfs, then the
// writes.
#pragma once

#include <string>
#include <vector>

#include <datum/base/result.hpp>

#include "vfio_backend/syscalls.hpp"
#include "vfio_backend/sysfs.hpp"

namespace datum::tool {

struct SysfsWrite {
  std::string path;
  std::string text;    ///< without the line feed that ends it; empty: the line feed alone, which clears
  std::string device;  ///< whose binding it changes
};

struct BindingPlan {
  vfio::PciDevice device;
  std::vector<SysfsWrite> writes;  ///< in order; none: nothing is to be done
  std::vector<std::string> taken;  ///< devices of the plan, the card included
};

/// What binds `pci` and every other member of its group, bridges apart, to vfio-pci. not_available: no such
/// device; dependency_unavailable: no IOMMU, or vfio-pci is not loaded. handle_object_in_use: other members
/// have drivers, which would lose their devices, and `whole_group` is not given.
[[nodiscard]] Result<BindingPlan> plan_bind(vfio::Syscalls& syscalls, const std::string& pci,
                                            bool whole_group);

/// What gives those members of the group that vfio-pci has back to the drivers that the kernel finds for
/// them.
[[nodiscard]] Result<BindingPlan> plan_unbind(vfio::Syscalls& syscalls, const std::string& pci);

/// Makes the writes, then looks whether they had their effect (`bound`: each device has vfio-pci; else:
/// none has). When one fails, each device that was touched is handed back to the kernel's choice of a driver.
/// insufficient_permissions: sysfs may not be written.
[[nodiscard]] Status carry_out(vfio::Syscalls& syscalls, const BindingPlan& plan, bool bound);

/// "echo vfio-pci > /sys/...": a line for each write, as a shell would make it.
[[nodiscard]] std::string plan_text(const BindingPlan& plan);

}  // namespace datum::tool
