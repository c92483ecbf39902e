#include "vfio_backend/open_device.hpp"

#include <utility>

#include "vfio_backend/container_space.hpp"
#include "vfio_backend/iommufd_space.hpp"
#include "vfio_backend/refusal.hpp"

namespace datum::vfio {

Status check_usable(Syscalls& syscalls, const PciDevice& device) {
  if (device.no_iommu) {
    return no_iommu_mode(device);
  }
  // Without an IOMMU vfio-pci refuses to bind: that is the cause to name, and not the missing driver.
  if (!device.iommu_is_on()) {
    return iommu_is_off(syscalls, device);
  }
  if (!device.bound()) {
    return not_bound(device);
  }
  return {};
}

Result<OpenedDevice> open_device(Syscalls& syscalls, const PciDevice& device,
                                 std::optional<KernelInterface> forced) {
  if (forced == KernelInterface::container) {
    return open_through_container(syscalls, device);
  }
  Result<OpenedDevice> newest = open_through_iommufd(syscalls, device);
  if (newest || forced == KernelInterface::iommufd) {
    return newest;
  }
  const ErrorCode why = newest.error().code;
  const bool other_way =
      why == ErrorCode::dependency_unavailable || why == ErrorCode::insufficient_permissions;
  if (!other_way) {
    return newest;
  }
  Result<OpenedDevice> older = open_through_container(syscalls, device);
  // Where neither is to be had, permission for the newer one is what to ask for; a kernel without it has the
  // older one to complain of.
  if (!older && why == ErrorCode::insufficient_permissions &&
      (older.error().code == ErrorCode::insufficient_permissions ||
       older.error().code == ErrorCode::dependency_unavailable)) {
    return newest;
  }
  return older;
}

}  // namespace datum::vfio
