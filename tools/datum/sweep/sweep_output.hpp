// A sweep as text: a table, CSV, JSON, and one page with charts that needs no network.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/datum/sweep/sweep.hpp"

namespace datum::tool {

/// Sizes down, series across.
[[nodiscard]] std::string sweep_table(const Sweep& sweep);

/// A header, then a line for each point, with the fields of RFC 4180.
[[nodiscard]] std::string sweep_csv(const SweepReport& report);

[[nodiscard]] nlohmann::ordered_json sweep_json(const SweepReport& report);

/// A picture in SVG, as an element of HTML.
[[nodiscard]] std::string sweep_chart(const Sweep& sweep);

[[nodiscard]] std::string sweep_page(const SweepReport& report);

}  // namespace datum::tool
