// A model of somebody's own RTL, from a library that was built elsewhere, as a VerilatedBoard.
#pragma once

#include <memory>

#include <datum/board/design.h>

#include "sim/rtl/verilated_board.hpp"

namespace datum::sim {

/// `design` outlives the board. Throws std::bad_alloc.
[[nodiscard]] std::unique_ptr<VerilatedBoard>
make_design_board(const datum_design& design, const VerilatedSettings& settings, bool instrumented);

}  // namespace datum::sim
