// The management interface: what the board has left, and its reset.
#pragma once

#include <cstddef>
#include <cstdint>

#include <level_zero/ze_api.h>

namespace datum::soak {

/// Of the board with that number; by force it is reset under work.
[[nodiscard]] ze_result_t reset_board(std::size_t number, bool force = false);

/// Of all boards and their memories.
[[nodiscard]] std::uint64_t used_device_bytes();

}  // namespace datum::soak
