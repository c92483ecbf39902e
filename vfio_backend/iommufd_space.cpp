#include "vfio_backend/iommufd_space.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <utility>

#include <fmt/format.h>

#include "vfio_backend/refusal.hpp"
#include "vfio_backend/uapi/iommufd.hpp"
#include "vfio_backend/uapi/vfio_cdev.hpp"

namespace datum::vfio {

namespace {

class IommufdSpace final : public AddressSpace {
 public:
  IommufdSpace(Syscalls& syscalls, PciDevice device, OwnedFd iommufd, std::uint32_t id)
      : syscalls_(syscalls), device_(std::move(device)), iommufd_(std::move(iommufd)), id_(id) {}

  [[nodiscard]] KernelInterface kind() const noexcept override { return KernelInterface::iommufd; }

  [[nodiscard]] const SpaceLimits& limits() const noexcept override { return limits_; }

  Status map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override;
  Status map_file(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                  board::DmaAccess access) override;
  Result<std::uint64_t> unmap(Iova iova, std::uint64_t bytes) override;

  [[nodiscard]] std::vector<int> reset_owners() const override { return {}; }

  /// Asks for the ranges; they are final once the device is attached.
  Status read_limits();

 private:
  Syscalls& syscalls_;
  PciDevice device_;
  OwnedFd iommufd_;
  std::uint32_t id_;
  SpaceLimits limits_;
  std::atomic<bool> maps_files_ = true;  // until the kernel says that it does not know the call
};

std::uint32_t map_flags(board::DmaAccess access) {
  return uapi::iommu_map_fixed_iova | (may_read(access) ? uapi::iommu_map_readable : 0U) |
         (may_write(access) ? uapi::iommu_map_writeable : 0U);
}

Status IommufdSpace::map(Iova iova, std::span<std::byte> host, board::DmaAccess access) {
  uapi::IommuIoasMap request;
  request.flags = map_flags(access);
  request.ioas_id = id_;
  request.user_va = reinterpret_cast<std::uintptr_t>(host.data());
  request.length = host.size();
  request.iova = raw(iova);
  const int result = syscalls_.ioctl(iommufd_.get(), uapi::iommu_ioas_map, &request);
  if (result < 0) {
    return map_refused(syscalls_, device_, iova, host.size(), 0, -result);
  }
  return {};
}

Status IommufdSpace::map_file(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                              board::DmaAccess access) {
  if (!maps_files_) {
    return make_error(ErrorCode::unsupported_feature, "this kernel maps no files by iommufd");
  }
  uapi::IommuIoasMapFile request;
  request.flags = map_flags(access);
  request.ioas_id = id_;
  request.fd = fd;
  request.start = offset;
  request.length = bytes;
  request.iova = raw(iova);
  const int result = syscalls_.ioctl(iommufd_.get(), uapi::iommu_ioas_map_file, &request);
  if (result == -ENOTTY) {
    maps_files_ = false;
  }
  if (result == -ENOTTY || result == -EOPNOTSUPP || result == -EINVAL) {
    return make_error(ErrorCode::unsupported_feature, "this kernel does not map this file by iommufd");
  }
  if (result < 0) {
    return map_refused(syscalls_, device_, iova, bytes, 0, -result);
  }
  return {};
}

Result<std::uint64_t> IommufdSpace::unmap(Iova iova, std::uint64_t bytes) {
  uapi::IommuIoasUnmap request;
  request.ioas_id = id_;
  request.iova = raw(iova);
  request.length = bytes;
  const int result = syscalls_.ioctl(iommufd_.get(), uapi::iommu_ioas_unmap, &request);
  if (result < 0) {
    return call_failed(device_, fmt::format("unmapping {} bytes at IOVA {:#x}", bytes, raw(iova)), -result);
  }
  return request.length;
}

Status IommufdSpace::read_limits() {
  std::vector<uapi::IommuIovaRange> ranges(8);
  uapi::IommuIoasIovaRanges request;
  int result = 0;
  // Twice at most: the first answer says how many there are.
  for (int attempt = 0; attempt < 2; ++attempt) {
    request.ioas_id = id_;
    request.num_iovas = static_cast<std::uint32_t>(ranges.size());
    request.allowed_iovas = reinterpret_cast<std::uintptr_t>(ranges.data());
    result = syscalls_.ioctl(iommufd_.get(), uapi::iommu_ioas_iova_ranges, &request);
    if (result != -EMSGSIZE) {
      break;
    }
    ranges.resize(request.num_iovas);
  }
  if (result < 0 || request.num_iovas == 0 || request.num_iovas > ranges.size()) {
    return call_failed(device_, "asking for the IOMMU's address ranges", result < 0 ? -result : EINVAL);
  }
  ranges.resize(request.num_iovas);
  for (const uapi::IommuIovaRange& range : ranges) {
    limits_.iova_ranges.push_back({Iova{range.start}, Iova{range.last}});
  }
  std::ranges::sort(limits_.iova_ranges, {}, [](const board::IovaRange& range) { return raw(range.first); });
  limits_.granule_bytes = std::max(small_page_bytes, request.out_iova_alignment);
  return {};
}

Result<OwnedFd> open_node(Syscalls& syscalls, const PciDevice& device, const std::string& node,
                          const std::string& module) {
  const int fd = syscalls.open(node, O_RDWR);
  switch (fd) {
  case -ENOENT:
  case -ENODEV:
  case -ENXIO:
    return node_missing(device, node, module);
  case -EACCES:
  case -EPERM:
    return no_permission(device, node);
  default:
    break;
  }
  if (fd < 0) {
    return call_failed(device, "opening " + node, -fd);
  }
  return OwnedFd(syscalls, fd);
}

/// The kernel answers EINVAL if the device is bound already, EPERM if somebody else owns its group's DMA, be
/// it a driver or another user, and EBUSY if the group was opened in the older way.
Error bind_refused(Syscalls& syscalls, const PciDevice& device, int error_number) {
  if ((error_number == EBUSY || error_number == EPERM) && !device.obstacles().empty()) {
    return group_not_viable(device);
  }
  if (error_number == EBUSY || error_number == EINVAL || error_number == EPERM) {
    return device_in_use(syscalls, device,
                         error_number == EBUSY ? device.group_node() : device.device_node());
  }
  if (error_number == ENOTTY) {
    return wrong_node(device, device.device_node());
  }
  if (error_number == EBADF || error_number == EBADFD) {
    return wrong_node(device, iommufd_node);
  }
  return call_failed(device, "binding it to iommufd", error_number);
}

}  // namespace

Result<OpenedDevice> open_through_iommufd(Syscalls& syscalls, const PciDevice& device) {
  if (device.own_node.empty()) {
    return node_missing(device,
                        "/dev/vfio/devices node of it (Linux 6.6 and newer, built with VFIO_DEVICE_CDEV)",
                        "vfio-pci");
  }
  Result<OwnedFd> node = open_node(syscalls, device, device.device_node(), "vfio-pci");
  if (!node) {
    return std::move(node).error();
  }
  Result<OwnedFd> iommufd = open_node(syscalls, device, iommufd_node, "iommufd");
  if (!iommufd) {
    return std::move(iommufd).error();
  }
  uapi::DeviceBindIommufd bind;
  bind.iommufd = iommufd->get();
  if (const int result = syscalls.ioctl(node->get(), uapi::device_bind_iommufd, &bind); result < 0) {
    return bind_refused(syscalls, device, -result);
  }
  uapi::IommuIoasAlloc alloc;
  if (const int result = syscalls.ioctl(iommufd->get(), uapi::iommu_ioas_alloc, &alloc); result < 0) {
    return call_failed(device, "making an address space", -result,
                       result == -ENOMEM ? ErrorCode::out_of_host_memory : ErrorCode::unknown);
  }
  uapi::DeviceAttachIommufdPt attach;
  attach.pt_id = alloc.out_ioas_id;
  if (const int result = syscalls.ioctl(node->get(), uapi::device_attach_iommufd_pt, &attach); result < 0) {
    return result == -EPERM ? no_interrupt_remapping(device, "iommufd.allow_unsafe_interrupts")
                            : call_failed(device, "attaching it to an address space", -result);
  }
  auto space =
      std::make_unique<IommufdSpace>(syscalls, device, std::move(iommufd).value(), alloc.out_ioas_id);
  if (Status status = space->read_limits(); !status) {
    return std::move(status).error();
  }
  return OpenedDevice{std::move(space), std::move(node).value()};
}

}  // namespace datum::vfio
