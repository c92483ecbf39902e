// The simulation's entries in the driver's table of backends.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <datum/board/backend.hpp>

#include "sim/board/sim_function.hpp"

namespace datum::sim {

/// Opens "rtl:..." or "model:...". DATUM_SIM_OPTIONS gives defaults of the options. invalid_argument: the
/// address makes no sense; unsupported_feature: this build has no RTL board; out_of_host_memory.
Result<std::unique_ptr<SimFunction>> open_simulated(std::string_view address);

/// rtl: and model:.
[[nodiscard]] const std::array<board::Backend, 2>& backends() noexcept;

}  // namespace datum::sim
