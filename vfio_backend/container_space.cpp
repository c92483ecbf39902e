#include "vfio_backend/container_space.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/vfio.h>
#include <utility>

#include <fmt/format.h>

#include "vfio_backend/capability_chain.hpp"
#include "vfio_backend/refusal.hpp"
#include "vfio_backend/uapi/zeroed.hpp"

namespace datum::vfio {

namespace {

class ContainerSpace final : public AddressSpace {
 public:
  ContainerSpace(Syscalls& syscalls, PciDevice device, OwnedFd container, OwnedFd group)
      : syscalls_(syscalls),
        device_(std::move(device)),
        container_(std::move(container)),
        group_(std::move(group)) {}

  [[nodiscard]] KernelInterface kind() const noexcept override { return KernelInterface::container; }

  [[nodiscard]] const SpaceLimits& limits() const noexcept override { return limits_; }

  Status map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override;

  Status map_file(Iova, int, std::uint64_t, std::uint64_t, board::DmaAccess) override {
    return make_error(ErrorCode::unsupported_feature, "a container maps memory of the process only");
  }

  Result<std::uint64_t> unmap(Iova iova, std::uint64_t bytes) override;

  [[nodiscard]] std::vector<int> reset_owners() const override { return {group_.get()}; }

  Status read_limits();

 private:
  void read_capability(std::uint16_t id, std::span<const std::byte> bytes);

