// Where a region of the device lies in its file, and which parts of it may be mapped.
#pragma once

#include <cstdint>
#include <vector>

#include <datum/base/result.hpp>

#include "vfio_backend/sysfs.hpp"

namespace datum::vfio {

/// Offsets are from the start of the region.
struct MappableArea {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct RegionLayout {
  std::uint64_t size_bytes = 0;   ///< 0: there is no such region
  std::uint64_t file_offset = 0;  ///< of its first byte in the device's file
  bool readable = false;
  bool writable = false;
  std::vector<MappableArea> areas;  ///< sorted, disjoint, of whole pages, inside the region
};

/// Asks for region `index` (VFIO_PCI_BAR0_REGION_INDEX, ...).
[[nodiscard]] Result<RegionLayout> query_region(Syscalls& syscalls, const PciDevice& device, int device_fd,
                                                unsigned index);

}  // namespace datum::vfio
