// One Verilated model of the board, whichever of the two it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/rtl/board_pins.hpp"

namespace datum::sim {

struct VerilatedSettings {
  std::uint64_t seed = 0;     ///< of the values that registers have before reset, in the instrumented model
  std::string trace_file;     ///< FST; only the instrumented model writes one
  std::string coverage_file;  ///< written when the model goes; only the instrumented model
};

class VerilatedBoard {
 public:
  virtual ~VerilatedBoard() = default;

  /// Lets the model see its inputs. Throws rtl_model::ModelFailure.
  virtual void evaluate() = 0;
  /// Puts the ports into the waveform, if one is written.
  virtual void dump(std::uint64_t time_ps) = 0;
  [[nodiscard]] virtual BoardPins& pins() noexcept = 0;
};

[[nodiscard]] std::unique_ptr<VerilatedBoard> make_fast_board(const VerilatedSettings& settings);
[[nodiscard]] std::unique_ptr<VerilatedBoard> make_instrumented_board(const VerilatedSettings& settings);

}  // namespace datum::sim
