// How the driver shows its boards to programs.
#pragma once

#include <cstdint>
#include <string_view>

namespace datum {

enum class Attitude : std::uint8_t {
  fpga,  ///< as what they are: type FPGA, and who asks for GPUs alone is declined
  gpu,   ///< for middleware that knows nothing but GPUs; docs/compatibility.md
};

/// The environment variable that chooses.
inline constexpr const char* attitude_variable = "DATUM_COMPAT";

/// What a value of the variable asks for, null for none; what means nothing is the strict attitude.
[[nodiscard]] Attitude attitude_of(const char* value) noexcept;
/// Whether the value means something; null and empty do.
[[nodiscard]] bool is_attitude(const char* value) noexcept;

/// The attitude of this process's driver; before there is one, what the environment asks for.
[[nodiscard]] Attitude attitude() noexcept;

}  // namespace datum
