#include "tests/vm/guest/machine.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/klog.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include <datum/base/unique_fd.hpp>

namespace datum::test {

namespace {

namespace files = std::filesystem;

const std::string pci_devices = "/sys/bus/pci/devices";
const std::string pci_probe = "/sys/bus/pci/drivers_probe";

std::vector<std::string> names_in(const files::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : files::directory_iterator(folder, ignored)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::vector<std::string> cards() {
  std::vector<std::string> found;
  for (const std::string& name : names_in(pci_devices)) {
    if (read_file(device_file(name, "vendor")) == "0x1234" &&
        read_file(device_file(name, "device")) == "0xda70") {
      found.push_back(name);
    }
  }
  return found;
}

std::string device_file(const std::string& pci, const std::string& name) {
  return pci_devices + "/" + pci + "/" + name;
}

std::string driver_of(const std::string& pci) {
  std::error_code none;
  return files::read_symlink(device_file(pci, "driver"), none).filename();
}

std::vector<std::string> neighbours_of(const std::string& pci) {
  std::vector<std::string> names = names_in(device_file(pci, "iommu_group/devices"));
  std::erase(names, pci);
  return names;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

bool write_file(const std::string& path, const std::string& text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

void give_to_vfio(const std::string& pci) {
  if (driver_of(pci) == "vfio-pci") {
    return;
  }
  ASSERT_TRUE(write_file(device_file(pci, "driver_override"), "vfio-pci\n"));
  if (!driver_of(pci).empty()) {
    ASSERT_TRUE(write_file(device_file(pci, "driver/unbind"), pci));
  }
  ASSERT_TRUE(write_file(pci_probe, pci));
  ASSERT_EQ(driver_of(pci), "vfio-pci");
}

void give_back(const std::string& pci) {
  ASSERT_TRUE(write_file(device_file(pci, "driver_override"), "\n"));
  if (driver_of(pci) == "vfio-pci") {
    ASSERT_TRUE(write_file(device_file(pci, "driver/unbind"), pci));
  }
  write_file(pci_probe, pci);  // where no driver wants it the kernel takes that for an error
  ASSERT_NE(driver_of(pci), "vfio-pci");
}

std::vector<std::string> nodes_of(const std::string& pci) {
  std::vector<std::string> nodes{"/dev/iommu"};
  for (const std::string& name : names_in(device_file(pci, "vfio-dev"))) {
    nodes.push_back("/dev/vfio/devices/" + name);
  }
  std::error_code none;
  nodes.push_back("/dev/vfio/" +
                  files::read_symlink(device_file(pci, "iommu_group"), none).filename().string());
  return nodes;
}

void set_nodes(const std::string& pci, unsigned group, unsigned mode) {
  for (const std::string& node : nodes_of(pci)) {
    ASSERT_EQ(::chown(node.c_str(), 0, group), 0) << node;
    ASSERT_EQ(::chmod(node.c_str(), mode), 0) << node;
  }
}

std::string kernel_log() {
  constexpr int read_all = 3;
  std::string text(1U << 20U, '\0');
  const int bytes = ::klogctl(read_all, text.data(), static_cast<int>(text.size()));
  text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  return text;
}

bool kernel_says(const std::string& text, const std::string& before) {
  // The kernel tells of a fault in a thread of its own.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < deadline) {
    const std::string log = kernel_log();
    if (log.find(text, std::min(before.size(), log.size())) != std::string::npos) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace datum::test
