#include <Vdatum_board_instrumented.h>

#include "sim/rtl/verilated_board_of.hpp"

namespace datum::sim {

std::unique_ptr<VerilatedBoard> make_instrumented_board(const VerilatedSettings& settings) {
  return std::make_unique<VerilatedBoardOf<Vdatum_board_instrumented, true>>(settings);
}

}  // namespace datum::sim
