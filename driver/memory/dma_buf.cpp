#include "driver/memory/dma_buf.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/dma_buf.hpp>
#include <datum/base/mapping.hpp>
#include <datum/base/memory_file.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/private_fd.hpp>

#include "driver/memory/host_limits.hpp"

namespace datum {
namespace {

constexpr const char* device_path = "/dev/udmabuf";
constexpr const char* limit_path = "/sys/module/udmabuf/parameters/size_limit_mb";
constexpr std::uint64_t mib = 1ULL << 20U;

class LinuxDmaBufs final : public DmaBufKernel {
 public:
  int open_device() noexcept override {
    const int device = private_fd(::open(device_path, O_RDWR | O_CLOEXEC));
    return device >= 0 ? device : -errno;
  }

  int create(int device, int memory_file, std::uint64_t bytes) noexcept override {
    udmabuf_create wanted{};
    wanted.memfd = static_cast<std::uint32_t>(memory_file);
    wanted.flags = UDMABUF_FLAGS_CLOEXEC;
    wanted.size = bytes;
    const int buffer = private_fd(::ioctl(device, UDMABUF_CREATE, &wanted));
    return buffer >= 0 ? buffer : -errno;
  }

  std::uint64_t most_bytes() noexcept override {
    const UniqueFd file(::open(limit_path, O_RDONLY | O_CLOEXEC));
    char text[24]{};
    const ssize_t got = file.valid() ? ::read(file.get(), text, sizeof text - 1) : 0;
    return got > 0 ? std::strtoull(text, nullptr, 10) * mib : 0;
  }

  std::uint64_t bytes_of(int fd) noexcept override { return dma_buf_bytes(fd); }
};

}  // namespace

DmaBufKernel& linux_dma_bufs() noexcept {
  static constinit LinuxDmaBufs kernel;
  return kernel;
}

bool DmaBufs::work() {
  const ScopedLock lock(mutex_);
  if (!work_) {
    work_ = try_one();
  }
  return *work_;
}

void DmaBufs::use(DmaBufKernel& kernel) noexcept {
  const ScopedLock lock(mutex_);
  kernel_ = &kernel;
  work_.reset();
}

/// A device that is there may still refuse, or the kernel may not let the CPU see the buffer.
bool DmaBufs::try_one() const {
  constexpr std::uint64_t bytes = small_page_bytes;
  const UniqueFd device(kernel_->open_device());
  const UniqueFd file = make_memory_file("datum:try");
  if (!device.valid() || !file.valid() || resize_memory_file(file.get(), bytes) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    return false;
  }
  const UniqueFd buffer(kernel_->create(device.get(), file.get(), bytes));
  if (!buffer.valid() || kernel_->bytes_of(buffer.get()) != bytes) {
    return false;
  }
  void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.get(), 0);
  if (base == MAP_FAILED) {
    return false;
  }
  const Mapping view(base, bytes);
  constexpr std::uint64_t word = 0x6d75'7461'6420'7369;
  std::memcpy(view.data(), &word, sizeof word);
  std::uint64_t found = 0;
  return ::pread(file.get(), &found, sizeof found, 0) == sizeof found && found == word;
}

Result<UniqueFd> DmaBufs::make(int memory_file, std::uint64_t bytes) {
  const UniqueFd device(kernel_->open_device());
  if (!device.valid()) {
    return Error{ErrorCode::unsupported_feature,
                 -device.get(),
                 fmt::format("this machine makes no dma-bufs: {} cannot be opened", device_path),
                 {}};
  }
  const int buffer = kernel_->create(device.get(), memory_file, bytes);
  if (buffer >= 0) {
    return UniqueFd(buffer);
  }
  const std::uint64_t most = kernel_->most_bytes();
  if (most != 0 && bytes > most) {
    return Error{
        ErrorCode::unsupported_size, -buffer,
        fmt::format("{} bytes are more than a dma-buf may have on this machine, which is {}", bytes, most),
        fmt::format("raise {}", limit_path)};
  }
  return no_host_memory(fmt::format("no dma-buf of {} bytes to be had", bytes), -buffer);
}

}  // namespace datum
