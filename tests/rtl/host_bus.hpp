// The host's end of the board's AXI master: memory behind a latency, with answers in order, errors on demand
// and optional back pressure.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "tests/rtl/sparse_memory.hpp"

namespace datum::rtl_test {

using BusWord = std::array<std::uint32_t, 16>;
inline constexpr unsigned bus_word_bytes = 64;

/// An address of a burst as it stands on the bus.
struct BusAddress {
  std::uint32_t id = 0;
  std::uint64_t address = 0;
  unsigned beats = 0;
};

struct BusAnswer {
  std::uint32_t id = 0;
  BusWord data{};
  unsigned response = 0;
  bool last = false;
};

class HostBus {
 public:
  static constexpr unsigned okay = 0;
  static constexpr unsigned slave_error = 2;

  SparseMemory memory;
  std::uint64_t latency_cycles = 20;

  /// Accesses that begin in [first, first + bytes) are answered with an error and change nothing.
  void refuse(std::uint64_t first, std::uint64_t bytes) { refused_.push_back({first, bytes}); }

  void refuse_nothing() { refused_.clear(); }

  /// Chance that ready or valid is held back in a cycle, percent.
  void hold_back(unsigned percent, std::uint32_t seed);

  void begin_cycle();  // draws what this cycle holds back

  [[nodiscard]] bool read_address_ready() const noexcept { return !hold_[0] && reads_.size() < 1024; }

  [[nodiscard]] bool write_address_ready() const noexcept { return !hold_[1] && writes_.size() < 1024; }

  [[nodiscard]] bool write_data_ready() const noexcept { return !hold_[2] && !writes_.empty(); }

  [[nodiscard]] const BusAnswer* read_data() const;
  [[nodiscard]] const BusAnswer* write_answer() const;

  void take_read_address(const BusAddress& address);
  void take_write_address(const BusAddress& address);
  void take_write_data(const BusWord& data, std::uint64_t strobe, bool last);
  void read_data_taken();
  void write_answer_taken();

  void end_cycle() { ++now_; }

  /// Address of each burst that was written, in order of its last beat.
  [[nodiscard]] const std::vector<std::uint64_t>& written_bursts() const noexcept { return written_; }

  [[nodiscard]] std::uint64_t read_bursts() const noexcept { return read_bursts_; }

 private:
  struct Burst {
    BusAddress address;
    std::uint64_t due;
    unsigned beat = 0;
    bool failed = false;
  };

  struct Range {
    std::uint64_t first;
    std::uint64_t bytes;
  };

  [[nodiscard]] bool refused(std::uint64_t address) const;
  void prepare_read();

  std::deque<Burst> reads_;
  std::deque<Burst> writes_;
  std::deque<std::pair<std::uint64_t, BusAnswer>> answers_;
  BusAnswer read_answer_;
  std::vector<Range> refused_;
  std::vector<std::uint64_t> written_;
  std::uint64_t read_bursts_ = 0;
  std::uint64_t now_ = 0;
  unsigned hold_percent_ = 0;
  std::mt19937 random_;
  std::array<bool, 5> hold_{};
};

}  // namespace datum::rtl_test
