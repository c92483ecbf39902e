// A program on a board, through Level Zero.
#pragma once

#include <optional>
#include <string>

#include <level_zero/ze_api.h>

#include "cosim/program.hpp"

namespace datum::parity {

/// Memory after the program, or the call that failed.
struct BoardOutcome {
  cosim::Memory memory;
  std::string failure;  ///< empty: none
};

/// Runs the program on `device` in a context of its own.
[[nodiscard]] BoardOutcome run_on_board(const cosim::Program& program, ze_driver_handle_t driver,
                                        ze_device_handle_t device);

}  // namespace datum::parity
