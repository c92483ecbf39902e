// The part of a simulated board that computes: the golden model or the Verilated RTL. Everything around it is
// the same for both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace datum::sim {

/// What an engine has left to do.
struct Activity {
  bool quiescent =
      true;  ///< nothing in flight; no need to run it until a register is written or a parked ring is due
  bool parked = false;  ///< some ring waits for a word that it should look at again now and then
};

/// Called by one thread at a time, the one that has the board's turn. Nothing here waits for host time.
class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Single accesses, naturally aligned, inside the BAR. They take the cycles that they need.
  virtual std::uint32_t read_register32(std::uint32_t offset) = 0;
  virtual std::uint64_t read_register64(std::uint32_t offset) = 0;
  virtual void write_register32(std::uint32_t offset, std::uint32_t value) = 0;
  virtual void write_register64(std::uint32_t offset, std::uint64_t value) = 0;
  /// BAR2, any offset and size.
  virtual void read_aperture(std::uint64_t offset, std::span<std::byte> to) = 0;
  virtual void write_aperture(std::uint64_t offset, std::span<const std::byte> from) = 0;
  /// BAR4.
  virtual void write_message_table32(std::uint32_t offset, std::uint32_t value) = 0;

  /// Goes on for about `cycles`; comes back early when quiescent.
  virtual Activity run(std::uint64_t cycles) = 0;
  [[nodiscard]] virtual Activity activity() const = 0;

  /// Power-on state, except for memory contents. Also lifts a loss.
  virtual void power_on() = 0;

  /// Cycles since the board was opened.
  [[nodiscard]] virtual std::uint64_t cycle() const = 0;

  /// Empty, or why the engine cannot go on; it ignores all calls but power_on then.
  [[nodiscard]] virtual const std::string& lost() const = 0;
};

}  // namespace datum::sim
