// Ports of a board whose clock never ticks: a test sets the board's outputs itself and looks at what stands
// at the ports does.
#pragma once

#include <memory>

#include "sim/rtl/verilated_board.hpp"

namespace datum::sim {

class UndrivenBoard {
 public:
  UndrivenBoard() : model_(make_fast_board({})) {}

  [[nodiscard]] BoardPins& pins() noexcept { return model_->pins(); }

 private:
  std::unique_ptr<VerilatedBoard> model_;
};

}  // namespace datum::sim
