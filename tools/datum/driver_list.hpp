// The value of ZE_ENABLE_ALT_DRIVERS with which the loader finds Datum's driver and loses no other.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <datum/base/result.hpp>

namespace datum::tool {

/// What a loader reads: drivers, separated by commas.
inline constexpr const char* driver_variable = "ZE_ENABLE_ALT_DRIVERS";

/// Drivers that a loader finds without the variable, in the order in which it looks for them: the first file
/// of each known name in `folders`. The variable takes the place of that search.
[[nodiscard]] std::vector<std::filesystem::path>
installed_drivers(std::span<const std::filesystem::path> folders);

/// Folders in which a loader looks: those of LD_LIBRARY_PATH, the usual ones, those of /etc/ld.so.conf.d.
[[nodiscard]] std::vector<std::filesystem::path> loader_folders();

/// `listed` is the variable as it is (null: not set). Its drivers, else `installed`, come first and `own`
/// last; no entry is empty, and `own` stands there once. invalid_argument: a comma in the path of `own`.
[[nodiscard]] Result<std::vector<std::string>> driver_list(const char* listed,
                                                           std::span<const std::filesystem::path> installed,
                                                           const std::filesystem::path& own);

}  // namespace datum::tool
