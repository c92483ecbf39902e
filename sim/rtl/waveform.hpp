// The waveform of a board: which cycles go into it, and into which file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/board/waveform_options.hpp"
#include "sim/rtl/verilated_board.hpp"
#include "sim/rtl/waveform_files.hpp"

namespace datum::sim {

/// Windows by time, from triggers on, or around them, each in a file of its own. To keep the last cycles
/// before something that nobody knows yet, two files alternate: the one that is full takes the name of
/// file_before, and a new one begins.
class Waveform {
 public:
  /// Records into `file`, of those `scopes`. `board` and `options` outlive it; `options` name a file.
  Waveform(VerilatedBoard& board, const WaveformOptions& options, std::string file,
           std::vector<std::string> scopes);

  /// Before the board sees `cycle`.
  void begin_cycle(std::uint64_t cycle) {
    if (cycle >= due_) {
      decide(cycle);
    }
  }

  /// A trigger has come; it counts from the next cycle on. Inside a window it is a part of that one.
  void trigger() noexcept;
  /// Nothing is recorded any more, and the file is whole.
  void finish();

 private:
  enum class Stage : std::uint8_t { waits, records, is_done };

  void decide(std::uint64_t cycle);
  void open(std::uint64_t cycle);
  /// Where the window `window_` begins and ends, as far as that is known before a trigger.
  void arm();
  void end_window(std::uint64_t cycle);

  [[nodiscard]] std::string file() const { return file_of_window(file_, window_); }

  void begin_other_file(std::uint64_t cycle);
  /// In two steps, since a flush takes place in the cycle that follows it. False: the file is full.
  bool check_size(std::uint64_t cycle);

  VerilatedBoard& board_;
  const WaveformOptions& options_;
  std::string file_;
  std::vector<std::string> scopes_;
  bool keeps_last_;
  std::uint64_t windows_;
  std::uint64_t most_bytes_;  // of one file, before it is closed
  std::uint64_t window_ = 1;
  Stage stage_ = Stage::waits;
  bool triggered_ = false;
  bool ends_ = false;  // the trigger came, and end_ follows from it
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;  // the first cycle behind the window
  std::uint64_t opened_ = 0;
  std::uint64_t check_ = 0;
  bool flushed_ = false;
  std::uint64_t due_ = 0;  // nothing is to be decided before this cycle
};

}  // namespace datum::sim
