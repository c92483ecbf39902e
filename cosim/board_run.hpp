// A program on a board, straight on the seam: no driver stands between, so each descriptor is known.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <datum/board/pcie_function.hpp>
#include <datum/hw/registers.hpp>

#include "cosim/program.hpp"

namespace datum::cosim {

/// Memory after the program, or why it did not end.
struct BoardOutcome {
  Memory memory;
  std::string failure;  ///< empty: none
};

/// Resets the board and runs the program: a queue is a ring, operations are descriptors. Whoever calls has
/// the board for himself. Step-locked boards repeat themselves.
[[nodiscard]] BoardOutcome run_on_board(const Program& program, board::PcieFunction& function);

/// Where an operation went wrong.
struct WrongPlace {
  unsigned operation = 0;
  Difference difference;
  hw::Descriptor descriptor;
  std::string memory;         ///< "device", "on-chip", "host"
  std::uint64_t address = 0;  ///< of the byte: in that memory, of the host an IOVA
  std::uint64_t first_cycle = 0;
  std::uint64_t last_cycle = 0;  ///< CYCLES when the operation was given to the board, and when it had ended
};

/// Runs the operations one after the other and compares after each. Nothing: they leave what they should
/// then, so that what fails is how they run beside one another.
[[nodiscard]] std::optional<WrongPlace> first_wrong_operation(const Program& program,
                                                              board::PcieFunction& function);

}  // namespace datum::cosim
