// Buffers of other drivers, as descriptors.
#pragma once

#include <cstdint>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace datum {

/// Length of the dma-buf behind `fd`; 0: it is none. A dma-buf never changes its length.
[[nodiscard]] inline std::uint64_t dma_buf_bytes(int fd) noexcept {
  struct statfs system {};

  if (::fstatfs(fd, &system) != 0 || system.f_type != DMA_BUF_MAGIC) {
    return 0;
  }
  const off_t end = ::lseek(fd, 0, SEEK_END);  // which moves nothing: a dma-buf has no position
  return end > 0 ? static_cast<std::uint64_t>(end) : 0;
}

}  // namespace datum
