// What newer kernels added to <linux/vfio.h>: the device's own node, and dma-bufs of device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <linux/vfio.h>

namespace datum::vfio::uapi {

struct DeviceBindIommufd {
  std::uint32_t argsz = sizeof(DeviceBindIommufd);
  std::uint32_t flags = 0;
  std::int32_t iommufd = -1;
  std::uint32_t out_devid = 0;
};

struct DeviceAttachIommufdPt {
  std::uint32_t argsz = sizeof(DeviceAttachIommufdPt);
  std::uint32_t flags = 0;
  std::uint32_t pt_id = 0;  ///< in: the address space; out: the page table that serves it
};

struct RegionDmaRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// A VFIO_DEVICE_FEATURE request for a dma-buf of ranges of a region, header included. `nr_ranges` of
/// RegionDmaRange follow.
struct DeviceFeatureDmaBuf {
  std::uint32_t argsz = 0;  ///< with the ranges
  std::uint32_t flags = 0;
  std::uint32_t region_index = 0;
  std::uint32_t open_flags = 0;
  std::uint32_t dma_buf_flags = 0;
  std::uint32_t nr_ranges = 0;
};

inline constexpr std::uint32_t device_feature_dma_buf = 11;
inline constexpr unsigned long device_bind_iommufd = _IO(VFIO_TYPE, VFIO_BASE + 18);
inline constexpr unsigned long device_attach_iommufd_pt = _IO(VFIO_TYPE, VFIO_BASE + 19);

static_assert(sizeof(DeviceBindIommufd) == 16 && offsetof(DeviceBindIommufd, iommufd) == 8 &&
              offsetof(DeviceBindIommufd, out_devid) == 12);
static_assert(sizeof(DeviceAttachIommufdPt) == 12 && offsetof(DeviceAttachIommufdPt, pt_id) == 8);
static_assert(sizeof(vfio_device_feature) == 8 && offsetof(DeviceFeatureDmaBuf, region_index) == 8 &&
              offsetof(DeviceFeatureDmaBuf, nr_ranges) == 20 && sizeof(DeviceFeatureDmaBuf) == 24 &&
              sizeof(RegionDmaRange) == 16);
static_assert(device_bind_iommufd == 0x3b76 && device_attach_iommufd_pt == 0x3b77);

}  // namespace datum::vfio::uapi
