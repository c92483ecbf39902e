// What the whole board moves in exact cycles, over several of its channels at once.
#pragma once

#include <vector>

#include "tools/bench/figure.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {

/// Shares of the host's bus and of the DRAM's data bus. `session` is on an `rtl:` board of 64 MiB at least.
[[nodiscard]] std::vector<Figure> measure_board_traffic(const Session& session);

}  // namespace datum::bench
