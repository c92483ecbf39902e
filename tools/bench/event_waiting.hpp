// How soon a thread that sleeps hears of an event, and what sleeping costs.
#pragma once

#include <vector>

#include "tools/bench/figure.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {

[[nodiscard]] std::vector<Figure> measure_event_waiting(const Session& session);

}  // namespace datum::bench
