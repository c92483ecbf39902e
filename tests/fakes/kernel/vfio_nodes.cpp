// The nodes of the fake VFIO: container, groups, iommufd, devices.
#include <cstring>
#include <fcntl.h>
#include <linux/vfio.h>
#include <map>

#include <fmt/format.h>

#include "tests/fakes/kernel/device_file.hpp"
#include "tests/fakes/kernel/open_file.hpp"
#include "vfio_backend/uapi/iommufd.hpp"
#include "vfio_backend/uapi/zeroed.hpp"

namespace datum::test {

namespace {

namespace uapi = vfio::uapi;

board::DmaAccess access_of(bool reads, bool writes) {
  return static_cast<board::DmaAccess>((reads ? 1U : 0U) | (writes ? 2U : 0U));
}

std::span<std::byte> memory(std::uint64_t address, std::uint64_t bytes) {
  return {reinterpret_cast<std::byte*>(address), bytes};
}

class GroupFile final : public OpenFile {
 public:
  GroupFile(Machine& machine, FileTable& table, unsigned group)
      : machine_(machine), table_(table), group_(group) {
    machine_.open_groups.insert(group_);
  }

  ~GroupFile() override {
    machine_.open_groups.erase(group_);
    if (container_ != nullptr) {
      --container_->groups;
    }
  }

  int ioctl(unsigned long request, void* argument) override {
    switch (request) {
    case VFIO_GROUP_GET_STATUS: {
      vfio_group_status status{};
      std::memcpy(&status, argument, sizeof status);
      status.flags = (machine_.group_is_viable(group_) ? VFIO_GROUP_FLAGS_VIABLE : 0U) |
                     (container_ != nullptr ? VFIO_GROUP_FLAGS_CONTAINER_SET : 0U);
      std::memcpy(argument, &status, sizeof status);
      return 0;
    }
    case VFIO_GROUP_SET_CONTAINER:
      return set_container(argument);
    case VFIO_GROUP_GET_DEVICE_FD:
      return device(static_cast<const char*>(argument));
    default:
      return -ENOTTY;
    }
  }

 private:
  int set_container(const void* argument) {
    int fd = -1;
    std::memcpy(&fd, argument, sizeof fd);
    auto container = std::dynamic_pointer_cast<ContainerFile>(table_.look_up(fd));
    if (container == nullptr) {
      return -EBADF;
    }
    if (container_ != nullptr) {
      return -EINVAL;
    }
    if (!machine_.group_is_viable(group_)) {
      return -EPERM;
    }
    container_ = std::move(container);
    ++container_->groups;
    return 0;
  }

  int device(const std::string& pci) {
    if (container_ == nullptr || container_->space() == nullptr) {
      return -EINVAL;
    }
    Slot* const slot = machine_.slot_of_address(pci);
    if (slot == nullptr || slot->group != group_) {
      return -ENODEV;
    }
    if (slot->opened) {
      return -EBUSY;
    }
    return table_.install(std::make_shared<DeviceFile>(machine_, table_, *slot, container_->space()));
  }

  Machine& machine_;
  FileTable& table_;
  unsigned group_;
  std::shared_ptr<ContainerFile> container_;
};

class IommufdFile final : public OpenFile {
 public:
  explicit IommufdFile(Machine& machine) : machine_(machine) {}

  int ioctl(unsigned long request, void* argument) override {
    switch (request) {
    case uapi::iommu_ioas_alloc: {
      auto& alloc = *static_cast<uapi::IommuIoasAlloc*>(argument);
      alloc.out_ioas_id = next_id_++;
      spaces_[alloc.out_ioas_id] = std::make_shared<IommuRules>(machine_, IommuRules::Flavour::iommufd);
      return 0;
    }
    case uapi::iommu_ioas_iova_ranges:
      return ranges(*static_cast<uapi::IommuIoasIovaRanges*>(argument));
    case uapi::iommu_ioas_map:
      return map(*static_cast<const uapi::IommuIoasMap*>(argument));
    case uapi::iommu_ioas_map_file:
      return machine_.traits.maps_files ? map_file(*static_cast<const uapi::IommuIoasMapFile*>(argument))
                                        : -ENOTTY;
    case uapi::iommu_ioas_unmap:
      return unmap(*static_cast<uapi::IommuIoasUnmap*>(argument));
    default:
      return -ENOTTY;
    }
  }

