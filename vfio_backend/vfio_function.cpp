#include "vfio_backend/vfio_function.hpp"

#include <cerrno>
#include <ctime>
#include <linux/vfio.h>
#include <sys/mman.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>
#include <datum/hw/registers.hpp>

#include "vfio_backend/device_reset.hpp"
#include "vfio_backend/memory_export.hpp"
#include "vfio_backend/open_device.hpp"
#include "vfio_backend/refusal.hpp"

namespace datum::vfio {

namespace {

constexpr unsigned bar_count = 6;

Result<PciDevice> find_card(Syscalls& syscalls, const CardAddress& address) {
  if (!address.pci.empty()) {
    return look_up_device(syscalls, address.pci);
  }
  const std::vector<std::string> bound = bound_devices(syscalls);
  if (bound.empty()) {
    return make_error(ErrorCode::not_available, "no PCI device of this machine is bound to vfio-pci",
                      "bind the card (docs/vfio-setup.md), or name it: DATUM_BOARDS=vfio:0000:03:00.0");
  }
  return look_up_device(syscalls, bound.front());
}

Status check_device_info(Syscalls& syscalls, const PciDevice& device, int device_fd) {
  vfio_device_info info{};
  info.argsz = sizeof info;
  if (const int result = syscalls.ioctl(device_fd, VFIO_DEVICE_GET_INFO, &info); result < 0) {
    return call_failed(device, "asking what it is", -result);
  }
  if ((info.flags & VFIO_DEVICE_FLAGS_PCI) == 0 || info.num_regions <= VFIO_PCI_CONFIG_REGION_INDEX ||
      info.num_irqs <= VFIO_PCI_MSIX_IRQ_INDEX) {
    return make_error(ErrorCode::unsupported_feature,
                      fmt::format("{} is no PCI device to the kernel", device.description()));
  }
  return {};
}

}  // namespace

Result<VfioFunction::Parts> VfioFunction::open_parts(Syscalls& syscalls, const PciDevice& device,
                                                     OpenedDevice opened) {
  const int fd = opened.device.get();
  if (Status status = check_device_info(syscalls, device, fd); !status) {
    return std::move(status).error();
  }
  std::array<std::unique_ptr<RegionBar>, bar_count> bars;
  for (unsigned index = 0; index < bar_count; ++index) {
    Result<RegionLayout> layout = query_region(syscalls, device, fd, index);
    if (!layout) {
      return std::move(layout).error();
    }
    if (layout->size_bytes != 0) {
      bars[index] = std::make_unique<RegionBar>(syscalls, fd, *layout);
    }
  }
  Result<RegionLayout> layout = query_region(syscalls, device, fd, VFIO_PCI_CONFIG_REGION_INDEX);
  if (!layout) {
    return std::move(layout).error();
  }
  ConfigSpace config(syscalls, fd, *layout);
  if (!config.answers()) {
    return make_error(
        ErrorCode::device_lost,
        fmt::format("{} does not answer: its configuration space reads all ones", device.description()),
        "its link is down or it was reprogrammed: remove and rescan it, or restart the machine");
  }
  Result<Interrupts> interrupts = Interrupts::set_up(syscalls, device, fd);
  if (!interrupts) {
    return std::move(interrupts).error();
  }
  return Parts{std::move(opened), std::move(bars), config, std::move(interrupts).value()};
}

VfioFunction::VfioFunction(Syscalls& syscalls, PciDevice device, const CardAddress& address, Parts parts)
    : syscalls_(syscalls),
      device_(std::move(device)),
      space_(std::move(parts.opened.space)),
      device_fd_(std::move(parts.opened.device)),
      bars_(std::move(parts.bars)),
      config_(parts.config),
      interrupts_(std::move(parts.interrupts)),
      message_table_bar_(config_.message_table_bar()),
      mappings_(space_->limits()) {
  describe(address);
}

void VfioFunction::describe(const CardAddress& address) {
  info_.address = address.text;
  info_.name = fmt::format("PCIe card {} through {}", device_.description(), name_of(space_->kind()));
  info_.pci = device_.pci;
  info_.vendor_id = device_.vendor_id;
  info_.device_id = device_.device_id;
  info_.vectors = interrupts_.vectors();
  info_.numa_node = device_.numa_node;
  for (unsigned index = 0; index < bar_count; ++index) {
    info_.bars[index].size_bytes = bars_[index] == nullptr ? 0 : bars_[index]->size_bytes();
    info_.bars[index].bus_address = bars_[index] == nullptr ? 0 : device_.bar_addresses[index];
  }
  info_.link = device_.link;
  info_.fastest_link = device_.fastest_link;
  const SpaceLimits& space = space_->limits();
  limits_.iova_ranges = space.iova_ranges;
  limits_.granule_bytes = space.granule_bytes;
  limits_.max_mappings = space.max_mappings;
  limits_.max_locked_bytes = locked_memory_limit(syscalls_);
  limits_.can_import.memfd = true;
  limits_.can_export.dma_buf =
      bars_[0] != nullptr && bars_[2] != nullptr && exports_memory(syscalls_, device_fd_.get());
  limits_.exportable_memories = limits_.can_export.dma_buf ? 1 : 0;
  limits_.exports_end = false;
  limits_.shareable_between_processes = false;
}

Result<std::unique_ptr<VfioFunction>> VfioFunction::open(Syscalls& syscalls, const CardAddress& address) {
  Result<PciDevice> device = find_card(syscalls, address);
  if (!device) {
    return std::move(device).error();
  }
  if (Status status = check_usable(syscalls, *device); !status) {
    return std::move(status).error();
  }
  Result<OpenedDevice> opened = open_device(syscalls, *device, address.forced);
  if (!opened) {
    return std::move(opened).error();
  }
  Result<Parts> parts = open_parts(syscalls, *device, std::move(opened).value());
  if (!parts) {
    return std::move(parts).error();
  }
  std::unique_ptr<VfioFunction> function(
      new VfioFunction(syscalls, std::move(device).value(), address, std::move(parts).value()));
  if (!function->config_.set_bus_master(true)) {
    return make_error(ErrorCode::device_lost,
                      fmt::format("{} does not let its DMA be turned on", function->device_.description()),
                      "the kernel's log may say more: dmesg");
  }
  return function;
}

VfioFunction::~VfioFunction() {
  // The card must not write to memory that is about to go. One that is gone cannot be told, and does nothing.
  static_cast<void>(config_.set_bus_master(false));
}

/// The kernel waits without a bound for everybody who has the card open, and so does whoever unbinds it.
void VfioFunction::give_up() noexcept {
  std::call_once(asked_back_, [this] {
    static_cast<void>(config_.set_bus_master(false));
    interrupts_.disconnect();
    for (const std::unique_ptr<RegionBar>& bar : bars_) {
      if (bar != nullptr && !bar->abandon()) {
        return;  // the mapping holds the card anyway
      }
    }
    given_up_ = syscalls_.hollow(device_fd_.get()) == 0;
  });
}

Error VfioFunction::lost(std::string reason) const {
  return make_error(ErrorCode::device_lost, fmt::format("{} is lost: {}", device_.description(), reason));
}

Result<board::Bar*> VfioFunction::bar(unsigned index) {
  if (index >= bar_count || bars_[index] == nullptr) {
    return make_error(ErrorCode::not_available, fmt::format("{} has no BAR{}", device_.description(), index));
  }
  if (message_table_bar_ == index && index != 0 && index != 2) {
    return make_error(ErrorCode::not_available,
                      fmt::format("BAR{} of {} holds the interrupt table, which belongs to the kernel", index,
                                  device_.description()));
  }
  return bars_[index].get();
}

Status VfioFunction::dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) {
  if (!is_aligned(reinterpret_cast<std::uintptr_t>(host.data()), limits_.granule_bytes)) {
    return make_error(ErrorCode::invalid_argument, fmt::format("host memory at {} is not aligned to {} bytes",
                                                               fmt::ptr(host.data()), limits_.granule_bytes));
  }
  if (Status status = mappings_.begin_map(iova, host.size()); !status) {
    return status;
  }
  return settle(iova, space_->map(iova, host, access), {});
}

