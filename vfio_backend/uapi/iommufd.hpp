// The part of the kernel's iommufd interface that the backend uses. Own definitions, because the kernel
// headers of Debian 12 are older than it; the layout is checked here against what the kernel fixed for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <linux/ioctl.h>

namespace datum::vfio::uapi {

inline constexpr unsigned iommufd_type = ';';

/// Every structure begins with its own size; a kernel that knows a longer one takes the rest as zero.
struct IommuDestroy {
  std::uint32_t size = sizeof(IommuDestroy);
  std::uint32_t id = 0;
};

struct IommuIoasAlloc {
  std::uint32_t size = sizeof(IommuIoasAlloc);
  std::uint32_t flags = 0;
  std::uint32_t out_ioas_id = 0;
};

struct IommuIovaRange {
  std::uint64_t start = 0;
  std::uint64_t last = 0;
};

struct IommuIoasIovaRanges {
  std::uint32_t size = sizeof(IommuIoasIovaRanges);
  std::uint32_t ioas_id = 0;
  std::uint32_t num_iovas = 0;
  std::uint32_t reserved = 0;
  std::uint64_t allowed_iovas = 0;  ///< pointer to IommuIovaRange[num_iovas]
  std::uint64_t out_iova_alignment = 0;
};

inline constexpr std::uint32_t iommu_map_fixed_iova = 1U << 0U;
inline constexpr std::uint32_t iommu_map_writeable = 1U << 1U;
inline constexpr std::uint32_t iommu_map_readable = 1U << 2U;

struct IommuIoasMap {
  std::uint32_t size = sizeof(IommuIoasMap);
  std::uint32_t flags = 0;
  std::uint32_t ioas_id = 0;
  std::uint32_t reserved = 0;
  std::uint64_t user_va = 0;
  std::uint64_t length = 0;
  std::uint64_t iova = 0;
};

struct IommuIoasMapFile {
  std::uint32_t size = sizeof(IommuIoasMapFile);
  std::uint32_t flags = 0;
  std::uint32_t ioas_id = 0;
  std::int32_t fd = -1;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
  std::uint64_t iova = 0;
};

struct IommuIoasUnmap {
  std::uint32_t size = sizeof(IommuIoasUnmap);
  std::uint32_t ioas_id = 0;
  std::uint64_t iova = 0;
  std::uint64_t length = 0;  ///< in: what to unmap; out: what was unmapped
};

inline constexpr unsigned long iommu_destroy = _IO(iommufd_type, 0x80);
inline constexpr unsigned long iommu_ioas_alloc = _IO(iommufd_type, 0x81);
inline constexpr unsigned long iommu_ioas_iova_ranges = _IO(iommufd_type, 0x84);
inline constexpr unsigned long iommu_ioas_map = _IO(iommufd_type, 0x85);
inline constexpr unsigned long iommu_ioas_unmap = _IO(iommufd_type, 0x86);
inline constexpr unsigned long iommu_ioas_map_file = _IO(iommufd_type, 0x8f);

static_assert(sizeof(IommuDestroy) == 8 && offsetof(IommuDestroy, id) == 4);
static_assert(sizeof(IommuIoasAlloc) == 12 && offsetof(IommuIoasAlloc, out_ioas_id) == 8);
static_assert(sizeof(IommuIovaRange) == 16 && offsetof(IommuIovaRange, last) == 8);
static_assert(sizeof(IommuIoasIovaRanges) == 32 && offsetof(IommuIoasIovaRanges, num_iovas) == 8 &&
              offsetof(IommuIoasIovaRanges, allowed_iovas) == 16 &&
              offsetof(IommuIoasIovaRanges, out_iova_alignment) == 24);
static_assert(sizeof(IommuIoasMap) == 40 && offsetof(IommuIoasMap, ioas_id) == 8 &&
              offsetof(IommuIoasMap, user_va) == 16 && offsetof(IommuIoasMap, length) == 24 &&
              offsetof(IommuIoasMap, iova) == 32);
static_assert(sizeof(IommuIoasMapFile) == 40 && offsetof(IommuIoasMapFile, fd) == 12 &&
              offsetof(IommuIoasMapFile, start) == 16 && offsetof(IommuIoasMapFile, iova) == 32);
static_assert(sizeof(IommuIoasUnmap) == 24 && offsetof(IommuIoasUnmap, iova) == 8 &&
              offsetof(IommuIoasUnmap, length) == 16);
static_assert(iommu_ioas_alloc == 0x3b81 && iommu_ioas_map_file == 0x3b8f);

}  // namespace datum::vfio::uapi
