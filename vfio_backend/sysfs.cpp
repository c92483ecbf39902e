#include "vfio_backend/sysfs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fcntl.h>

#include <fmt/format.h>

#include "vfio_backend/card_address.hpp"

namespace datum::vfio {

namespace {

constexpr const char* devices_folder = "/sys/bus/pci/devices";

std::string last_component(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The last component of what a link points to; empty where there is no link.
std::string link_name(Syscalls& syscalls, const std::string& path) {
  std::string target;
  return syscalls.read_link(path, &target) < 0 ? std::string{} : last_component(target);
}

template <class Number>
std::optional<Number> parse(std::string_view text, int base) {
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

template <class Number>
Number read_number(Syscalls& syscalls, const std::string& path, int base, Number otherwise) {
  const std::optional<std::string> text = read_text(syscalls, path);
  return text ? parse<Number>(*text, base).value_or(otherwise) : otherwise;
}

void look_up_group(Syscalls& syscalls, const std::string& folder, PciDevice& device) {
  const std::string name = link_name(syscalls, folder + "/iommu_group");
  device.group = parse<unsigned>(name, 10);
  if (!device.group) {
    return;
  }
  device.no_iommu = read_text(syscalls, folder + "/iommu_group/name") == "vfio-noiommu";
  std::vector<std::string> members;
  const std::string group_folder = fmt::format("/sys/kernel/iommu_groups/{}/devices", *device.group);
  if (syscalls.list_folder(group_folder, &members) < 0) {
    members = {device.address};
  }
  std::ranges::sort(members);
  for (std::string& member : members) {
    std::string driver = link_name(syscalls, fmt::format("{}/{}/driver", devices_folder, member));
    device.group_members.push_back({std::move(member), std::move(driver)});
  }
}

void look_up_own_node(Syscalls& syscalls, const std::string& folder, PciDevice& device) {
  std::vector<std::string> names;
  if (syscalls.list_folder(folder + "/vfio-dev", &names) < 0) {
    return;
  }
  for (const std::string& name : names) {
    if (name.starts_with("noiommu-")) {
      device.no_iommu = true;
    }
    device.own_node = name;
  }
}

/// Intel's IOMMUs say how wide an address they translate: bits 21:16 of their capability register, plus one.
unsigned width_of_iommu(Syscalls& syscalls, const std::string& folder) {
  const std::uint64_t capability =
      read_number<std::uint64_t>(syscalls, folder + "/iommu/intel-iommu/cap", 16, 0);
  return capability == 0 ? 0 : static_cast<unsigned>(capability >> 16U & 0x3fU) + 1;
}

/// "16.0 GT/s PCIe"; older kernels say "16 GT/s". 0: "Unknown", or none that this driver knows.
unsigned generation_of(std::string_view speed) {
  constexpr std::array<std::string_view, 6> by_generation{"2.5", "5", "8", "16", "32", "64"};
  std::string_view number = speed.substr(0, speed.find(' '));
  if (number.ends_with(".0")) {
    number.remove_suffix(2);
  }
  const auto found = std::ranges::find(by_generation, number);
  return found == by_generation.end() ? 0 : static_cast<unsigned>(found - by_generation.begin()) + 1;
}

/// The kernel says 255 lanes where it cannot read the link.
board::PciLink read_link(Syscalls& syscalls, const std::string& folder, std::string_view which) {
  constexpr unsigned most_lanes = 32;
  const unsigned lanes =
      read_number<unsigned>(syscalls, fmt::format("{}/{}_link_width", folder, which), 10, 0);
  const std::string speed = read_text(syscalls, fmt::format("{}/{}_link_speed", folder, which)).value_or("");
  return {generation_of(speed), lanes <= most_lanes ? lanes : 0};
}

/// A line for each BAR: first address, last address, flags; zeros where there is none.
void read_bar_addresses(Syscalls& syscalls, const std::string& folder, PciDevice& device) {
  const std::string text = read_text(syscalls, folder + "/resource").value_or("");
  std::string_view rest = text;
  for (std::uint64_t& address : device.bar_addresses) {
    constexpr std::string_view prefix = "0x";
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with(prefix)) {
      const std::string_view digits = line.substr(prefix.size());
      static_cast<void>(std::from_chars(digits.data(), digits.data() + digits.size(), address, 16));
    }
  }
}

/// Drivers that do no DMA of their own, by the kernel's rule for groups.
bool leaves_group_viable(const std::string& driver) {
  return driver.empty() || driver == "vfio-pci" || driver == "pci-stub" || driver == "pcieport" ||
         driver.starts_with("vfio");
}

}  // namespace

std::string PciDevice::description() const {
  return fmt::format("{} ({:04x}:{:04x})", address, vendor_id, device_id);
}

std::vector<GroupMember> PciDevice::obstacles() const {
  std::vector<GroupMember> found;
  std::ranges::copy_if(group_members, std::back_inserter(found),
                       [](const GroupMember& member) { return !leaves_group_viable(member.driver); });
  return found;
}

std::string PciDevice::group_node() const { return fmt::format("/dev/vfio/{}", group.value_or(0)); }

std::string PciDevice::device_node() const { return "/dev/vfio/devices/" + own_node; }

std::optional<std::string> read_text(Syscalls& syscalls, const std::string& path) {
  const int fd = syscalls.open(path, O_RDONLY);
  if (fd < 0) {
    return std::nullopt;
  }
  const OwnedFd owner(syscalls, fd);
  std::array<char, 4096> buffer{};
  const ssize_t length = syscalls.pread(fd, buffer.data(), buffer.size(), 0);
  if (length < 0) {
    return std::nullopt;
  }
  std::string text(buffer.data(), static_cast<std::size_t>(length));
  text.erase(text.find_last_not_of(" \n\t") + 1);
  return text;
}

Result<PciDevice> look_up_device(Syscalls& syscalls, const std::string& pci_address) {
  const std::string folder = fmt::format("{}/{}", devices_folder, pci_address);
  PciDevice device;
  device.address = pci_address;
  device.pci = parse_pci_address(pci_address).value_or(board::PciAddress{});
  if (!read_text(syscalls, folder + "/vendor")) {
    return make_error(ErrorCode::not_available, fmt::format("there is no PCI device {}", pci_address),
                      "look with 'lspci -D'; a card that was reprogrammed shows after a rescan: "
                      "echo 1 > /sys/bus/pci/rescan");
  }
  device.vendor_id = read_number<std::uint16_t>(syscalls, folder + "/vendor", 16, 0);
  device.device_id = read_number<std::uint16_t>(syscalls, folder + "/device", 16, 0);
  device.numa_node = read_number<int>(syscalls, folder + "/numa_node", 10, -1);
  device.link = read_link(syscalls, folder, "current");
  device.fastest_link = read_link(syscalls, folder, "max");
  read_bar_addresses(syscalls, folder, device);
  device.driver = link_name(syscalls, folder + "/driver");
  look_up_group(syscalls, folder, device);
  look_up_own_node(syscalls, folder, device);
  device.iommu_bits = width_of_iommu(syscalls, folder);
  return device;
}

std::vector<std::string> bound_devices(Syscalls& syscalls) {
  std::vector<std::string> names;
  if (syscalls.list_folder("/sys/bus/pci/drivers/vfio-pci", &names) < 0) {
    return {};
  }
  // Devices are the links that are named like one; the folder has the driver's own files as well.
  std::erase_if(names, [](const std::string& name) {
    return name.find(':') == std::string::npos || name.find('.') == std::string::npos;
  });
  std::ranges::sort(names);
  return names;
}

bool any_iommu(Syscalls& syscalls) {
  std::vector<std::string> units;
  return syscalls.list_folder("/sys/class/iommu", &units) >= 0 && !units.empty();
}

}  // namespace datum::vfio
