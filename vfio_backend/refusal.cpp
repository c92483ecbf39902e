#include "vfio_backend/refusal.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "vfio_backend/holder.hpp"

namespace datum::vfio {

namespace {

Error with_errno(ErrorCode code, int error_number, std::string message, std::string hint) {
  return Error{code, error_number, std::move(message), std::move(hint)};
}

std::string member_text(const std::vector<GroupMember>& members) {
  std::string text;
  for (const GroupMember& member : members) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", member.address,
                        member.driver.empty() ? "no driver" : "driver " + member.driver);
  }
  return text;
}

/// CAP_IPC_LOCK lifts the limit; the kernel shows a process its capabilities as a hexadecimal mask.
bool may_lock_anything(Syscalls& syscalls) {
  constexpr unsigned ipc_lock = 14;
  constexpr std::string_view key = "CapEff:";
  const std::string status = read_text(syscalls, "/proc/self/status").value_or("");
  const std::size_t at = status.find(key);
  if (at == std::string::npos) {
    return false;
  }
  const unsigned long long mask = std::strtoull(status.c_str() + at + key.size(), nullptr, 16);
  return (mask >> ipc_lock & 1U) != 0;
}

}  // namespace

std::string iommu_cure() {
  return "turn the IOMMU on: in the firmware (Intel VT-d, AMD-Vi), and on the kernel's command line with "
         "intel_iommu=on (Intel; AMD needs nothing there); after a restart /sys/class/iommu is not empty";
}

std::string binding_cure(const PciDevice& device) {
  return fmt::format(
      "as root: modprobe vfio-pci; echo vfio-pci > /sys/bus/pci/devices/{0}/driver_override; {1}"
      "echo {0} > /sys/bus/pci/drivers_probe",
      device.address,
      device.driver.empty()
          ? std::string{}
          : fmt::format("echo {0} > /sys/bus/pci/devices/{0}/driver/unbind; ", device.address));
}

std::string locked_memory_cure() {
  return "raise RLIMIT_MEMLOCK: 'ulimit -l' shows it in KiB; a line '* - memlock unlimited' in "
         "/etc/security/limits.d/datum.conf (after a new login), LimitMEMLOCK=infinity for a systemd "
         "service, "
         "--ulimit memlock=-1 for a container";
}

Error not_bound(const PciDevice& device) {
  const std::string what = device.driver.empty() ? "is bound to no driver"
                                                 : fmt::format("is bound to the driver '{}'", device.driver);
  return make_error(ErrorCode::not_available,
                    fmt::format("{} {}; it must be bound to vfio-pci", device.description(), what),
                    binding_cure(device));
}

Error iommu_is_off(Syscalls& syscalls, const PciDevice& device) {
  return make_error(ErrorCode::dependency_unavailable,
                    fmt::format("{} is in no IOMMU group: {}", device.description(),
                                any_iommu(syscalls) ? "no IOMMU serves its slot" : "the IOMMU is off"),
                    iommu_cure());
}

Error no_iommu_mode(const PciDevice& device) {
  return make_error(ErrorCode::dependency_unavailable,
                    fmt::format("{} is offered in VFIO's no-IOMMU mode, which Datum refuses: without an "
                                "IOMMU nothing confines what the "
                                "card reads and writes, and there are no I/O addresses to map host memory at",
                                device.description()),
                    iommu_cure());
}

Error group_not_viable(const PciDevice& device) {
  const std::vector<GroupMember> obstacles = device.obstacles();
  return make_error(
      ErrorCode::not_available,
      fmt::format(
          "IOMMU group {} of {} is not viable: all its devices have to be given up by their drivers, and {}; "
          "the group is {}",
          device.group.value_or(0), device.description(),
          obstacles.empty()
              ? std::string("one of them is not")
              : fmt::format("in the way {} {}", obstacles.size() == 1 ? "is" : "are", member_text(obstacles)),
          member_text(device.group_members)),
      "bind the others to vfio-pci as well, or move the card to a slot whose group is its own");
}

Error no_permission(const PciDevice& device, const std::string& node) {
  return with_errno(
      ErrorCode::insufficient_permissions, EACCES,
      fmt::format("{} cannot be used: this user may not open {}", device.description(), node),
      fmt::format("for now, as root: chown USER {}; for good, the rules of 'datum udev-rule' in "
                  "/etc/udev/rules.d, for members of their group: usermod -aG datum USER, then a new login",
                  node));
}

