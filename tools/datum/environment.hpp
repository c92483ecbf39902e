// Which driver the loader is told to take, and which boards the driver.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <datum/base/result.hpp>

namespace datum::tool {

/// libze_datum.so as it lies beside this program: in its folder, or in the library folder of the same tree.
[[nodiscard]] std::optional<std::filesystem::path> driver_beside_program();

/// libdatum_sim.so, where the driver looks for it when DATUM_SIM_PLUGIN is not set.
[[nodiscard]] std::optional<std::filesystem::path> plugin_beside_driver();

/// What is wrong with the value of ZE_ENABLE_ALT_DRIVERS: loaders crash or hang on an empty entry.
[[nodiscard]] Status check_driver_list(const char* value);

/// The line that a shell needs for the loader to find the driver. Drivers of others stay, before it, as
/// `datum env` has them.
[[nodiscard]] std::string driver_list_cure();

/// With `name_driver`, names the driver beside this program to the loader, unless the caller's environment
/// names drivers. A `board` that is not empty takes the place of DATUM_BOARDS. Before any thread is started.
Status prepare_environment(const std::string& board, bool name_driver);

}  // namespace datum::tool
