#include "vfio_backend/doctor.hpp"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "vfio_backend/container_space.hpp"
#include "vfio_backend/iommufd_space.hpp"
#include "vfio_backend/refusal.hpp"
#include "vfio_backend/sysfs.hpp"

namespace datum::vfio {

namespace {

/// Below this a first context does not fit; it is also what systemd gives a user.
constexpr std::uint64_t least_locked_bytes = 8ULL << 20U;
/// Below this larger programs run into the limit.
constexpr std::uint64_t enough_locked_bytes = 64ULL << 20U;

Check make_check(CheckNumber number, std::string_view name) {
  Check check;
  check.number = static_cast<unsigned>(number);
  check.name = name;
  return check;
}

void pass(Check& check, std::string finding) {
  check.outcome = CheckOutcome::passed;
  check.finding = std::move(finding);
}

void fail(Check& check, Error error) {
  check.outcome = CheckOutcome::failed;
  check.finding = std::move(error.message);
  check.cure = std::move(error.hint);
}

Check check_found(Syscalls& syscalls, const CardAddress& address, std::optional<PciDevice>& device) {
  Check check = make_check(CheckNumber::card_found, "card found");
  std::string pci = address.pci;
  if (pci.empty()) {
    const std::vector<std::string> bound = bound_devices(syscalls);
    if (bound.empty()) {
      fail(check, make_error(ErrorCode::not_available, "no PCI device of this machine is bound to vfio-pci",
                             "name the card: vfio:0000:03:00.0 ('lspci -D' lists what there is)"));
      return check;
    }
    pci = bound.front();
  }
  Result<PciDevice> found = look_up_device(syscalls, pci);
  if (!found) {
    fail(check, std::move(found).error());
    return check;
  }
  device = std::move(found).value();
  pass(check, fmt::format("{} is there", device->description()));
  return check;
}

Check check_bound(const std::optional<PciDevice>& device) {
  Check check = make_check(CheckNumber::driver_bound, "driver bound");
  if (device && device->bound()) {
    pass(check, "it is bound to vfio-pci");
  } else if (device) {
    fail(check, not_bound(*device));
  }
  return check;
}

Check check_group(const std::optional<PciDevice>& device) {
  Check check = make_check(CheckNumber::group_viable, "group viable");
  if (!device || !device->iommu_is_on()) {
    return check;
  }
  if (!device->obstacles().empty()) {
    fail(check, group_not_viable(*device));
  } else {
    pass(check, fmt::format("IOMMU group {} has {} device{}, none with a driver in the way", *device->group,
                            device->group_members.size(), device->group_members.size() == 1 ? "" : "s"));
  }
  return check;
}

/// What opening a node gives; 0 when it can be opened.
int try_node(Syscalls& syscalls, const std::string& node) {
  const int fd = syscalls.open(node, O_RDWR);
  if (fd < 0) {
    return -fd;
  }
  syscalls.close(fd);
  return 0;
}

std::vector<std::string> nodes_of(const PciDevice& device, KernelInterface kind) {
  if (kind == KernelInterface::container) {
    return {container_node, device.group_node()};
  }
  return device.own_node.empty() ? std::vector<std::string>{}
                                 : std::vector<std::string>{iommufd_node, device.device_node()};
}

Check check_permission(Syscalls& syscalls, const std::optional<PciDevice>& device,
                       std::optional<KernelInterface> forced) {
  Check check = make_check(CheckNumber::permission, "permission");
  if (!device || !device->bound() || !device->iommu_is_on()) {
    return check;
  }
  std::optional<Error> refusal;
  for (const KernelInterface kind : {KernelInterface::iommufd, KernelInterface::container}) {
    const std::vector<std::string> nodes = nodes_of(*device, kind);
    if ((forced && *forced != kind) || nodes.empty()) {
      continue;
    }
    std::optional<Error> trouble;
    for (const std::string& node : nodes) {
      const int error_number = try_node(syscalls, node);
      if (error_number == EBUSY) {
        trouble = device_in_use(syscalls, *device, node);
      } else if (error_number == EACCES || error_number == EPERM) {
        trouble = no_permission(*device, node);
      } else if (error_number != 0) {
        trouble = node_missing(*device, node, kind == KernelInterface::iommufd ? "iommufd" : "vfio-pci");
      }
      if (trouble) {
        break;
      }
    }
    if (!trouble) {
      pass(check, fmt::format("this user may open {} and {}", nodes[0], nodes[1]));
      return check;
    }
    // A kernel without the newer interface is no lack of permission: what is told is the last real refusal.
    if (!refusal || refusal->code == ErrorCode::dependency_unavailable) {
      refusal = std::move(trouble);
    }
  }
  if (refusal && refusal->code == ErrorCode::dependency_unavailable) {
    check.finding = "there is no node to ask for; see the kernel interface";
  } else if (refusal) {
    fail(check, *std::move(refusal));
  }
  return check;
}

/// How the kernel's own drivers use the IOMMU, for the end of a sentence. It makes no difference to a card
/// that is handed to a user, which has an address space of its own.
std::string mode_of(Syscalls& syscalls, unsigned group) {
  const std::string type =
      read_text(syscalls, fmt::format("/sys/kernel/iommu_groups/{}/type", group)).value_or("");
  if (type == "identity") {
    return "; the kernel's own drivers bypass it (pass-through), cards of users do not";
  }
  if (type == "DMA") {
    return "; what the kernel's own drivers unmap is out of reach at once (strict)";
  }
  return type == "DMA-FQ" ? "; what the kernel's own drivers unmap is out of reach soon (lazy)" : "";
}

Check check_iommu(Syscalls& syscalls, const std::optional<PciDevice>& device) {
  Check check = make_check(CheckNumber::iommu_on, "IOMMU on");
  if (!device) {
    if (any_iommu(syscalls)) {
      pass(check, "the machine's IOMMU is on");
    } else {
      fail(check, make_error(ErrorCode::dependency_unavailable, "the machine's IOMMU is off", iommu_cure()));
    }
  } else if (device->no_iommu) {
    fail(check, no_iommu_mode(*device));
  } else if (!device->iommu_is_on()) {
    fail(check, iommu_is_off(syscalls, *device));
  } else {
    const std::string width = device->iommu_bits == 0
                                  ? "; its width shows when the card is opened"
                                  : fmt::format(", with addresses of {} bits", device->iommu_bits);
    pass(check, "an IOMMU serves it" + width + mode_of(syscalls, *device->group));
  }
  return check;
}

Check check_locked_memory(Syscalls& syscalls) {
  Check check = make_check(CheckNumber::locked_memory, "locked memory");
  const std::uint64_t limit = locked_memory_limit(syscalls);
  if (limit == 0) {
    pass(check, "this process may lock as much memory as it likes");
    return check;
  }
  const std::string text = locked_memory_text(limit);
  if (limit < least_locked_bytes) {
    fail(check, make_error(ErrorCode::out_of_host_memory,
                           fmt::format("this process may lock {} (RLIMIT_MEMLOCK); a context needs {}", text,
                                       locked_memory_text(least_locked_bytes)),
                           locked_memory_cure()));
  } else if (limit < enough_locked_bytes) {
    check.outcome = CheckOutcome::warning;
    check.finding =
        fmt::format("this process may lock {} (RLIMIT_MEMLOCK): enough for a first context, not for "
                    "programs with more host memory",
                    text);
    check.cure = locked_memory_cure();
  } else {
    pass(check, fmt::format("this process may lock {} (RLIMIT_MEMLOCK)", text));
  }
  return check;
}

Check check_interface(Syscalls& syscalls, const std::optional<PciDevice>& device,
                      std::optional<KernelInterface> forced) {
  Check check = make_check(CheckNumber::kernel_interface, "kernel interface");
  const auto exists = [&](const std::string& node) {
    const int error_number = try_node(syscalls, node);
    return error_number != ENOENT && error_number != ENODEV && error_number != ENXIO;
  };
  const bool own_node = device && !device->own_node.empty();
  const bool iommufd = exists(iommufd_node) && (!device || own_node);
  const bool container = exists(container_node);
  const bool usable =
      forced ? (*forced == KernelInterface::iommufd ? iommufd : container) : iommufd || container;
  if (usable) {
    const bool newest = iommufd && forced != KernelInterface::container;
    pass(check, newest ? "iommufd and the device's own node" : "group and container (type 1, version 2)");
    return check;
  }
  fail(
      check,
      make_error(
          ErrorCode::dependency_unavailable,
          fmt::format("the kernel offers no {}",
                      forced ? name_of(*forced) : "VFIO: neither iommufd nor a container"),
          "as root: modprobe vfio-pci (and iommufd, or vfio_iommu_type1); Debian's kernels have no iommufd"));
  return check;
}

}  // namespace

std::vector<Check> examine_card(Syscalls& syscalls, const CardAddress& address) {
  std::optional<PciDevice> device;
  std::vector<Check> checks;
  checks.push_back(check_found(syscalls, address, device));
  checks.push_back(check_bound(device));
  checks.push_back(check_group(device));
  checks.push_back(check_permission(syscalls, device, address.forced));
  checks.push_back(check_iommu(syscalls, device));
  checks.push_back(check_locked_memory(syscalls));
  checks.push_back(check_interface(syscalls, device, address.forced));
  return checks;
}

}  // namespace datum::vfio
