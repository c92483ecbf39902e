#include "vfio_backend/region_layout.hpp"

#include <algorithm>
#include <cstring>
#include <linux/vfio.h>

#include <fmt/format.h>

#include <datum/base/address.hpp>

#include "vfio_backend/capability_chain.hpp"
#include "vfio_backend/refusal.hpp"
#include "vfio_backend/uapi/zeroed.hpp"

namespace datum::vfio {

namespace {

std::vector<MappableArea> listed_areas(std::span<const std::byte> bytes) {
  auto head = uapi::zeroed<vfio_region_info_cap_sparse_mmap>();
  if (bytes.size() < sizeof head) {
    return {};
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  std::vector<MappableArea> areas;
  const std::size_t fit = (bytes.size() - sizeof head) / sizeof(vfio_region_sparse_mmap_area);
  for (std::size_t index = 0; index < std::min<std::size_t>(head.nr_areas, fit); ++index) {
    vfio_region_sparse_mmap_area area{};
    std::memcpy(&area, bytes.data() + sizeof head + index * sizeof area, sizeof area);
    areas.push_back({area.offset, area.size});
  }
  return areas;
}

/// Areas come in any order; what is empty, not of whole pages, beyond the region or there twice is cut away.
std::vector<MappableArea> tidy(std::vector<MappableArea> areas, std::uint64_t region_bytes) {
  std::ranges::sort(areas, {}, &MappableArea::offset);
  std::vector<MappableArea> kept;
  for (const MappableArea& area : areas) {
    if (area.offset >= region_bytes) {
      break;
    }
    std::uint64_t first = area.offset;
    if (!kept.empty()) {
      first = std::max(first, kept.back().offset + kept.back().bytes);
    }
    const std::uint64_t end = area.offset + std::min(area.bytes, region_bytes - area.offset);
    const std::uint64_t first_page = align_up(first, small_page_bytes);
    const std::uint64_t end_page = align_down(end, small_page_bytes);
    if (first_page < end_page) {
      kept.push_back({first_page, end_page - first_page});
    }
  }
  return kept;
}

}  // namespace

Result<RegionLayout> query_region(Syscalls& syscalls, const PciDevice& device, int device_fd,
                                  unsigned index) {
  vfio_region_info question{};
  question.index = index;
  std::vector<std::byte> answer;
  const int result = ask_with_capabilities(question, answer, [&](void* request) {
    return syscalls.ioctl(device_fd, VFIO_DEVICE_GET_REGION_INFO, request);
  });
  if (result < 0) {
    return call_failed(device, fmt::format("asking for region {}", index), -result);
  }
  vfio_region_info info{};
  std::memcpy(&info, answer.data(), sizeof info);
  RegionLayout layout;
  layout.size_bytes = info.size;
  layout.file_offset = info.offset;
  layout.readable = (info.flags & VFIO_REGION_INFO_FLAG_READ) != 0;
  layout.writable = (info.flags & VFIO_REGION_INFO_FLAG_WRITE) != 0;
  if ((info.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0) {
    return layout;
  }
  bool sparse = false;
  if ((info.flags & VFIO_REGION_INFO_FLAG_CAPS) != 0) {
    visit_capabilities(answer, info.cap_offset, [&](std::uint16_t id, std::span<const std::byte> bytes) {
      if (id == VFIO_REGION_INFO_CAP_SPARSE_MMAP) {
        sparse = true;
        layout.areas = listed_areas(bytes);
      }
    });
  }
  if (!sparse) {
    layout.areas = {{0, info.size}};
  }
  layout.areas = tidy(std::move(layout.areas), layout.size_bytes);
  return layout;
}

}  // namespace datum::vfio
