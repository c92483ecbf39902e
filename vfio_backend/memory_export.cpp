#include "vfio_backend/memory_export.hpp"

#include <fcntl.h>
#include <linux/vfio.h>

#include <fmt/format.h>

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
                                   board::Bar& registers, DeviceAddress first, std::uint64_t bytes) {
  if (bytes == 0 || !is_aligned(bytes, small_page_bytes) ||
      !is_aligned(first.offset_bytes, small_page_bytes)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("exporting {} bytes at {:#x}: both must be multiples of {}, and some",
                                  bytes, first.offset_bytes, small_page_bytes));
  }
  const std::uint64_t fixed_bytes = registers.read64(hw::aperture_fixed_bytes);
  if (first.ordinal != 0 || first.offset_bytes >= fixed_bytes || bytes > fixed_bytes - first.offset_bytes) {
    return make_error(
        ErrorCode::unsupported_feature,
        fmt::format(
            "{}: only the first {} bytes of memory 0, which its aperture always shows, can be exported",
            device.description(), fixed_bytes));
  }
  uapi::DeviceFeatureDmaBuf request;
  request.flags = VFIO_DEVICE_FEATURE_GET | uapi::device_feature_dma_buf;
  request.region_index = VFIO_PCI_BAR2_REGION_INDEX;
  request.open_flags = O_CLOEXEC | O_RDWR;
  request.range = {first.offset_bytes, bytes};
  const int fd = syscalls.ioctl(device_fd, VFIO_DEVICE_FEATURE, &request);
  if (fd < 0) {
    return call_failed(device, "making a dma-buf of its memory", -fd);
  }
  return UniqueFd(fd);
}

}  // namespace datum::vfio
