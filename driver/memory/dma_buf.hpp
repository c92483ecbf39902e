// Memory files as dma-bufs, which other drivers and other APIs import.
#pragma once

#include <cstdint>
#include <optional>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

namespace datum {

/// What the kernel is asked for. Failures are minus errno.
class DmaBufKernel {
 public:
  DmaBufKernel() = default;
  DmaBufKernel(const DmaBufKernel&) = delete;
  DmaBufKernel& operator=(const DmaBufKernel&) = delete;

  /// A descriptor of the device that makes dma-bufs.
  virtual int open_device() noexcept = 0;
  /// A dma-buf of the first `bytes` of a memory file, which cannot shrink and can be written.
  virtual int create(int device, int memory_file, std::uint64_t bytes) noexcept = 0;
  /// How large one may be, in bytes; 0: not known.
  virtual std::uint64_t most_bytes() noexcept = 0;
  /// Length of a dma-buf; 0: the descriptor is of something else.
  virtual std::uint64_t bytes_of(int fd) noexcept = 0;

 protected:
  ~DmaBufKernel() = default;  // nobody owns one by its base
};

/// /dev/udmabuf. Stateless: one for all.
[[nodiscard]] DmaBufKernel& linux_dma_bufs() noexcept;

/// Thread safe. `kernel` outlives it.
class DmaBufs {
 public:
  explicit DmaBufs(DmaBufKernel& kernel) noexcept : kernel_(&kernel) {}

  /// Whether a memory file becomes a dma-buf on this machine whose bytes are the file's. The first call tries
  /// it with a page.
  [[nodiscard]] bool work();

  /// A dma-buf of the first `bytes`, whole pages, of `memory_file`. It keeps the memory. unsupported_size:
  /// more than the kernel allows, with limit and cure; out_of_host_memory; unsupported_feature: there are
  /// none here.
  [[nodiscard]] Result<UniqueFd> make(int memory_file, std::uint64_t bytes);

  /// DmaBufKernel::bytes_of.
  [[nodiscard]] std::uint64_t bytes_of(int fd) const noexcept { return kernel_->bytes_of(fd); }

  /// For tests: asks another kernel from here on. Nobody uses it at the time.
  void use(DmaBufKernel& kernel) noexcept;

 private:
  [[nodiscard]] bool try_one() const;

  DmaBufKernel* kernel_;
  Mutex mutex_;
  std::optional<bool> work_ DATUM_GUARDED_BY(mutex_);
};

}  // namespace datum
