// A sysfs that binds: writes to driver_override, unbind and drivers_probe do what the kernel does.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/fakes/kernel/machine.hpp"
#include "vfio_backend/syscalls.hpp"

namespace datum::test {

class PciSysfs final : public vfio::Syscalls {
 public:
  /// A device in `group`, with the driver that the kernel finds for it by itself; empty: none.
  void add(const std::string& pci, unsigned group, const std::string& driver) {
    add_to_sysfs(machine, pci, group, 0x1234, 0xda70, driver);
    natural_[pci] = driver;
  }

  [[nodiscard]] std::string driver_of(const std::string& pci) const {
    const std::string link = machine.files.link(folder_of(pci) + "/driver").value_or("");
    return link.substr(link.rfind('/') + 1);
  }

  [[nodiscard]] std::size_t open_descriptors() const { return open_.size(); }

  Machine machine;
  std::set<std::string> forbidden;  ///< paths that may not be written
  bool vfio_takes_devices = true;
  std::vector<std::string> written;  ///< "TEXT > PATH"

  int open(const std::string& path, int flags) noexcept override {
    const bool writes = (flags & O_ACCMODE) == O_WRONLY;
    if (writes && forbidden.contains(path)) {
      return -EACCES;
    }
    if (!writes && !machine.files.file(path)) {
      return -ENOENT;
    }
    open_[++last_fd_] = path;
    return last_fd_;
  }

  void close(int fd) noexcept override { open_.erase(fd); }

  ssize_t pread(int fd, void* to, std::size_t bytes, std::uint64_t) noexcept override {
    const std::string text = machine.files.file(open_.at(fd)).value_or("");
    const std::size_t length = std::min(bytes, text.size());
    std::memcpy(to, text.data(), length);
    return static_cast<ssize_t>(length);
  }

  ssize_t pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t) noexcept override {
    std::string text(static_cast<const char*>(from), bytes);
    text.erase(text.find_last_not_of('\n') + 1);
    const std::string path = open_.at(fd);
    written.push_back(text + " > " + path);
    if (path.ends_with("/driver_override")) {
      override_[path.substr(0, path.rfind('/'))] = text;
    } else if (path.ends_with("/driver/unbind")) {
      machine.files.remove(folder_of(text) + "/driver");
    } else if (path == "/sys/bus/pci/drivers_probe") {
      probe(text);
    }
    return static_cast<ssize_t>(bytes);
  }

  int read_link(const std::string& path, std::string* target) noexcept override {
    const auto link = machine.files.link(path);
    *target = link.value_or("");
    return link ? 0 : -ENOENT;
  }

  int list_folder(const std::string& path, std::vector<std::string>* names) noexcept override {
    const auto list = machine.files.list(path);
    *names = list.value_or(std::vector<std::string>{});
    return list ? 0 : -ENOENT;
  }

  int ioctl(int, unsigned long, void*) noexcept override { return -ENOTTY; }

  int mmap(int, std::uint64_t, std::size_t, int, void**) noexcept override { return -ENODEV; }

  void munmap(void*, std::size_t) noexcept override {}

  int cover(void*, std::size_t) noexcept override { return -ENOSYS; }

  int hollow(int) noexcept override { return -ENOSYS; }

  ssize_t read(int, void*, std::size_t) noexcept override { return -EBADF; }

  int eventfd() noexcept override { return -EMFILE; }

  int poll(pollfd*, unsigned, const timespec*) noexcept override { return 0; }

  int file_bytes(int, std::uint64_t*) noexcept override { return -EBADF; }

  int limit(int, rlimit*) noexcept override { return -EINVAL; }

 private:
  static std::string folder_of(const std::string& pci) { return "/sys/bus/pci/devices/" + pci; }

  void probe(const std::string& pci) {
    const std::string folder = folder_of(pci);
    const std::string wanted = override_[folder].empty() ? natural_[pci] : override_[folder];
    const bool takes = wanted != "vfio-pci" || vfio_takes_devices;
    if (!wanted.empty() && takes && driver_of(pci).empty()) {
      machine.files.add_link(folder + "/driver", "/sys/bus/pci/drivers/" + wanted);
    }
  }

  std::map<int, std::string> open_;
  std::map<std::string, std::string> override_;
  std::map<std::string, std::string> natural_;
  int last_fd_ = 100;
};

}  // namespace datum::test
