// Whether a Level Zero program would find the driver, and the driver its board.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/datum/child_process.hpp"
#include "vfio_backend/doctor.hpp"

namespace datum::tool {

/// loader_finds_driver and driver_opens_board, from the end of a child that ran `datum list --json`.
/// `driver_list` is the value of ZE_ENABLE_ALT_DRIVERS and `boards` that of DATUM_BOARDS, null where they are
/// not set.
[[nodiscard]] std::vector<vfio::Check> judge_child(const ChildEnd& end, const char* driver_list,
                                                   const char* boards = nullptr);

/// Starts that child, unless the environment would crash it. It opens the board as any program does.
[[nodiscard]] std::vector<vfio::Check> check_driver();

/// The plugin for rtl: and model:. A failure only where `needed`.
[[nodiscard]] vfio::Check check_plugin(bool needed);

}  // namespace datum::tool
