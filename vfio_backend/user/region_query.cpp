// What a server says about its regions, and how they are mapped.
#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/address.hpp>

#include "vfio_backend/user/limits.hpp"
#include "vfio_backend/user/socket_bar.hpp"

namespace datum::vfio_user {

namespace {

/// What follows the structure in an answer: a handful of areas.
constexpr std::uint32_t room_bytes = 4096;
constexpr std::uint32_t most_areas = 64;
constexpr unsigned most_capabilities = 16;

Error senseless(std::uint32_t region, const char* what) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("the server's answer about region {} makes no sense: {}", region, what));
}

bool inside(const SparseArea& area, std::uint64_t size_bytes) {
  return area.bytes != 0 && area.offset < size_bytes && area.bytes <= size_bytes - area.offset &&
         is_aligned(area.offset | area.bytes, small_page_bytes);
}

/// The areas of the sparse capability, sorted; the whole region where there is none. False: it is broken.
bool take_areas(const RegionInfo& info, std::span<const std::byte> answer, std::vector<SparseArea>& areas) {
  areas = {{0, info.bytes}};
  std::uint64_t offset = (info.flags & region_capabilities_flag) != 0 ? info.capability_offset : 0;
  for (unsigned seen = 0; offset != 0; ++seen) {
    if (seen == most_capabilities || offset > answer.size() ||
        answer.size() - offset < sizeof(SparseCapability)) {
      return false;
    }
    const auto capability = read_body<SparseCapability>(answer.subspan(offset));
    if (capability.id == sparse_capability) {
      const auto rest = answer.subspan(offset + sizeof capability);
      if (capability.area_count > most_areas || rest.size() < capability.area_count * sizeof(SparseArea)) {
        return false;
      }
      areas.clear();
      for (std::uint32_t index = 0; index < capability.area_count; ++index) {
        areas.push_back(read_body<SparseArea>(rest.subspan(index * sizeof(SparseArea))));
      }
    }
    offset = capability.next;
  }
  std::ranges::sort(areas, {}, &SparseArea::offset);
  std::uint64_t end = 0;
  for (const auto& area : areas) {
    if (!inside(area, info.bytes) || area.offset < end) {
      return false;
    }
    end = area.offset + area.bytes;
  }
  return true;
}

/// The file holds the range, and nobody can make it shorter.
bool can_be_mapped(int file, std::uint64_t offset, std::uint64_t bytes) {
  struct stat status {};

  const int seals = ::fcntl(file, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(file, &status) != 0) {
    return false;
  }
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  return is_aligned(offset, small_page_bytes) && offset <= file_bytes && bytes <= file_bytes - offset;
}

}  // namespace

Result<RegionLayout> query_region(Channel& channel, std::uint32_t region) {
  RegionInfo question;
  question.argsz = room_bytes;
  question.index = region;
  auto reply = channel.ask(Command::device_get_region_info, as_message_body(question), {}, limits::answer);
  if (!reply) {
    return std::move(reply).error();
  }
  if (reply->body.size() < sizeof(RegionInfo) || reply->descriptors.size() > 1) {
    return senseless(region, "its length or descriptors");
  }
  const auto info = read_body<RegionInfo>(reply->body);
  RegionLayout layout;
  layout.size_bytes = info.bytes;
  if ((info.flags & region_mmap_flag) == 0 || reply->descriptors.empty() || info.bytes == 0) {
    return layout;
  }
  layout.file = std::move(reply->descriptors.front());
  layout.file_offset = info.offset;
  if (!take_areas(info, reply->body, layout.areas)) {
    return senseless(region, "the areas that can be mapped");
  }
  return layout;
}

std::unique_ptr<SocketBar> make_bar(Channel& channel, std::uint32_t region, RegionLayout layout) {
  std::vector<SocketBar::Area> areas;
  for (const auto& area : layout.areas) {
    const auto offset = layout.file_offset + area.offset;
    if (offset < area.offset || !can_be_mapped(layout.file.get(), offset, area.bytes)) {
      continue;
    }
    void* const base = ::mmap(nullptr, area.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, layout.file.get(),
                              static_cast<off_t>(offset));
    if (base != MAP_FAILED) {
      ::madvise(base, area.bytes, MADV_DONTDUMP);
      areas.push_back({area.offset, Mapping{base, area.bytes}});
    }
  }
  return std::make_unique<SocketBar>(channel, region, layout.size_bytes, std::move(areas));
}

}  // namespace datum::vfio_user
