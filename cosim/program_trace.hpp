// A timeline of one program on one board after the other, in the form of the driver's own.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "cosim/board_run.hpp"
#include "cosim/program.hpp"
#include "driver/trace/event.hpp"
#include "driver/trace/names.hpp"

namespace datum::cosim {

/// Each board's time begins at 0 with the program, so that boards stand above one another. Operations are
/// calls, and arrows lead from each to its descriptors.
class ProgramTrace {
 public:
  enum class Order : std::uint8_t {
    as_it_is,    ///< everything runs beside everything else
    one_by_one,  ///< as first_wrong_operation has it
  };

  /// `program` outlives it.
  ProgramTrace(const Program& program, Order order);

  struct Outcome {
    std::optional<WrongPlace> place;  ///< one_by_one alone
    std::string failure;              ///< as_it_is alone: why it did not end
  };

  /// Runs the program; its timeline is added under that name.
  Outcome run(board::PcieFunction& function, const std::string& name);

  /// invalid_argument: the file cannot be written.
  [[nodiscard]] Status write(const std::string& file) const;

 private:
  friend class BoardTrace;

  const Program& program_;
  Order order_;
  std::deque<trace::Event> events_;
  std::deque<std::string> texts_;  // of events
  trace::Names names_;
};

}  // namespace datum::cosim