/// The kernel's answer to a map call for a range that was taken for it.
Status VfioFunction::settle(Iova iova, Status mapped, OwnedMapping file) {
  if (mapped) {
    mappings_.end_map(iova, std::move(file));
  } else {
    mappings_.remove(iova);
  }
  return mapped;
}

Status VfioFunction::dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                                board::DmaAccess access) {
  std::uint64_t file_bytes = 0;
  if (const int result = syscalls_.file_bytes(fd, &file_bytes); result < 0) {
    return Error{ErrorCode::invalid_argument, -result, "the descriptor cannot be examined", {}};
  }
  if (!is_aligned(offset, limits_.granule_bytes)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("offset {:#x} of a descriptor is not aligned to {} bytes", offset,
                                  limits_.granule_bytes));
  }
  if (offset > file_bytes || bytes > file_bytes - offset) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the range [{:#x}, +{:#x}) is not inside a descriptor of {} bytes", offset,
                                  bytes, file_bytes));
  }
  if (Status status = mappings_.begin_map(iova, bytes); !status) {
    return status;
  }
  OwnedMapping file;
  Status status = space_->map_file(iova, fd, offset, bytes, access);
  if (!status && status.error().code == ErrorCode::unsupported_feature) {
    status = map_through_process(iova, fd, offset, bytes, access, file);
  }
  return settle(iova, std::move(status), std::move(file));
}