  Syscalls& syscalls_;
  PciDevice device_;
  OwnedFd container_;
  OwnedFd group_;  // closed first, as the kernel wants it
  SpaceLimits limits_;
};

Status ContainerSpace::map(Iova iova, std::span<std::byte> host, board::DmaAccess access) {
  vfio_iommu_type1_dma_map request{};
  request.argsz = sizeof request;
  request.flags =
      (may_read(access) ? VFIO_DMA_MAP_FLAG_READ : 0U) | (may_write(access) ? VFIO_DMA_MAP_FLAG_WRITE : 0U);
  request.vaddr = reinterpret_cast<std::uintptr_t>(host.data());
  request.iova = raw(iova);
  request.size = host.size();
  const int result = syscalls_.ioctl(container_.get(), VFIO_IOMMU_MAP_DMA, &request);
  if (result < 0) {
    return map_refused(syscalls_, device_, iova, host.size(), limits_.max_mappings, -result);
  }
  return {};
}

Result<std::uint64_t> ContainerSpace::unmap(Iova iova, std::uint64_t bytes) {
  vfio_iommu_type1_dma_unmap request{};
  request.argsz = sizeof request;
  request.iova = raw(iova);
  request.size = bytes;
  const int result = syscalls_.ioctl(container_.get(), VFIO_IOMMU_UNMAP_DMA, &request);
  if (result < 0) {
    return call_failed(device_, fmt::format("unmapping {} bytes at IOVA {:#x}", bytes, raw(iova)), -result);
  }
  return request.size;
}

void ContainerSpace::read_capability(std::uint16_t id, std::span<const std::byte> bytes) {
  if (id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE &&
      bytes.size() >= sizeof(vfio_iommu_type1_info_cap_iova_range)) {
    auto head = uapi::zeroed<vfio_iommu_type1_info_cap_iova_range>();
    std::memcpy(&head, bytes.data(), sizeof head);
    const std::size_t fit = (bytes.size() - sizeof head) / sizeof(vfio_iova_range);
    for (std::size_t index = 0; index < std::min<std::size_t>(head.nr_iovas, fit); ++index) {
      vfio_iova_range range{};
      std::memcpy(&range, bytes.data() + sizeof head + index * sizeof range, sizeof range);
      limits_.iova_ranges.push_back({Iova{range.start}, Iova{range.end}});
    }
  }
  if (id == VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL && bytes.size() >= sizeof(vfio_iommu_type1_info_dma_avail)) {
    vfio_iommu_type1_info_dma_avail available{};
    std::memcpy(&available, bytes.data(), sizeof available);
    limits_.max_mappings = available.avail;
  }
}

Status ContainerSpace::read_limits() {
  std::vector<std::byte> answer;
  const int result = ask_with_capabilities(vfio_iommu_type1_info{}, answer, [&](void* request) {
    return syscalls_.ioctl(container_.get(), VFIO_IOMMU_GET_INFO, request);
  });
  if (result < 0) {
    return call_failed(device_, "asking for the IOMMU's limits", -result);
  }
  vfio_iommu_type1_info info{};
  std::memcpy(&info, answer.data(), sizeof info);
  if ((info.flags & VFIO_IOMMU_INFO_PGSIZES) != 0 && info.iova_pgsizes != 0) {
    limits_.granule_bytes =
        std::max(small_page_bytes, std::uint64_t{1} << std::countr_zero(info.iova_pgsizes));
  }
  if ((info.flags & VFIO_IOMMU_INFO_CAPS) != 0) {
    visit_capabilities(answer, info.cap_offset, [&](std::uint16_t id, std::span<const std::byte> bytes) {
      read_capability(id, bytes);
    });
  }
  if (limits_.iova_ranges.empty()) {
    return make_error(
        ErrorCode::dependency_unavailable,
        fmt::format("{}: the kernel does not say which I/O addresses its IOMMU takes", device_.description()),
        "Linux 5.4 and newer do");
  }
  std::ranges::sort(limits_.iova_ranges, {}, [](const board::IovaRange& range) { return raw(range.first); });
  return {};
}

Result<OwnedFd> open_container(Syscalls& syscalls, const PciDevice& device) {
  const int fd = syscalls.open(container_node, O_RDWR);
  if (fd == -ENOENT || fd == -ENODEV || fd == -ENXIO) {
    return node_missing(device, container_node, "vfio");
  }
  if (fd == -EACCES || fd == -EPERM) {
    return no_permission(device, container_node);
  }
  if (fd < 0) {
    return call_failed(device, fmt::format("opening {}", container_node), -fd);
  }
  OwnedFd container(syscalls, fd);
  const int version = syscalls.ioctl(fd, VFIO_GET_API_VERSION, nullptr);
  if (version == -ENOTTY) {
    return wrong_node(device, container_node);
  }
  if (version != VFIO_API_VERSION ||
      syscalls.ioctl(fd, VFIO_CHECK_EXTENSION, as_argument(VFIO_TYPE1v2_IOMMU)) <= 0) {
    return make_error(
        ErrorCode::dependency_unavailable,
        fmt::format("{}: the kernel's VFIO container has no type-1 version-2 IOMMU", device.description()),
        "as root: modprobe vfio_iommu_type1");
  }
  return container;
}

Result<OwnedFd> open_group(Syscalls& syscalls, const PciDevice& device) {
  const std::string node = device.group_node();
  const int fd = syscalls.open(node, O_RDWR);
  switch (fd) {
  case -ENOENT:
  case -ENODEV:
  case -ENXIO:
    return node_missing(device, node, "vfio-pci");
  case -EACCES:
  case -EPERM:
    return no_permission(device, node);
  case -EBUSY:
    return device_in_use(syscalls, device, node);
  default:
    break;
  }
  if (fd < 0) {
    return call_failed(device, "opening " + node, -fd);
  }
  OwnedFd group(syscalls, fd);
  vfio_group_status status{};
  status.argsz = sizeof status;
  if (const int result = syscalls.ioctl(fd, VFIO_GROUP_GET_STATUS, &status); result < 0) {
    return result == -ENOTTY ? wrong_node(device, node)
                             : call_failed(device, "asking for the state of its group", -result);
  }
  if ((status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0) {
    return group_not_viable(device);
  }
  return group;
}

Result<OwnedFd> open_device(Syscalls& syscalls, const PciDevice& device, int group) {
  std::string name = device.address;
  const int fd = syscalls.ioctl(group, VFIO_GROUP_GET_DEVICE_FD, name.data());
  if (fd == -EBUSY) {
    return device_in_use(syscalls, device,
                         device.own_node.empty() ? device.group_node() : device.device_node());
  }
  if (fd < 0) {
    return call_failed(device, "opening it through its group", -fd);
  }
  return OwnedFd(syscalls, fd);
}

}  // namespace

Result<OpenedDevice> open_through_container(Syscalls& syscalls, const PciDevice& device) {
  Result<OwnedFd> container = open_container(syscalls, device);
  if (!container) {
    return std::move(container).error();
  }
  Result<OwnedFd> group = open_group(syscalls, device);
  if (!group) {
    return std::move(group).error();
  }
  int container_fd = container->get();
  if (const int result = syscalls.ioctl(group->get(), VFIO_GROUP_SET_CONTAINER, &container_fd); result < 0) {
    return result == -EBUSY ? device_in_use(syscalls, device, device.group_node())
                            : call_failed(device, "joining its group to a container", -result);
  }
  if (const int result = syscalls.ioctl(container_fd, VFIO_SET_IOMMU, as_argument(VFIO_TYPE1v2_IOMMU));
      result < 0) {
    return result == -EPERM ? no_interrupt_remapping(device, "vfio_iommu_type1.allow_unsafe_interrupts")
                            : call_failed(device, "putting it behind the IOMMU", -result);
  }
  Result<OwnedFd> opened = open_device(syscalls, device, group->get());
  if (!opened) {
    return std::move(opened).error();
  }
  auto space = std::make_unique<ContainerSpace>(syscalls, device, std::move(container).value(),
                                                std::move(group).value());
  if (Status status = space->read_limits(); !status) {
    return std::move(status).error();
  }
  return OpenedDevice{std::move(space), std::move(opened).value()};
}

}  // namespace datum::vfio
