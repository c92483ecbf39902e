// From what a command line names to runs of device memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <datum/board/pcie_function.hpp>

#include "tools/datum/device_memory.hpp"

namespace datum::tool {

/// Device memory by its own address, or, with a `space`, by a virtual address of it.
struct MemoryPlace {
  std::uint64_t address = 0;
  unsigned ordinal = 0;
  std::optional<unsigned> space;
};

/// The runs that the bytes lie in, in their order; neighbours are joined. address_not_found: a page is not
/// mapped, or is host memory; else as DeviceMemory and walk.
[[nodiscard]] Result<std::vector<board::DeviceRange>>
find_runs(OpenBoard& board, DeviceMemory& memory, const MemoryPlace& place, std::uint64_t bytes);

/// Hands the bytes of `runs` to `take`, at most 1 MiB at a time.
Status read_runs(DeviceMemory& memory, std::span<const board::DeviceRange> runs,
                 const std::function<Status(std::span<const std::byte>)>& take);

/// Asks `give` for the bytes of `runs`, at most 1 MiB at a time.
Status write_runs(DeviceMemory& memory, std::span<const board::DeviceRange> runs,
                  const std::function<Status(std::span<std::byte>)>& give);

}  // namespace datum::tool
