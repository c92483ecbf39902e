#include "vfio_backend/holder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "vfio_backend/sysfs.hpp"

namespace datum::vfio {

namespace {

bool is_number(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char digit) { return digit >= '0' && digit <= '9'; });
}

/// True if a descriptor of the process leads to `node`. `hidden` is set if its descriptors may not be looked
/// at.
bool holds(Syscalls& syscalls, const std::string& process, const std::string& node, bool& hidden) {
  const std::string folder = fmt::format("/proc/{}/fd", process);
  std::vector<std::string> descriptors;
  if (syscalls.list_folder(folder, &descriptors) < 0) {
    hidden = true;
    return false;
  }
  return std::ranges::any_of(descriptors, [&](const std::string& descriptor) {
    std::string target;
    return syscalls.read_link(folder + "/" + descriptor, &target) >= 0 && target == node;
  });
}

}  // namespace

std::string describe_holder(Syscalls& syscalls, const std::string& node) {
  std::string self;
  if (syscalls.read_link("/proc/self", &self) < 0) {
    self.clear();
  }
  std::vector<std::string> processes;
  if (syscalls.list_folder("/proc", &processes) < 0) {
    processes.clear();
  }
  bool hidden = false;
  for (const std::string& process : processes) {
    if (!is_number(process) || !holds(syscalls, process, node, hidden)) {
      continue;
    }
    if (process == self) {
      return "this process";
    }
    const std::string name =
        read_text(syscalls, fmt::format("/proc/{}/comm", process)).value_or("name unknown");
    return fmt::format("process {} ({})", process, name);
  }
  return hidden
             ? fmt::format("a process of another user ('sudo fuser -v {}' names it)", node)
             : std::string("a process that is just ending, or by one that has another device of its group");
}

}  // namespace datum::vfio
