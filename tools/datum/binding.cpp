#include "tools/datum/binding.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>

#include <fmt/format.h>

#include "vfio_backend/refusal.hpp"

namespace datum::tool {

namespace {

constexpr const char* drivers_probe = "/sys/bus/pci/drivers_probe";
constexpr const char* vfio_driver = "vfio-pci";
constexpr const char* vfio_driver_folder = "/sys/bus/pci/drivers/vfio-pci";

std::string device_file(const std::string& device, const char* name) {
  return fmt::format("/sys/bus/pci/devices/{}/{}", device, name);
}

/// A bridge stays with its driver: VFIO does not hand bridges out, and they do not keep a group from being
/// used.
bool is_bridge(vfio::Syscalls& syscalls, const vfio::GroupMember& member) {
  const std::string code = vfio::read_text(syscalls, device_file(member.address, "class")).value_or("");
  return member.driver == "pcieport" || code.starts_with("0x0604");
}

int write_file(vfio::Syscalls& syscalls, const SysfsWrite& write) {
  const int fd = syscalls.open(write.path, O_WRONLY);
  if (fd < 0) {
    return -fd;
  }
  const vfio::OwnedFd owner(syscalls, fd);
  const std::string text = write.text + '\n';
  const ssize_t written = syscalls.pwrite(fd, text.data(), text.size(), 0);
  return written < 0 ? static_cast<int>(-written) : 0;
}

Error write_failed(const SysfsWrite& write, int error_number) {
  const bool forbidden = error_number == EACCES || error_number == EPERM || error_number == EROFS;
  Error error = make_error(
      forbidden ? ErrorCode::insufficient_permissions : ErrorCode::unknown,
      fmt::format("writing '{}' to {} failed: {}", write.text, write.path, std::strerror(error_number)),
      forbidden ? "run it as root; in a container, sysfs has to be writable"
                : "the kernel's log may say more: dmesg | tail");
  error.errno_value = error_number;
  return error;
}

void hand_back(vfio::Syscalls& syscalls, const std::vector<std::string>& devices) {
  for (const std::string& device : devices) {
    static_cast<void>(write_file(syscalls, {device_file(device, "driver_override"), "", device}));
    if (const Result<vfio::PciDevice> now = vfio::look_up_device(syscalls, device); now && now->bound()) {
      static_cast<void>(write_file(syscalls, {device_file(device, "driver/unbind"), device, device}));
    }
    static_cast<void>(write_file(syscalls, {drivers_probe, device, device}));
  }
}

void add_bind(BindingPlan& plan, const vfio::GroupMember& member) {
  plan.taken.push_back(member.address);
  plan.writes.push_back({device_file(member.address, "driver_override"), vfio_driver, member.address});
  if (!member.driver.empty()) {
    plan.writes.push_back({device_file(member.address, "driver/unbind"), member.address, member.address});
  }
  plan.writes.push_back({drivers_probe, member.address, member.address});
}

void add_unbind(BindingPlan& plan, const vfio::GroupMember& member) {
  plan.taken.push_back(member.address);
  plan.writes.push_back({device_file(member.address, "driver_override"), "", member.address});
  plan.writes.push_back({device_file(member.address, "driver/unbind"), member.address, member.address});
  plan.writes.push_back({drivers_probe, member.address, member.address});
}

}  // namespace

Result<BindingPlan> plan_bind(vfio::Syscalls& syscalls, const std::string& pci, bool whole_group) {
  Result<vfio::PciDevice> device = vfio::look_up_device(syscalls, pci);
  if (!device) {
    return std::move(device).error();
  }
  if (device->no_iommu) {
    return vfio::no_iommu_mode(*device);
  }
  if (!device->iommu_is_on()) {
    return vfio::iommu_is_off(syscalls, *device);
  }
  std::vector<std::string> ignored;
  if (syscalls.list_folder(vfio_driver_folder, &ignored) < 0) {
    return make_error(ErrorCode::dependency_unavailable, "the kernel's driver vfio-pci is not loaded",
                      "as root: modprobe vfio-pci");
  }
  BindingPlan plan;
  std::string losers;
  for (const vfio::GroupMember& member : device->group_members) {
    if (member.driver == vfio_driver || is_bridge(syscalls, member)) {
      continue;
    }
    if (member.address != pci && !member.driver.empty()) {
      losers += fmt::format("{}{} (driver {})", losers.empty() ? "" : ", ", member.address, member.driver);
    }
    add_bind(plan, member);
  }
  if (!losers.empty() && !whole_group) {
    return make_error(
        ErrorCode::handle_object_in_use,
        fmt::format("IOMMU group {} of {} has other devices in use, which would lose their drivers: {}",
                    *device->group, device->description(), losers),
        "look whether anything needs them (a disk, a network card); --whole-group takes them, --dry-run with "
        "it shows how");
  }
  plan.device = std::move(*device);
  return plan;
}

Result<BindingPlan> plan_unbind(vfio::Syscalls& syscalls, const std::string& pci) {
  Result<vfio::PciDevice> device = vfio::look_up_device(syscalls, pci);
  if (!device) {
    return std::move(device).error();
  }
  BindingPlan plan;
  if (!device->group && device->bound()) {
    add_unbind(plan, {device->address, device->driver});
  }
  for (const vfio::GroupMember& member : device->group_members) {
    if (member.driver == vfio_driver) {
      add_unbind(plan, member);
    }
  }
  plan.device = std::move(*device);
  return plan;
}

Status carry_out(vfio::Syscalls& syscalls, const BindingPlan& plan, bool bound) {
  std::vector<std::string> touched;
  for (const SysfsWrite& write : plan.writes) {
    if (const int error_number = write_file(syscalls, write); error_number != 0) {
      hand_back(syscalls, touched);
      return write_failed(write, error_number);
    }
    if (touched.empty() || touched.back() != write.device) {
      touched.push_back(write.device);
    }
  }
  for (const std::string& name : plan.taken) {
    const Result<vfio::PciDevice> device = vfio::look_up_device(syscalls, name);
    if (device && device->bound() == bound) {
      continue;
    }
    if (bound) {
      hand_back(syscalls, touched);
    }
    return make_error(ErrorCode::not_available,
                      fmt::format("the kernel took the writes, but {} is {}bound to vfio-pci", name,
                                  bound ? "not " : "still "),
                      "the kernel's log may say why: dmesg | tail");
  }
  return {};
}

std::string plan_text(const BindingPlan& plan) {
  std::string text;
  for (const SysfsWrite& write : plan.writes) {
    text += fmt::format("echo {}> {}\n", write.text.empty() ? "" : write.text + ' ', write.path);
  }
  return text;
}

}  // namespace datum::tool
