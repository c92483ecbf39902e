// The host's memory as the board's AXI manager meets it: answers after a latency, with back-pressure where it
// is asked for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/host/host_bus.hpp"
#include "sim/rtl/board_pins.hpp"
#include "sim/rtl/stimulus_random.hpp"

namespace datum::sim {

/// Reads are made when their first beat is due, writes when their last beat has come: what is unmapped before
/// that is refused. A burst is one access of the host bus. Answers come in the order of the questions; one
/// whose bytes are still on their way (HostBus::pending) holds up those behind it.
class HostSlave {
 public:
  struct Settings {
    unsigned latency_cycles = 0;
    unsigned backpressure_percent = 0;
    std::uint64_t seed = 0;
  };

  HostSlave(BoardPins& pins, HostBus& host, const Settings& settings);

  /// Forgets everything under way, as in reset.
  void idle() noexcept;
  /// Sets the inputs of `cycle`.
  void drive(std::uint64_t cycle);
  void sample() noexcept;
  void advance(std::uint64_t cycle);

  /// Beats of data that crossed the bus since the board was opened.
  [[nodiscard]] std::uint64_t read_beats() const noexcept { return read_beats_; }

  [[nodiscard]] std::uint64_t write_beats() const noexcept { return write_beats_; }

 private:
  static constexpr std::size_t beat_bytes = 64;
  static constexpr std::size_t max_bursts = 64;  // of each kind, under way
  static constexpr CData okay = 0;
  static constexpr CData slave_error = 2;

  struct Address {
    SData id = 0;
    std::uint64_t address = 0;
    std::size_t beats = 0;
    std::size_t size_bytes = 0;
    std::uint64_t due = 0;
  };

  struct Answer {
    SData id = 0;
    CData response = okay;
    std::uint64_t due = 0;
  };

  struct WriteBeat {
    std::array<std::byte, beat_bytes> data{};
    std::uint64_t strobes = 0;
  };

  [[nodiscard]] bool ready() noexcept { return !random_.happens(stall_percent_); }

  void fetch(const Address& burst, std::uint64_t cycle);
  void drive_read_beat() noexcept;
  void gather_runs(std::uint64_t base);
  [[nodiscard]] bool perform_write(const Address& burst, std::uint64_t cycle);

  BoardPins& pins_;
  HostBus& host_;
  StimulusRandom random_;
  unsigned latency_cycles_;
  unsigned stall_percent_;

  std::deque<Address> reads_;
  std::vector<std::byte> read_data_;  // of the burst in front, lane by lane
  std::uint64_t readable_bytes_ = 0;
  bool fetched_ = false;
  std::size_t read_beat_ = 0;

  std::deque<Address> writes_;
  std::vector<WriteBeat> write_data_;
  bool write_complete_ = false;  // the last beat of the burst in front has come

  /// Neighbouring bytes whose strobes are set. Nearly every burst is one run.
  struct Run {
    std::uint64_t address = 0;
    std::size_t first = 0;  // in run_bytes_
    std::size_t bytes = 0;
  };

  std::vector<std::byte> run_bytes_;
  std::vector<Run> runs_;     // of the burst in front, once it is complete
  std::size_t next_run_ = 0;  // those before have been written
  bool all_written_ = true;
  std::deque<Answer> answers_;

  bool aw_ = false;
  bool w_ = false;
  bool b_ = false;
  bool ar_ = false;
  bool r_ = false;
  Address taken_read_;
  Address taken_write_;

  std::uint64_t read_beats_ = 0;
  std::uint64_t write_beats_ = 0;
};

}  // namespace datum::sim
