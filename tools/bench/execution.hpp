// What executing a list costs: the host's own work, the way there and back, and the bytes moved.
#pragma once

#include <vector>

#include "tools/bench/figure.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {

[[nodiscard]] std::vector<Figure> measure_execution(const Session& session);

}  // namespace datum::bench