Error device_in_use(Syscalls& syscalls, const PciDevice& device, const std::string& node) {
  return with_errno(
      ErrorCode::not_available, EBUSY,
      fmt::format("{} is in use: {} is held by {}", device.description(), node,
                  describe_holder(syscalls, node)),
      "a card serves one process at a time; end the other one, or choose another card with DATUM_BOARDS");
}

Error node_missing(const PciDevice& device, const std::string& node, const std::string& module) {
  return with_errno(
      ErrorCode::dependency_unavailable, ENOENT,
      fmt::format("{} cannot be reached: the kernel has no {}", device.description(), node),
      fmt::format("as root: modprobe {}; inside a container the node must be passed in", module));
}

Error wrong_node(const PciDevice& device, const std::string& node) {
  return with_errno(ErrorCode::dependency_unavailable, ENOTTY,
                    fmt::format("{} cannot be reached: {} is not the node that the kernel made for it",
                                device.description(), node),
                    "a stale file, or another device's number: remove it and let udev make it anew ('udevadm "
                    "trigger'); in a "
                    "container pass the host's node in with --device");
}

Error no_interrupt_remapping(const PciDevice& device, const std::string& parameter) {
  return with_errno(
      ErrorCode::dependency_unavailable, EPERM,
      fmt::format(
          "the kernel will not give {} to a user: this machine's IOMMU does not confine interrupt messages "
          "(no interrupt remapping)",
          device.description()),
      fmt::format(
          "turn interrupt remapping on in the firmware; where the machine has none and the risk is accepted "
          "(a card can then forge interrupts): {}=1 as a module parameter",
          parameter));
}

Error call_failed(const PciDevice& device, const std::string& what, int error_number, ErrorCode code) {
  return with_errno(code, error_number,
                    fmt::format("{}: {} failed: {}", device.description(), what, std::strerror(error_number)),
                    "the kernel's log may say more: dmesg");
}

std::string locked_memory_text(std::uint64_t bytes) {
  if (bytes == 0) {
    return "no limit";
  }
  return bytes % (1U << 20U) == 0 ? fmt::format("{} MiB", bytes >> 20U) : fmt::format("{} KiB", bytes >> 10U);
}

std::uint64_t locked_memory_limit(Syscalls& syscalls) {
  rlimit value{};
  if (syscalls.limit(RLIMIT_MEMLOCK, &value) < 0 || value.rlim_cur == RLIM_INFINITY ||
      may_lock_anything(syscalls)) {
    return 0;
  }
  // 0 stands for "no limit", so a limit of nothing is told as the least there is.
  return value.rlim_cur == 0 ? 1 : value.rlim_cur;
}

Error map_refused(Syscalls& syscalls, const PciDevice& device, Iova iova, std::uint64_t bytes,
                  std::uint64_t max_mappings, int error_number) {
  const std::string subject =
      fmt::format("{}: mapping {} bytes at IOVA {:#x}", device.description(), bytes, raw(iova));
  switch (error_number) {
  case ENOMEM: {
    const std::uint64_t limit = locked_memory_limit(syscalls);
    if (limit == 0) {
      return with_errno(ErrorCode::out_of_host_memory, ENOMEM,
                        subject + " failed: the kernel has no memory left for it", {});
    }
    return with_errno(ErrorCode::out_of_host_memory, ENOMEM,
                      fmt::format("{} would lock more memory than this process may: RLIMIT_MEMLOCK is {}",
                                  subject, locked_memory_text(limit)),
                      locked_memory_cure());
  }
  case ENOSPC:
    return with_errno(
        ErrorCode::out_of_host_memory, ENOSPC,
        fmt::format("{} exceeds the number of mappings that the kernel allows ({})", subject, max_mappings),
        "raise the module parameter vfio_iommu_type1.dma_entry_limit, or use the iommufd interface");
  case EEXIST:
    return with_errno(ErrorCode::invalid_argument, EEXIST, subject + " overlaps a mapping that is live", {});
  case EFAULT:
  case EACCES:
  case EPERM:
    return with_errno(ErrorCode::insufficient_permissions, error_number,
                      subject + " failed: the memory cannot be accessed that way by this process", {});
  case EINVAL:
  case EOVERFLOW:
    return with_errno(ErrorCode::invalid_argument, error_number,
                      subject + " was refused by the IOMMU as not valid", {});
  default:
    return call_failed(device, fmt::format("mapping {} bytes at IOVA {:#x}", bytes, raw(iova)), error_number);
  }
}

}  // namespace datum::vfio