/// Through a mapping of this process, which stays for as long as the kernel may look up pages by it.
Status VfioFunction::map_through_process(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                                         board::DmaAccess access, OwnedMapping& file) {
  void* base = nullptr;
  const int protection = may_write(access) ? PROT_READ | PROT_WRITE : PROT_READ;
  if (const int result = syscalls_.mmap(fd, offset, bytes, protection, &base); result < 0) {
    const ErrorCode code = result == -ENOMEM   ? ErrorCode::out_of_host_memory
                           : result == -EACCES ? ErrorCode::insufficient_permissions
                                               : ErrorCode::invalid_argument;
    return call_failed(device_, "mapping a descriptor into this process", -result, code);
  }
  file = OwnedMapping(syscalls_, base, bytes);
  return space_->map(iova, {file.data(), bytes}, access);
}

Status VfioFunction::dma_unmap(Iova iova, std::uint64_t bytes) {
  if (Status status = mappings_.begin_unmap(iova, bytes); !status) {
    return status;
  }
  Result<std::uint64_t> unmapped = space_->unmap(iova, bytes);
  // A card that was given up reaches nothing any more, and the older interface has forgotten its mappings.
  if ((unmapped && *unmapped == bytes) || (!unmapped && given_up_)) {
    mappings_.remove(iova);
    return {};
  }
  // What was not unmapped the card may still reach: the entry stays, and with it the memory of a file.
  mappings_.keep(iova);
  if (!unmapped) {
    return std::move(unmapped).error();
  }
  return make_error(ErrorCode::unknown, fmt::format("{}: of {} bytes at IOVA {:#x} the kernel unmapped {}",
                                                    device_.description(), bytes, raw(iova), *unmapped));
}

Result<int> VfioFunction::interrupt_fd(unsigned vector) {
  if (vector >= info_.vectors) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("vector {} of a board with {}", vector, info_.vectors));
  }
  return interrupts_.descriptor(vector);
}

Result<board::WaitOutcome> VfioFunction::wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) {
  return wait_for_interrupt(*this, vector, deadline_ns, [&](std::uint64_t most_ns) {
    return interrupts_.wait(vector, wake_fd, most_ns);
  });
}

board::Clock VfioFunction::clock() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return {static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(now.tv_nsec),
          1};
}

Status VfioFunction::reset(board::ResetKind kind) {
  const ScopedLock lock(reset_mutex_);
  Status status = kind == board::ResetKind::function
                      ? reset_function(syscalls_, device_, device_fd_.get())
                      : reset_bus(syscalls_, device_, device_fd_.get(), space_->reset_owners());
  if (!status) {
    return status;
  }
  // The kernel restores the configuration; whether the card took it is seen by reading back.
  if (!config_.set_bus_master(true)) {
    return lost("it does not answer after a reset");
  }
  interrupts_.clear();
  return health();
}

Status VfioFunction::health() {
  const KernelNotice notice = interrupts_.notice();
  if (notice.request) {
    give_up();
    return lost("the kernel asked for it back, because its driver is being unbound or it is being removed");
  }
  if (!config_.answers()) {
    return lost("its configuration space reads all ones; it was removed or its link is down");
  }
  if (bars_[0] != nullptr && bars_[0]->read32(hw::magic) == ~0U) {
    return lost("its registers read all ones");
  }
  if (notice.error) {
    return lost("it reported an uncorrectable PCIe error");
  }
  return {};
}

Result<UniqueFd> VfioFunction::export_memory(std::span<const board::DeviceRange> ranges, std::string_view) {
  if (!limits_.can_export.dma_buf) {
    return make_error(
        ErrorCode::unsupported_feature,
        fmt::format("{}: this kernel makes no descriptors of a card's memory", device_.description()),
        "Linux 6.19 and newer, built with VFIO_PCI_DMABUF");
  }
  return export_as_dma_buf(syscalls_, device_, device_fd_.get(), *bars_[0], ranges);
}

/// A dma-buf is for good: the kernel neither takes it back nor tells who still has it.
Status VfioFunction::end_export(std::span<const board::DeviceRange>) {
  return make_error(ErrorCode::unsupported_feature,
                    fmt::format("{}: a dma-buf of its memory cannot be taken back while the card is open",
                                device_.description()));
}

void VfioFunction::relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace datum::vfio