  [[nodiscard]] std::shared_ptr<IommuRules> space(std::uint32_t id) const {
    const auto found = spaces_.find(id);
    return found == spaces_.end() ? nullptr : found->second;
  }

 private:
  int ranges(uapi::IommuIoasIovaRanges& request) {
    const auto& all = machine_.traits.iova_ranges;
    if (space(request.ioas_id) == nullptr) {
      return -ENOENT;
    }
    auto* const out = reinterpret_cast<uapi::IommuIovaRange*>(request.allowed_iovas);
    for (std::size_t index = 0; index < std::min<std::size_t>(all.size(), request.num_iovas); ++index) {
      out[index] = {raw(all[index].first), raw(all[index].last)};
    }
    const bool fits = request.num_iovas >= all.size();
    request.num_iovas = static_cast<std::uint32_t>(all.size());
    request.out_iova_alignment = machine_.traits.granule_bytes;
    return fits ? 0 : -EMSGSIZE;
  }

  int map(const uapi::IommuIoasMap& request) {
    const auto target = space(request.ioas_id);
    if (target == nullptr) {
      return -ENOENT;
    }
    if ((request.flags & uapi::iommu_map_fixed_iova) == 0) {
      return -EOPNOTSUPP;  // the backend always chooses
    }
    return target->map(Iova{request.iova}, memory(request.user_va, request.length), access(request.flags));
  }

  int map_file(const uapi::IommuIoasMapFile& request) {
    const auto target = space(request.ioas_id);
    return target == nullptr ? -ENOENT
                             : target->map_file(Iova{request.iova}, request.fd, request.start, request.length,
                                                access(request.flags));
  }

  int unmap(uapi::IommuIoasUnmap& request) {
    const auto target = space(request.ioas_id);
    return target == nullptr ? -ENOENT : target->unmap(Iova{request.iova}, request.length);
  }

  static board::DmaAccess access(std::uint32_t flags) {
    return access_of((flags & uapi::iommu_map_readable) != 0, (flags & uapi::iommu_map_writeable) != 0);
  }

