// The groups of benchmarks; each runs in a process of its own, because the loader chooses the board once.
#pragma once

#include <vector>

#include "tools/bench/figure.hpp"

namespace datum::bench {

/// Allocation and pointer queries, host side, on model:.
std::vector<Figure> run_memory_group();
/// Recording and executing commands, host side, on model:.
std::vector<Figure> run_commands_group();
/// Cycles of the copy engine alone and of the whole board; exact.
std::vector<Figure> run_rtl_group();
/// What the simulation costs the host.
std::vector<Figure> run_sim_group();

}  // namespace datum::bench
