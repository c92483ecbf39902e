// Where a virtual address of an address space leads, as the board's own walker finds it.
#pragma once

#include <cstdint>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

#include "tools/datum/device_memory.hpp"

namespace datum::tool {

struct WalkEnd {
  bool host = false;       ///< host memory, which only the board and its application can reach
  DeviceAddress device{};  ///< where it is not
  Iova iova{};             ///< where it is
  bool writable = false;
  std::uint64_t bytes = 0;  ///< from the address to the end of its page
};

/// Follows the tables of `space` for `va`. invalid_argument: no such space, an address above 48 bits;
/// address_not_found: nothing is mapped there, and at which level; unknown: an entry breaks the format.
[[nodiscard]] Result<WalkEnd> walk(OpenBoard& board, DeviceMemory& memory, unsigned space, DeviceVa va);

}  // namespace datum::tool
