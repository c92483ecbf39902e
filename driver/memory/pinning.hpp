// Whether copies pin ordinary memory of the process.
#pragma once

#include <string_view>

namespace datum {

/// The environment variable with which a user turns that off: copies then go through memory of the driver's.
inline constexpr const char* pinning_variable = "DATUM_PINNING";

/// What a value of the variable asks for; null, empty and what means nothing leave it on.
[[nodiscard]] inline bool pins_ordinary_memory(const char* value) noexcept {
  return value == nullptr || std::string_view(value) != "off";
}

/// Whether the value means something.
[[nodiscard]] inline bool is_pinning(const char* value) noexcept {
  return value == nullptr || *value == '\0' || std::string_view(value) == "off" ||
         std::string_view(value) == "on";
}

}  // namespace datum
