#include "tools/bench/map_calls.hpp"

#include <chrono>
#include <cstdarg>
#include <linux/vfio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "vfio_backend/uapi/iommufd.hpp"

namespace {

constinit thread_local datum::bench::MapCalls calls;

bool maps_memory(unsigned long request) noexcept {
  return request == VFIO_IOMMU_MAP_DMA || request == datum::vfio::uapi::iommu_ioas_map ||
         request == datum::vfio::uapi::iommu_ioas_map_file;
}

}  // namespace

namespace datum::bench {

MapCalls take_map_calls() noexcept { return std::exchange(calls, {}); }

}  // namespace datum::bench

// Libraries that the loader opens find this one before the C library's.
extern "C" [[gnu::visibility("default")]] int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (!maps_memory(request)) {
    return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
  }
  const auto start = std::chrono::steady_clock::now();
  const long result = ::syscall(SYS_ioctl, fd, request, argument);
  calls.ns += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  ++calls.count;
  return static_cast<int>(result);
}
