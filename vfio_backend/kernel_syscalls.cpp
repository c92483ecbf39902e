// The one file of the backend that calls the kernel.
#include <array>
#include <cerrno>
#include <climits>
#include <dirent.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vfio_backend/syscalls.hpp"

namespace datum::vfio {

namespace {

/// Calls again when a signal came in between.
template <class Call>
auto without_signals(Call call) noexcept -> decltype(call()) {
  for (;;) {
    const auto result = call();
    if (result >= 0) {
      return result;
    }
    if (errno != EINTR) {
      return static_cast<decltype(call())>(-errno);
    }
  }
}

class KernelSyscalls final : public Syscalls {
 public:
  int open(const std::string& path, int flags) noexcept override {
    return without_signals([&] { return ::open(path.c_str(), flags | O_CLOEXEC); });
  }

  void close(int fd) noexcept override { ::close(fd); }

  int ioctl(int fd, unsigned long request, void* argument) noexcept override {
    return without_signals([&] { return ::ioctl(fd, request, argument); });
  }

  int mmap(int fd, std::uint64_t offset, std::size_t bytes, int protection, void** base) noexcept override {
    void* const result = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (result == MAP_FAILED) {
      return -errno;
    }
    *base = result;
    return 0;
  }

  void munmap(void* base, std::size_t bytes) noexcept override { ::munmap(base, bytes); }

  ssize_t pread(int fd, void* to, std::size_t bytes, std::uint64_t offset) noexcept override {
    return without_signals([&] { return ::pread(fd, to, bytes, static_cast<off_t>(offset)); });
  }

  ssize_t pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t offset) noexcept override {
    return without_signals([&] { return ::pwrite(fd, from, bytes, static_cast<off_t>(offset)); });
  }

  ssize_t read(int fd, void* to, std::size_t bytes) noexcept override {
    return without_signals([&] { return ::read(fd, to, bytes); });
  }

  int eventfd() noexcept override {
    const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return fd >= 0 ? fd : -errno;
  }

  int poll(pollfd* entries, unsigned count, const timespec* timeout) noexcept override {
    const int ready = ::ppoll(entries, count, timeout, nullptr);
    return ready >= 0 ? ready : -errno;
  }

  int file_bytes(int fd, std::uint64_t* bytes) noexcept override {
    struct stat status {};

    if (::fstat(fd, &status) != 0) {
      return -errno;
    }
    *bytes = static_cast<std::uint64_t>(status.st_size);
    return 0;
  }

  int read_link(const std::string& path, std::string* target) noexcept override {
    std::array<char, PATH_MAX> text{};
    const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
    if (length < 0) {
      return -errno;
    }
    target->assign(text.data(), static_cast<std::size_t>(length));
    return 0;
  }

  int list_folder(const std::string& path, std::vector<std::string>* names) noexcept override {
    DIR* const folder = ::opendir(path.c_str());
    if (folder == nullptr) {
      return -errno;
    }
    names->clear();
    while (const dirent* entry = ::readdir(folder)) {
      std::string name = entry->d_name;
      if (name != "." && name != "..") {
        names->push_back(std::move(name));
      }
    }
    ::closedir(folder);
    return 0;
  }

  int limit(int resource, rlimit* value) noexcept override {
    return ::getrlimit(static_cast<__rlimit_resource_t>(resource), value) == 0 ? 0 : -errno;
  }
};

constinit KernelSyscalls running_kernel;

}  // namespace

Syscalls& kernel_syscalls() noexcept { return running_kernel; }

}  // namespace datum::vfio
