// Libraries of somebody's own RTL, which `rtl:design=...` addresses name.
#pragma once

#include <string>

#include <datum/base/result.hpp>
#include <datum/board/design.h>

namespace datum::sim {

/// Where designs are looked for that are named without a path: folders, separated by colons. Behind them
/// comes the folder of the simulation plugin.
inline constexpr const char* design_path_variable = "DATUM_DESIGN_PATH";

/// `name` is a file if it has a slash, else it stands for libdatum_board_NAME.so. The library stays loaded,
/// and is loaded once. invalid_argument: there is no such library, it cannot be loaded, it is no design, or
/// one that was built for another release. Any thread.
[[nodiscard]] Result<const datum_design*> load_design(const std::string& name);

}  // namespace datum::sim
