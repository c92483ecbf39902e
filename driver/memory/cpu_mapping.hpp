// What the CPU sees at reserved addresses: nothing, or the pages of a physical memory object in host memory.
#pragma once

#include <cstdint>

#include <datum/base/result.hpp>

#include "driver/memory/virtual_ranges.hpp"

namespace datum {

/// The kernel has no more mappings for the process, or had none for this range.
[[nodiscard]] Error no_more_mappings(std::uintptr_t base, std::uint64_t bytes);
/// Maps `bytes` of `object`, which is in host memory, from `offset` on at `base`. out_of_host_memory: the
/// kernel has no more mappings for the process; then the range is as it was.
Status map_for_cpu(std::uintptr_t base, std::uint64_t bytes, const PhysicalMemory& object,
                   std::uint64_t offset, PageAccess access);
/// Changes what the CPU may do with mapped pages. out_of_host_memory: the same.
Status protect_for_cpu(std::uintptr_t base, std::uint64_t bytes, PageAccess access);

}  // namespace datum
