// A kernel that makes dma-bufs, for machines whose own does not: memory files stand for them.
#pragma once

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/memory/dma_buf.hpp"

namespace datum::test {

/// Keeps udmabuf's rules for what becomes a dma-buf.
class MemfdDmaBufs final : public DmaBufKernel {
 public:
  bool present = true;                 ///< the device is there and may be opened
  bool copies = false;                 ///< a broken one: its bytes are not the file's
  std::uint64_t limit = 64ULL << 20U;  ///< size_limit_mb
  unsigned created = 0;

  int open_device() noexcept override { return present ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : -ENOENT; }

  int create(int, int memory_file, std::uint64_t bytes) noexcept override {
    const int seals = ::fcntl(memory_file, F_GET_SEALS);

    struct stat status {};

    if (seals < 0 || ::fstat(memory_file, &status) != 0) {
      return -EBADFD;
    }
    const bool fits = bytes != 0 && bytes % 4096 == 0 && bytes <= static_cast<std::uint64_t>(status.st_size);
    if ((seals & F_SEAL_SHRINK) == 0 || (seals & F_SEAL_WRITE) != 0 || !fits || bytes > limit) {
      return -EINVAL;
    }
    ++created;
    const int buffer =
        copies ? ::memfd_create("copy", MFD_CLOEXEC) : ::fcntl(memory_file, F_DUPFD_CLOEXEC, 0);
    if (copies && ::ftruncate(buffer, status.st_size) != 0) {
      return -ENOMEM;
    }
    return buffer >= 0 ? buffer : -errno;
  }

  std::uint64_t most_bytes() noexcept override { return limit; }

  std::uint64_t bytes_of(int fd) noexcept override {
    struct stat status {};

    return ::fcntl(fd, F_GET_SEALS) >= 0 && ::fstat(fd, &status) == 0
               ? static_cast<std::uint64_t>(status.st_size)
               : 0;
  }
};

}  // namespace datum::test
