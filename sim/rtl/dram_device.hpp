// The DRAM behind the controller's command port: keeps the cells and their wrong bits, answers reads after
// CL, and checks every timing rule by itself.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/memory/dram_array.hpp"
#include "sim/memory/dram_geometry.hpp"
#include "sim/rtl/board_pins.hpp"
#include "sim/rtl/dram_timing.hpp"

namespace datum::sim {

/// Does not trust the controller: a command that comes too early, in the wrong state, or a refresh that comes
/// too late is a violation, after which the board is lost.
class DramDevice {
 public:
  DramDevice(BoardPins& pins, DramArray& array) noexcept : pins_(pins), array_(array) {}

  /// All banks closed, nothing under way. Until the timing is known no rule is checked and no read can be
  /// answered.
  void power_on() noexcept;
  void set_timing(const DramTiming& timing) noexcept;

  /// What software has programmed: counts behind the refresh with which the controller takes it.
  void program(const DramTiming& timing) noexcept { programmed_ = timing; }

  void drive(std::uint64_t cycle) noexcept;
  /// Takes the commands of `cycle`.
  void sample(std::uint64_t cycle);

  /// Empty, or the first rule that was broken.
  [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

 private:
  static constexpr unsigned banks = 16;
  static constexpr unsigned groups = 4;
  static constexpr unsigned lanes = 8;  // words of a column, each with check bits of its own
  static constexpr std::size_t longest_latency = 64;
  static constexpr std::uint64_t postponed_refreshes = 8;  // that the standard allows

  /// When something last happened; 0 for never, cycles count from far above.
  struct Bank {
    bool open = false;
    std::uint64_t row = 0;
    std::uint64_t activated = 0;
    std::uint64_t precharged = 0;
    std::uint64_t read = 0;
    std::uint64_t written = 0;
  };

  struct Read {
    bool valid = false;
    std::uint64_t due = 0;
    std::array<std::uint64_t, lanes> data{};
    std::uint64_t check = 0;
  };

  void activate(unsigned bank, std::uint64_t row, std::uint64_t now);
  void precharge(unsigned bank, std::uint64_t now);
  void refresh(std::uint64_t now);
  void read(unsigned bank, unsigned column, std::uint64_t now);
  void write(unsigned bank, unsigned column, std::uint64_t now);
  void check_column(unsigned bank, std::uint64_t now);
  void require(bool holds, const char* rule, unsigned bank, std::uint64_t now);
  /// The rule that `now` is at least `cycles` after `then`.
  void apart(std::uint64_t then, unsigned cycles, const char* rule, unsigned bank, std::uint64_t now);
  void fill(Read& answer, std::uint64_t address);
  void store_words(std::uint64_t address, std::span<std::byte> to);
  [[nodiscard]] std::span<std::byte> cells(std::uint64_t address) const noexcept;

  BoardPins& pins_;
  DramArray& array_;
  DramTiming timing_;
  DramTiming programmed_;
  bool timing_known_ = false;
  std::array<Bank, banks> bank_{};
  std::array<std::uint64_t, groups> group_column_{};
  std::array<std::uint64_t, groups> group_activate_{};
  std::array<std::uint64_t, 4> last_activates_{};  // newest first
  std::uint64_t last_read_ = 0;
  std::uint64_t last_write_ = 0;
  std::uint64_t last_refresh_ = 0;
  bool refreshed_ = false;                     // since power-on
  std::array<Read, longest_latency> reads_{};  // by due cycle
  std::string violation_;
};

}  // namespace datum::sim
