// What the demo prints about the driver and the device that it found.
#pragma once

#include "tools/demo/level_zero_session.hpp"

namespace datum::demo {

void print_findings(const Session& session);

/// "1.5 MiB", "4 GiB", "17 B".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace datum::demo
