// Everything that the backend asks of the kernel. Tests put a kernel of their own behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <poll.h>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace datum::vfio {

/// The calls of the same names. Every result is what the call returns, or minus errno. Safe from any thread.
class Syscalls {
 public:
  Syscalls(const Syscalls&) = delete;
  Syscalls& operator=(const Syscalls&) = delete;

  virtual int open(const std::string& path, int flags) noexcept = 0;  ///< O_CLOEXEC is added
  virtual void close(int fd) noexcept = 0;
  virtual int ioctl(int fd, unsigned long request, void* argument) noexcept = 0;
  /// MAP_SHARED, anywhere.
  virtual int mmap(int fd, std::uint64_t offset, std::size_t bytes, int protection, void** base) noexcept = 0;
  virtual void munmap(void* base, std::size_t bytes) noexcept = 0;
  /// Puts memory of this process, all ones, over a range that `mmap` gave. Who accesses it meanwhile meets
  /// the old or the new, and no gap. The range is unmapped as before.
  virtual int cover(void* base, std::size_t bytes) noexcept = 0;
  /// Closes what `fd` leads to and keeps the number: from then on every read, write and ioctl of it fails.
  virtual int hollow(int fd) noexcept = 0;
  virtual ssize_t pread(int fd, void* to, std::size_t bytes, std::uint64_t offset) noexcept = 0;
  virtual ssize_t pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t offset) noexcept = 0;
  virtual ssize_t read(int fd, void* to, std::size_t bytes) noexcept = 0;
  virtual int eventfd() noexcept = 0;  ///< count 0, non-blocking, close on exec
  /// `timeout` null: no bound.
  virtual int poll(pollfd* entries, unsigned count, const timespec* timeout) noexcept = 0;
  virtual int file_bytes(int fd, std::uint64_t* bytes) noexcept = 0;  ///< fstat
  virtual int read_link(const std::string& path, std::string* target) noexcept = 0;
  virtual int list_folder(const std::string& path,
                          std::vector<std::string>* names) noexcept = 0;  ///< readdir
  virtual int limit(int resource, rlimit* value) noexcept = 0;

 protected:
  Syscalls() noexcept = default;
  ~Syscalls() = default;
};

/// The running kernel. No state, lives for ever.
[[nodiscard]] Syscalls& kernel_syscalls() noexcept;

/// Owns a descriptor that `Syscalls` opened.
class OwnedFd {
 public:
  OwnedFd() noexcept = default;

  OwnedFd(Syscalls& syscalls, int fd) noexcept : syscalls_(&syscalls), fd_(fd) {}

  OwnedFd(OwnedFd&& other) noexcept : syscalls_(other.syscalls_), fd_(std::exchange(other.fd_, -1)) {}

  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) {
      reset();
      syscalls_ = other.syscalls_;
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;

  ~OwnedFd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }

  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }

  void reset() noexcept {
    if (fd_ >= 0) {
      syscalls_->close(std::exchange(fd_, -1));
    }
  }

 private:
  Syscalls* syscalls_ = nullptr;
  int fd_ = -1;
};

/// Owns a range that `Syscalls` mapped.
class OwnedMapping {
 public:
  OwnedMapping() noexcept = default;

  OwnedMapping(Syscalls& syscalls, void* base, std::size_t bytes) noexcept
      : syscalls_(&syscalls), base_(base), bytes_(bytes) {}

  OwnedMapping(OwnedMapping&& other) noexcept
      : syscalls_(other.syscalls_), base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_) {}

  OwnedMapping& operator=(OwnedMapping&& other) noexcept {
    if (this != &other) {
      reset();
      syscalls_ = other.syscalls_;
      base_ = std::exchange(other.base_, nullptr);
      bytes_ = other.bytes_;
    }
    return *this;
  }

  OwnedMapping(const OwnedMapping&) = delete;
  OwnedMapping& operator=(const OwnedMapping&) = delete;

  ~OwnedMapping() { reset(); }

  [[nodiscard]] bool valid() const noexcept { return base_ != nullptr; }

  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(base_); }

  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

  void reset() noexcept {
    if (base_ != nullptr) {
      syscalls_->munmap(std::exchange(base_, nullptr), bytes_);
    }
  }

 private:
  Syscalls* syscalls_ = nullptr;
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace datum::vfio