  Machine& machine_;
  std::uint32_t next_id_ = 2;
  std::map<std::uint32_t, std::shared_ptr<IommuRules>> spaces_;
};

}  // namespace

int ContainerFile::ioctl(unsigned long request, void* argument) {
  switch (request) {
  case VFIO_GET_API_VERSION:
    return VFIO_API_VERSION;
  case VFIO_CHECK_EXTENSION:
    return reinterpret_cast<std::uintptr_t>(argument) == VFIO_TYPE1v2_IOMMU && machine_.traits.type1_v2 ? 1
                                                                                                        : 0;
  case VFIO_SET_IOMMU:
    if (groups == 0 || space_ != nullptr ||
        reinterpret_cast<std::uintptr_t>(argument) != VFIO_TYPE1v2_IOMMU) {
      return -EINVAL;
    }
    if (!machine_.traits.interrupt_remapping) {
      return -EPERM;
    }
    space_ = std::make_shared<IommuRules>(machine_, IommuRules::Flavour::type1);
    return 0;
  default:
    break;
  }
  if (space_ == nullptr) {
    return -EINVAL;
  }
  if (request == VFIO_IOMMU_GET_INFO) {
    return get_info(argument);
  }
  if (request == VFIO_IOMMU_MAP_DMA) {
    const auto& map = *static_cast<const vfio_iommu_type1_dma_map*>(argument);
    const auto access =
        access_of((map.flags & VFIO_DMA_MAP_FLAG_READ) != 0, (map.flags & VFIO_DMA_MAP_FLAG_WRITE) != 0);
    return space_->map(Iova{map.iova}, memory(map.vaddr, map.size), access);
  }
  if (request == VFIO_IOMMU_UNMAP_DMA) {
    auto& unmap = *static_cast<vfio_iommu_type1_dma_unmap*>(argument);
    std::uint64_t bytes = unmap.size;
    const int result = space_->unmap(Iova{unmap.iova}, bytes);
    unmap.size = bytes;
    return result;
  }
  return -ENOTTY;
}

int ContainerFile::get_info(void* argument) const {
  const auto& ranges = machine_.traits.iova_ranges;
  vfio_iommu_type1_info info{};
  std::memcpy(&info, argument, sizeof info);
  const std::uint32_t room = info.argsz;
  const vfio_iommu_type1_info_dma_avail available{{VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL, 1, 0},
                                                  space_->entries_left()};
  auto head = uapi::zeroed<vfio_iommu_type1_info_cap_iova_range>();
  head.header = {VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, 1, 0};
  head.nr_iovas = static_cast<std::uint32_t>(ranges.size());
  const std::size_t first = (sizeof info + 7) / 8 * 8;
  const std::size_t second = first + (sizeof available + 7) / 8 * 8;
  const std::size_t end = second + sizeof head + ranges.size() * sizeof(vfio_iova_range);
  info.flags = VFIO_IOMMU_INFO_PGSIZES | VFIO_IOMMU_INFO_CAPS;
  info.iova_pgsizes = ~(machine_.traits.granule_bytes - 1);
  info.argsz = static_cast<std::uint32_t>(end);
  info.cap_offset = 0;
  if (room >= end) {
    auto* const out = static_cast<std::byte*>(argument);
    info.cap_offset = static_cast<std::uint32_t>(first);
    auto linked = available;
    linked.header.next = machine_.traits.iova_capability ? static_cast<std::uint32_t>(second) : 0;
    std::memcpy(out + first, &linked, sizeof linked);
    std::memcpy(out + second, &head, sizeof head);
    for (std::size_t index = 0; index < ranges.size(); ++index) {
      const vfio_iova_range range{raw(ranges[index].first), raw(ranges[index].last)};
      std::memcpy(out + second + sizeof head + index * sizeof range, &range, sizeof range);
    }
  }
  std::memcpy(argument, &info, sizeof info);
  return 0;
}

ssize_t TextFile::pread(void* to, std::size_t bytes, std::uint64_t offset) {
  if (offset >= text_.size()) {
    return 0;
  }
  const std::size_t count = std::min(bytes, text_.size() - offset);
  std::memcpy(to, text_.data() + offset, count);
  return static_cast<ssize_t>(count);
}

bool is_iommufd(const std::shared_ptr<OpenFile>& file) {
  return std::dynamic_pointer_cast<IommufdFile>(file) != nullptr;
}

std::shared_ptr<IommuRules> iommufd_space(const std::shared_ptr<OpenFile>& file, std::uint32_t id) {
  const auto iommufd = std::dynamic_pointer_cast<IommufdFile>(file);
  return iommufd == nullptr ? nullptr : iommufd->space(id);
}

std::shared_ptr<OpenFile> open_vfio_node(Machine& machine, FileTable& table, const std::string& path,
                                         int& error) {
  error = -ENOENT;
  if (path == "/dev/iommu") {
    return machine.traits.iommufd ? std::make_shared<IommufdFile>(machine) : nullptr;
  }
  if (path == "/dev/vfio/vfio") {
    return machine.traits.container ? std::make_shared<ContainerFile>(machine) : nullptr;
  }
  const std::string devices = "/dev/vfio/devices/";
  if (path.starts_with(devices)) {
    Slot* const slot = machine.slot_of_node(path.substr(devices.size()));
    return slot != nullptr && machine.traits.own_nodes
               ? std::make_shared<DeviceFile>(machine, table, *slot, nullptr)
               : nullptr;
  }
  for (const auto& slot : machine.slots) {
    if (path == fmt::format("/dev/vfio/{}", slot->group) && machine.traits.container) {
      if (machine.open_groups.contains(slot->group)) {
        error = -EBUSY;
        return nullptr;
      }
      return std::make_shared<GroupFile>(machine, table, slot->group);
    }
  }
  return nullptr;
}

}  // namespace datum::test
