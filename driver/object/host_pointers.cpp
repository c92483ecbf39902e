#include "driver/object/host_pointers.hpp"

#include <cerrno>
#include <sys/mman.h>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/mutex.hpp>

namespace datum {
namespace {

constexpr std::uintptr_t page_bytes = 4096;

/// Whether something is mapped everywhere in the range, whatever the rights.
bool is_mapped(std::uintptr_t first, std::uint64_t bytes) noexcept {
  const std::uintptr_t begin = first / page_bytes * page_bytes;
  return ::msync(reinterpret_cast<void*>(begin), first - begin + bytes, MS_ASYNC) == 0 || errno != ENOMEM;
}

}  // namespace

Status HostPointers::import(void* pointer, std::uint64_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(pointer);
  std::uintptr_t end = 0;
  if (bytes == 0 || __builtin_add_overflow(first, bytes, &end)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} bytes at {:#x} are no range", bytes, first));
  }
  if (!is_mapped(first, bytes)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the {} bytes at {:#x} are not all mapped in this process", bytes, first));
  }
  const ScopedLock lock(mutex_);
  const auto next = ranges_.lower_bound(end);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second > first) {
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("{} bytes at {:#x} overlap the imported range at {:#x}", bytes, first, before->first));
    }
  }
  ranges_.emplace(first, bytes);
  return {};
}

Status HostPointers::release(void* pointer) {
  const ScopedLock lock(mutex_);
  if (ranges_.erase(reinterpret_cast<std::uintptr_t>(pointer)) == 0) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("no imported range begins at {}", fmt::ptr(pointer)));
  }
  return {};
}

Result<void*> HostPointers::base_of(const void* pointer) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const ScopedLock lock(mutex_);
  const auto next = ranges_.upper_bound(address);
  if (next != ranges_.begin()) {
    const auto range = std::prev(next);
    if (address - range->first < range->second) {
      return reinterpret_cast<void*>(range->first);
    }
  }
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{} is in no imported range", fmt::ptr(pointer)));
}

}  // namespace datum
