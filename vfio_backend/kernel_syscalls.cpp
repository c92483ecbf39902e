// The one file of the backend that calls the kernel.
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <datum/base/memory_file.hpp>
#include <datum/base/private_fd.hpp>
#include <datum/base/unique_fd.hpp>

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
    return without_signals([&] { return private_fd(::open(path.c_str(), flags | O_CLOEXEC)); });
  }

  void close(int fd) noexcept override { ::close(fd); }

  int ioctl(int fd, unsigned long request, void* argument) noexcept override {
    const int result = without_signals([&] { return ::ioctl(fd, request, argument); });
    if (request != VFIO_GROUP_GET_DEVICE_FD || result < 0) {
      return result;
    }
    const int device = private_fd(result);
    return device >= 0 ? device : -errno;
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

  int cover(void* base, std::size_t bytes) noexcept override {
    // One piece of memory, seen again and again: a window onto a card may be larger than what the process may
    // have.
    constexpr std::size_t most_piece_bytes = 2U << 20U;
    const std::size_t piece_bytes = std::min(bytes, most_piece_bytes);
    const UniqueFd ones = make_memory_file("datum-lost-card");
    if (const int error = ones.valid() ? resize_memory_file(ones.get(), piece_bytes) : errno; error != 0) {
      return -error;
    }
    void* const piece = ::mmap(nullptr, piece_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ones.get(), 0);
    if (piece == MAP_FAILED) {
      return -errno;
    }
    std::memset(piece, 0xff, piece_bytes);
    ::munmap(piece, piece_bytes);
    for (std::size_t done = 0; done < bytes; done += piece_bytes) {
      // Private: a write stays where it was made, and every other place reads ones.
      if (::mmap(static_cast<std::byte*>(base) + done, std::min(piece_bytes, bytes - done),
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, ones.get(), 0) == MAP_FAILED) {
        return -errno;
      }
    }
    return 0;
  }

  int hollow(int fd) noexcept override {
    const UniqueFd nothing(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    return nothing.valid() && ::dup3(nothing.get(), fd, O_CLOEXEC) == fd ? 0 : -errno;
  }

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
    const int fd = private_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
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
