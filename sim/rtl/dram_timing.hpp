// The rules between DRAM commands, in cycles of the controller.
#pragma once

#include <cstdint>

#include <datum/hw/registers.hpp>

namespace datum::sim {

/// As the controller announces them in its MC_TIMING registers.
struct DramTiming {
  hw::McTiming0Register row;
  hw::McTiming1Register column;
  hw::McTiming2Register refresh;
  hw::McTiming3Register recovery;
};

}  // namespace datum::sim
