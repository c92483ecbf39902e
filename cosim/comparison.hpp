// One program on several boards, held against what it leaves on the host.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <datum/board/pcie_function.hpp>

#include "cosim/board_run.hpp"
#include "cosim/program.hpp"

namespace datum::cosim {

/// What is known of a program that fails on a board.
struct Finding {
  std::uint64_t seed = 0;
  std::size_t operations = 0;   ///< of the program as it was drawn
  Program shortest;             ///< that fails, too; the program itself unless it was asked to be shrunk
  std::size_t board_index = 0;  ///< among those compared: the one that fails
  std::string board;            ///< its address
  std::string failure;          ///< of the shortest program, in words
  std::optional<WrongPlace> place;
};

/// The first of the boards on which the program does not leave what it leaves on the host; nothing: they
/// agree. With `shrinks` the program is made as short as fails.
[[nodiscard]] std::optional<Finding> compare(const Program& program,
                                             std::span<board::PcieFunction* const> boards, bool shrinks);

/// For people: seed, board, place, and the shortest program.
[[nodiscard]] std::string describe(const Finding& finding);

}  // namespace datum::cosim
