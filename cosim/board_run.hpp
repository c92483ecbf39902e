// A program on a board, straight on the seam: no driver stands between, so each descriptor is known.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <datum/board/pcie_function.hpp>
#include <datum/hw/registers.hpp>

#include "cosim/board_driver.hpp"
#include "cosim/program.hpp"

namespace datum::cosim {

/// Memory after the program, or why it did not end.
struct BoardOutcome {
  Memory memory;
  std::string failure;  ///< empty: none
};

/// Who looks on at a program, ring by ring.
class ProgramWatch : public RingWatch {
 public:
  /// What is pushed from here on is of this operation.
  virtual void begins(unsigned operation) = 0;
};

/// Resets the board and runs the program: a queue is a ring, operations are descriptors. Whoever calls has
/// the board for himself. Step-locked boards repeat themselves.
[[nodiscard]] BoardOutcome run_on_board(const Program& program, board::PcieFunction& function,
                                        ProgramWatch* watch = nullptr);

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
[[nodiscard]] std::optional<WrongPlace>
first_wrong_operation(const Program& program, board::PcieFunction& function, ProgramWatch* watch = nullptr);

}  // namespace datum::cosim
