#include "driver/memory/cpu_mapping.hpp"

#include <cerrno>
#include <sys/mman.h>

#include <fmt/format.h>

#include "driver/memory/host_limits.hpp"
#include "driver/memory/physical_memory.hpp"

namespace datum {
namespace {

int protection_of(PageAccess access) noexcept {
  switch (access) {
  case PageAccess::none:
    return PROT_NONE;
  case PageAccess::read_write:
    return PROT_READ | PROT_WRITE;
  case PageAccess::read_only:
    return PROT_READ;
  }
  return PROT_NONE;
}

}  // namespace

Error no_more_mappings(std::uintptr_t base, std::uint64_t bytes) {
  return no_host_memory(fmt::format("{} bytes at {:#x} cannot be mapped for the CPU", bytes, base), ENOMEM);
}

Status map_for_cpu(std::uintptr_t base, std::uint64_t bytes, const PhysicalMemory& object,
                   std::uint64_t offset, PageAccess access) {
  void* mapped = ::mmap(reinterpret_cast<void*>(base), bytes, protection_of(access), MAP_SHARED | MAP_FIXED,
                        object.host().file(), static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? Status(no_more_mappings(base, bytes)) : Status{};
}

Status protect_for_cpu(std::uintptr_t base, std::uint64_t bytes, PageAccess access) {
  return ::mprotect(reinterpret_cast<void*>(base), bytes, protection_of(access)) != 0
             ? Status(no_more_mappings(base, bytes))
             : Status{};
}

}  // namespace datum
