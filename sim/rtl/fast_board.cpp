#include <Vdatum_board_fast.h>

#include "sim/rtl/verilated_board_of.hpp"

namespace datum::sim {

std::unique_ptr<VerilatedBoard> make_fast_board(const VerilatedSettings& settings) {
  return std::make_unique<VerilatedBoardOf<Vdatum_board_fast, false>>(settings);
}

}  // namespace datum::sim
