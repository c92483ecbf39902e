// One Verilated model of the board, whichever of the two it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/rtl/board_pins.hpp"

namespace datum::sim {

struct VerilatedSettings {
  std::uint64_t seed = 0;     ///< of the values that registers have before reset, in the instrumented model
  bool waveforms = false;     ///< there will be some; only the instrumented model has them
  std::string coverage_file;  ///< written when the model goes; only the instrumented model
};

class VerilatedBoard {
 public:
  VerilatedBoard() = default;
  virtual ~VerilatedBoard() = default;
  VerilatedBoard(const VerilatedBoard&) = delete;
  VerilatedBoard& operator=(const VerilatedBoard&) = delete;

  /// Lets the model see its inputs. Throws rtl_model::ModelFailure.
  virtual void evaluate() = 0;
  /// Begins a waveform (FST) in `file`, of the signals below these scopes ("TOP.datum_board.u_mmu"); without
  /// one, of all. Whatever the file held is gone. Models without waveforms do nothing.
  virtual void open_waveform(const std::string& file, const std::vector<std::string>& scopes) = 0;
  /// Puts the signals into the waveform, if one is open.
  virtual void dump(std::uint64_t time_ps) = 0;
  /// What was dumped goes to the file with the next dump.
  virtual void flush_waveform() = 0;
  /// The file is whole afterwards.
  virtual void close_waveform() = 0;
  [[nodiscard]] virtual BoardPins& pins() noexcept = 0;
};

[[nodiscard]] std::unique_ptr<VerilatedBoard> make_fast_board(const VerilatedSettings& settings);
[[nodiscard]] std::unique_ptr<VerilatedBoard> make_instrumented_board(const VerilatedSettings& settings);

}  // namespace datum::sim
