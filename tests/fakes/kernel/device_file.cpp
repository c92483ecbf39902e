#include "tests/fakes/kernel/device_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "vfio_backend/uapi/vfio_cdev.hpp"
#include "vfio_backend/uapi/zeroed.hpp"

namespace datum::test {

namespace {

constexpr unsigned index_shift = 40;  // of a region's number in the position, as the kernel has it
constexpr std::uint64_t offset_mask = (1ULL << index_shift) - 1;

template <class Struct>
Struct load(const void* from) {
  auto value = vfio::uapi::zeroed<Struct>();
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class Struct>
void store(void* to, const Struct& value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

DeviceFile::DeviceFile(Machine& machine, FileTable& table, Slot& slot, std::shared_ptr<IommuRules> space)
    : machine_(machine), table_(table), slot_(slot), space_(std::move(space)) {
  if (space_ != nullptr) {
    bound_ = true;
    open();
    space_->attach(slot_);
  }
}

void DeviceFile::open() {
  slot_.opened = true;
  slot_.card->reset();
}

DeviceFile::~DeviceFile() {
  if (!bound_) {
    return;
  }
  if (slot_.bus_master && !slot_.gone) {
    machine_.complaints.push_back(slot_.pci + " was closed while its bus master was on");
  }
  if (!slot_.vector_fds.empty()) {
    machine_.complaints.push_back(slot_.pci + " was closed with interrupts set up");
  }
  slot_.card->set_bus_master(false);
  slot_.vector_fds.clear();
  slot_.error_fd = slot_.request_fd = -1;
  slot_.bus_master = slot_.opened = false;
  if (space_ != nullptr) {
    space_->detach(slot_);
  }
}

int DeviceFile::ioctl(unsigned long request, void* argument) {
  if (request == vfio::uapi::device_bind_iommufd) {
    return bind(argument);
  }
  if (!bound_) {
    return -EINVAL;
  }
  switch (request) {
  case vfio::uapi::device_attach_iommufd_pt:
    return attach(argument);
  case VFIO_DEVICE_GET_INFO:
    return device_info(argument);
  case VFIO_DEVICE_GET_REGION_INFO:
    return region_info(argument);
  case VFIO_DEVICE_GET_IRQ_INFO:
    return irq_info(argument);
  case VFIO_DEVICE_SET_IRQS:
    return set_irqs(argument);
  case VFIO_DEVICE_RESET:
    return reset();
  case VFIO_DEVICE_PCI_HOT_RESET:
    return bus_reset(argument);
  case VFIO_DEVICE_GET_PCI_HOT_RESET_INFO:
    return bus_reset_info(argument);
  case VFIO_DEVICE_FEATURE:
    return feature(argument);
  default:
    return -ENOTTY;
  }
}

int DeviceFile::bind(void* argument) {
  auto request = load<vfio::uapi::DeviceBindIommufd>(argument);
  if (request.argsz < sizeof request || request.flags != 0) {
    return -EINVAL;
  }
  if (machine_.open_groups.contains(slot_.group)) {
    return -EBUSY;
  }
  if (bound_) {
    return -EINVAL;
  }
  std::shared_ptr<OpenFile> iommufd = table_.look_up(request.iommufd);
  if (!is_iommufd(iommufd)) {
    return -EBADF;
  }
  if (slot_.opened) {
    return -EINVAL;
  }
  if (!machine_.group_is_viable(slot_.group)) {
    return -EPERM;
  }
  iommufd_ = std::move(iommufd);
  bound_ = true;
  open();
  request.out_devid = 1;
  store(argument, request);
  return 0;
}

int DeviceFile::attach(void* argument) {
  const auto request = load<vfio::uapi::DeviceAttachIommufdPt>(argument);
  if (iommufd_ == nullptr || request.flags != 0) {
    return -EINVAL;
  }
  if (!machine_.traits.interrupt_remapping) {
    return -EPERM;
  }
  std::shared_ptr<IommuRules> space = iommufd_space(iommufd_, request.pt_id);
  if (space == nullptr) {
    return -ENOENT;
  }
  space_ = std::move(space);
  return space_->attach(slot_);
}

int DeviceFile::device_info(void* argument) const {
  auto info = load<vfio_device_info>(argument);
  info.flags = VFIO_DEVICE_FLAGS_PCI | (machine_.traits.function_reset ? VFIO_DEVICE_FLAGS_RESET : 0U);
  info.num_regions = VFIO_PCI_NUM_REGIONS;
  info.num_irqs = VFIO_PCI_NUM_IRQS;
  store(argument, info);
  return 0;
}

int DeviceFile::region_info(void* argument) const {
  auto info = load<vfio_region_info>(argument);
  const std::uint32_t room = info.argsz;
  if (room < offsetof(vfio_region_info, offset) + sizeof info.offset || info.index >= VFIO_PCI_NUM_REGIONS) {
    return -EINVAL;
  }
  info.argsz = sizeof info;
  info.flags = 0;
  info.cap_offset = 0;
  info.size = 0;
  info.offset = std::uint64_t{info.index} << index_shift;
  std::vector<std::byte> capability;
  if (info.index == VFIO_PCI_CONFIG_REGION_INDEX) {
    info.size = slot_.config.size();
    info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
  } else if (info.index <= VFIO_PCI_BAR5_REGION_INDEX) {
    const CardBar bar = slot_.card->bars()[info.index];
    info.size = bar.size_bytes;
    info.flags = bar.size_bytes == 0 ? 0U : VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
    info.flags |= bar.memory_fd >= 0 ? VFIO_REGION_INFO_FLAG_MMAP : 0U;
    if (bar.memory_fd >= 0 && !bar.sparse.empty()) {
      info.flags |= VFIO_REGION_INFO_FLAG_CAPS;
      auto head = vfio::uapi::zeroed<vfio_region_info_cap_sparse_mmap>();
      head.header = {VFIO_REGION_INFO_CAP_SPARSE_MMAP, 1, 0};
      head.nr_areas = static_cast<std::uint32_t>(bar.sparse.size());
      capability.resize(sizeof head + bar.sparse.size() * sizeof(CardBar::Area));
      std::memcpy(capability.data(), &head, sizeof head);
      std::memcpy(capability.data() + sizeof head, bar.sparse.data(),
                  bar.sparse.size() * sizeof(CardBar::Area));
    }
  }
  info.argsz += static_cast<std::uint32_t>(capability.size());
  if (!capability.empty() && room >= info.argsz) {
    info.cap_offset = sizeof info;
    std::memcpy(static_cast<std::byte*>(argument) + sizeof info, capability.data(), capability.size());
  }
  std::memcpy(argument, &info, std::min<std::size_t>(room, sizeof info));
  return 0;
}

int DeviceFile::irq_info(void* argument) const {
  auto info = load<vfio_irq_info>(argument);
  info.flags = 0;
  info.count = 0;
  if (info.index == VFIO_PCI_MSIX_IRQ_INDEX) {
    info.count = slot_.card->vectors();
    info.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
  } else if (info.index == VFIO_PCI_ERR_IRQ_INDEX || info.index == VFIO_PCI_REQ_IRQ_INDEX) {
    if (!machine_.traits.notices) {
      return -EINVAL;
    }
    info.count = 1;
    info.flags = VFIO_IRQ_INFO_EVENTFD;
  } else if (info.index >= VFIO_PCI_NUM_IRQS) {
    return -EINVAL;
  }
  store(argument, info);
  return 0;
}

int DeviceFile::set_irqs(const void* argument) {
  const auto head = load<vfio_irq_set>(argument);
  std::vector<std::int32_t> fds(head.count, -1);
  const bool with_fds = (head.flags & VFIO_IRQ_SET_DATA_EVENTFD) != 0;
  if (with_fds) {
    if (head.argsz < sizeof head + head.count * sizeof(std::int32_t)) {
      return -EINVAL;
    }
    std::memcpy(fds.data(), static_cast<const std::byte*>(argument) + sizeof head,
                head.count * sizeof(std::int32_t));
  }
  if (head.index == VFIO_PCI_ERR_IRQ_INDEX || head.index == VFIO_PCI_REQ_IRQ_INDEX) {
    (head.index == VFIO_PCI_ERR_IRQ_INDEX ? slot_.error_fd : slot_.request_fd) =
        with_fds && head.count == 1 ? fds[0] : -1;
    return 0;
  }
  if (head.index != VFIO_PCI_MSIX_IRQ_INDEX || head.start != 0 || head.count > slot_.card->vectors()) {
    return -EINVAL;
  }
  if (!with_fds) {
    for (unsigned vector = 0; vector < slot_.vector_fds.size(); ++vector) {
      slot_.card->connect(vector, -1);
    }
    slot_.vector_fds.clear();
    return 0;
  }
  if (!slot_.vector_fds.empty()) {
    return -EINVAL;  // the number of vectors cannot be changed while they are in use
  }
  if (head.count > machine_.traits.vectors_left) {
    return static_cast<int>(machine_.traits.vectors_left);
  }
  slot_.vector_fds = fds;
  for (unsigned vector = 0; vector < fds.size(); ++vector) {
    slot_.card->connect(vector, fds[vector]);
  }
  return 0;
}

int DeviceFile::reset() {
  if (!machine_.traits.function_reset) {
    return -EINVAL;
  }
  if (slot_.gone) {
    return -ENOTTY;
  }
  ++slot_.resets;
  slot_.card->reset();
  return 0;
}

int DeviceFile::bus_reset(const void* argument) {
  const auto head = load<vfio_pci_hot_reset>(argument);
  if (!machine_.traits.bus_reset) {
    return -ENODEV;
  }
  const bool by_node = iommufd_ != nullptr;
  if (head.flags != 0 || (by_node ? head.count != 0 : head.count != 1)) {
    return -EINVAL;
  }
  if (!slot_.bus_neighbours.empty()) {
    return by_node ? -EINVAL : -EPERM;
  }
  ++slot_.bus_resets;
  slot_.card->reset();
  return 0;
}

int DeviceFile::bus_reset_info(void* argument) const {
  auto head = load<vfio_pci_hot_reset_info>(argument);
  const auto most = (head.argsz - sizeof head) / sizeof(vfio_pci_dependent_device);
  std::vector<std::string> addresses = slot_.bus_neighbours;
  addresses.push_back(slot_.pci);
  head.count = static_cast<std::uint32_t>(addresses.size());
  store(argument, head);
  if (most < addresses.size()) {
    return -ENOSPC;
  }
  for (std::size_t index = 0; index < addresses.size(); ++index) {
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned device = 0;
    unsigned function = 0;
    std::sscanf(addresses[index].c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function);
    const vfio_pci_dependent_device entry{slot_.group, static_cast<std::uint16_t>(domain),
                                          static_cast<std::uint8_t>(bus),
                                          static_cast<std::uint8_t>(device << 3U | function)};
    std::memcpy(static_cast<std::byte*>(argument) + sizeof head + index * sizeof entry, &entry, sizeof entry);
  }
  return 0;
}

int DeviceFile::feature(void* argument) {
  const auto head = load<vfio_device_feature>(argument);
  if ((head.flags & VFIO_DEVICE_FEATURE_MASK) != vfio::uapi::device_feature_dma_buf ||
      !machine_.traits.dma_bufs) {
    return -ENOTTY;
  }
  if ((head.flags & VFIO_DEVICE_FEATURE_PROBE) != 0) {
    return 0;
  }
  const auto request = load<vfio::uapi::DeviceFeatureDmaBuf>(argument);
  const CardBar bar = slot_.card->bars()[request.region_index];
  constexpr std::size_t range_bytes = sizeof(vfio::uapi::RegionDmaRange);
  if (request.nr_ranges == 0 || request.argsz < sizeof request + request.nr_ranges * range_bytes ||
      bar.memory_fd < 0) {
    return -EINVAL;
  }
  for (std::size_t index = 0; index < request.nr_ranges; ++index) {
    const auto range = load<vfio::uapi::RegionDmaRange>(static_cast<std::byte*>(argument) + sizeof request +
                                                        index * range_bytes);
    if (range.length == 0 || range.offset + range.length > bar.size_bytes) {
      return -EINVAL;
    }
  }
  return ::dup(bar.memory_fd);
}

ssize_t DeviceFile::pread(void* to, std::size_t bytes, std::uint64_t position) {
  const auto index = static_cast<unsigned>(position >> index_shift);
  const std::uint64_t offset = position & offset_mask;
  const std::span target{static_cast<std::byte*>(to), bytes};
  if (!bound_) {
    return -EINVAL;
  }
  if (slot_.gone) {
    std::ranges::fill(target, std::byte{0xff});
    return static_cast<ssize_t>(bytes);
  }
  if (index == VFIO_PCI_CONFIG_REGION_INDEX) {
    if (offset + bytes > slot_.config.size()) {
      return -EINVAL;
    }
    std::memcpy(to, slot_.config.data() + offset, bytes);
    return static_cast<ssize_t>(bytes);
  }
  if (index > VFIO_PCI_BAR5_REGION_INDEX || offset + bytes > slot_.card->bars()[index].size_bytes) {
    return -EINVAL;
  }
  slot_.card->read_bar(index, offset, target);
  return static_cast<ssize_t>(bytes);
}

ssize_t DeviceFile::pwrite(const void* from, std::size_t bytes, std::uint64_t position) {
  const auto index = static_cast<unsigned>(position >> index_shift);
  const std::uint64_t offset = position & offset_mask;
  if (!bound_) {
    return -EINVAL;
  }
  if (slot_.gone) {
    return static_cast<ssize_t>(bytes);
  }
  if (index == VFIO_PCI_CONFIG_REGION_INDEX) {
    // Of the writable registers only the command register means something to a card here.
    if (offset == PCI_COMMAND && bytes == 2) {
      std::memcpy(slot_.config.data() + offset, from, bytes);
      slot_.bus_master = (slot_.config[PCI_COMMAND] & PCI_COMMAND_MASTER) != 0;
      slot_.card->set_bus_master(slot_.bus_master);
    }
    return static_cast<ssize_t>(bytes);
  }
  if (index > VFIO_PCI_BAR5_REGION_INDEX || offset + bytes > slot_.card->bars()[index].size_bytes) {
    return -EINVAL;
  }
  slot_.card->write_bar(index, offset, {static_cast<const std::byte*>(from), bytes});
  return static_cast<ssize_t>(bytes);
}

int DeviceFile::mmap(std::uint64_t position, std::size_t bytes, int protection, void** base) {
  const auto index = static_cast<unsigned>(position >> index_shift);
  const std::uint64_t offset = position & offset_mask;
  if (!bound_ || index > VFIO_PCI_BAR5_REGION_INDEX) {
    return -EINVAL;
  }
  const CardBar bar = slot_.card->bars()[index];
  std::vector<CardBar::Area> areas = bar.sparse;
  if (areas.empty()) {
    areas.push_back({0, bar.size_bytes});
  }
  const bool allowed = std::ranges::any_of(areas, [&](const CardBar::Area& area) {
    return offset >= area.offset && offset + bytes <= area.offset + area.bytes;
  });
  if (bar.memory_fd < 0 || !allowed) {
    return -EINVAL;
  }
  void* const result =
      ::mmap(nullptr, bytes, protection, MAP_SHARED, bar.memory_fd, static_cast<off_t>(offset));
  if (result == MAP_FAILED) {
    return -errno;
  }
  *base = result;
  return 0;
}

}  // namespace datum::test
