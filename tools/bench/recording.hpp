// What recording costs the host: appended copies, events; of any driver.
#pragma once

#include <vector>

#include "tools/bench/figure.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {

[[nodiscard]] std::vector<Figure> measure_recording(const Session& session);

}  // namespace datum::bench
