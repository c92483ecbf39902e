#include "vfio_backend/memory_export.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <linux/vfio.h>
#include <vector>

#include <fmt/format.h>

#include <datum/base/private_fd.hpp>
#include <datum/hw/registers.hpp>

#include "vfio_backend/refusal.hpp"
#include "vfio_backend/uapi/vfio_cdev.hpp"

namespace datum::vfio {

bool exports_memory(Syscalls& syscalls, int device_fd) {
  vfio_device_feature probe{};
  probe.argsz = sizeof probe;
  probe.flags = VFIO_DEVICE_FEATURE_PROBE | VFIO_DEVICE_FEATURE_GET | uapi::device_feature_dma_buf;
  return syscalls.ioctl(device_fd, VFIO_DEVICE_FEATURE, &probe) >= 0;
}

Result<UniqueFd> export_as_dma_buf(Syscalls& syscalls, const PciDevice& device, int device_fd,
                                   board::Bar& registers, std::span<const board::DeviceRange> ranges) {
  if (ranges.empty()) {
    return make_error(ErrorCode::invalid_argument, "an export of no memory");
  }
  const std::uint64_t fixed_bytes = registers.read64(hw::aperture_fixed_bytes);
  std::vector<uapi::RegionDmaRange> parts;
  for (const auto& [first, bytes] : ranges) {
    if (bytes == 0 || !is_aligned(bytes | first.offset_bytes, small_page_bytes)) {
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("exporting {} bytes at {:#x}: both must be multiples of {}, and some",
                                    bytes, first.offset_bytes, small_page_bytes));
    }
    if (first.ordinal != 0 || first.offset_bytes >= fixed_bytes || bytes > fixed_bytes - first.offset_bytes) {
      return make_error(
          ErrorCode::unsupported_feature,
          fmt::format(
              "{}: only the first {} bytes of memory 0, which its aperture always shows, can be exported",
              device.description(), fixed_bytes));
    }
    parts.push_back({first.offset_bytes, bytes});
  }
  uapi::DeviceFeatureDmaBuf head;
  std::vector<std::byte> request(sizeof head + std::as_bytes(std::span(parts)).size());
  head.argsz = static_cast<std::uint32_t>(request.size());
  head.flags = VFIO_DEVICE_FEATURE_GET | uapi::device_feature_dma_buf;
  head.region_index = VFIO_PCI_BAR2_REGION_INDEX;
  head.open_flags = O_CLOEXEC | O_RDWR;
  head.nr_ranges = static_cast<std::uint32_t>(parts.size());
  std::memcpy(request.data(), &head, sizeof head);
  std::ranges::copy(std::as_bytes(std::span(parts)), request.begin() + sizeof head);
  const int fd = syscalls.ioctl(device_fd, VFIO_DEVICE_FEATURE, request.data());
  if (fd < 0) {
    return call_failed(device, "making a dma-buf of its memory", -fd);
  }
  return UniqueFd(private_fd(fd));
}

}  // namespace datum::vfio
