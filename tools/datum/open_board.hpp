// One board, opened for a look at its registers and memory: nothing is reset, no driver stands between.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum::tool {

/// Registers are read as they are, also where the board gives no sense: that is when one looks.
struct OpenBoard {
  std::unique_ptr<board::PcieFunction> function;
  board::Bar* registers = nullptr;  ///< BAR0
  board::Bar* aperture = nullptr;   ///< BAR2

  [[nodiscard]] const std::string& address() const noexcept { return function->info().address; }

  [[nodiscard]] std::uint64_t read(std::uint64_t offset, unsigned width_bits) noexcept {
    return width_bits == 64 ? registers->read64(offset) : registers->read32(offset);
  }

  void write(std::uint64_t offset, unsigned width_bits, std::uint64_t value) noexcept;
};

/// Which board: `named`, else the first of DATUM_BOARDS, else the only card that is bound. invalid_argument:
/// none or several cards.
[[nodiscard]] Result<std::string> chosen_board(const std::string& named);

/// Opens that board. Opening a card resets it, as the kernel does for whoever opens one.
[[nodiscard]] Result<OpenBoard> open_board(const std::string& named);

/// Takes over a function that was opened elsewhere. not_available: it lacks BAR0 or BAR2.
[[nodiscard]] Result<OpenBoard> adopt_board(std::unique_ptr<board::PcieFunction> function);

/// What is wrong with the board as a whole; empty: it answers as a Datum board does.
[[nodiscard]] std::string board_complaint(OpenBoard& board);

/// Says on standard error what is wrong with the board as a whole, if anything is. Whether it is.
bool warn_of_board(OpenBoard& board);

}  // namespace datum::tool
