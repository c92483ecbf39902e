// The golden model's error correction: what the controller finds in words whose bits are wrong, its scrubber
// and its error injection.
#pragma once

#include <cstdint>

#include <datum/hw/registers.hpp>

#include "sim/memory/dram_array.hpp"
#include "sim/model/counters.hpp"

namespace datum::sim {

/// The first error of a kind since the log was emptied.
struct EccLog {
  bool valid = false;
  bool scrub = false;
  std::uint8_t syndrome = 0;
  std::uint64_t address = 0;
};

struct EccRegisters {
  std::uint64_t corrected_count = 0;
  std::uint64_t uncorrected_count = 0;
  EccLog corrected;
  EccLog uncorrected;
  std::uint64_t scrub_position = 0;
  std::uint32_t scrub_interval = 0;
  std::uint64_t inject_address = 0;
  std::uint64_t inject_data = 0;
  std::uint8_t inject_check = 0;
};

class EccUnit {
 public:
  EccUnit(DramArray& dram, Counters& counters) noexcept : dram_(dram), counters_(counters) {}

  EccRegisters registers;

  /// How many of `bytes` from `first` on can be read: up to the first column that cannot be corrected. What
  /// can be corrected is right afterwards.
  [[nodiscard]] std::uint64_t read(std::uint64_t first, std::uint64_t bytes);
  /// Before these bytes are written.
  void write(std::uint64_t first, std::uint64_t bytes);

  /// Scrubs `columns` from the position on.
  void scrub(std::uint64_t columns);
  /// What the scrubber has done in the background until now.
  void catch_up();
  void set_interval(std::uint32_t cycles) noexcept;

  /// Makes the bits of the injection registers wrong.
  void inject();

  /// Whether a log took an error since the last call.
  [[nodiscard]] bool take_interrupt() noexcept;
  void reset() noexcept;

 private:
  enum class Finding : std::uint8_t { right, corrected, lost };

  Finding look_at(std::uint64_t word, bool scrub);
  /// Looks at every word of a column; whether all can be read.
  bool read_column(std::uint64_t column, bool scrub);
  void scrub_run(std::uint64_t first, std::uint64_t end);
  void log(EccLog& into, std::uint64_t word, std::uint8_t syndrome, bool scrub) noexcept;

  DramArray& dram_;
  Counters& counters_;
  std::uint64_t next_scrub_cycle_ = 0;
  bool interrupt_ = false;
};

}  // namespace datum::sim
