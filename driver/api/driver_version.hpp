// The version of the driver, which is the project's (CMakeLists.txt), in the forms that the API wants.
#pragma once

#include <cstdint>
#include <string_view>

namespace datum::api {

inline constexpr std::string_view driver_version_text = DATUM_VERSION_TEXT;
/// 8 bits major, 8 bits minor, 16 bits patch.
inline constexpr std::uint32_t driver_version = (std::uint32_t{DATUM_VERSION_MAJOR} << 24U) |
                                                (std::uint32_t{DATUM_VERSION_MINOR} << 16U) |
                                                DATUM_VERSION_PATCH;
static_assert(DATUM_VERSION_MAJOR < 256 && DATUM_VERSION_MINOR < 256 && DATUM_VERSION_PATCH < 65536);

}  // namespace datum::api
