// What the calling thread does itself for a list with one copy.
#pragma once

#include "tools/bench/figure.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {

/// Of any driver, also of one that executes nothing.
[[nodiscard]] Figure measure_host_work(const Session& session);

}  // namespace datum::bench
