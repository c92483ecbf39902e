// What kind of board an address string asks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <datum/base/result.hpp>

#include "sim/board/waveform_options.hpp"

namespace datum::sim {

enum class Scheme : std::uint8_t { rtl, model };

/// A description that was checked: every combination in here makes a board.
struct BoardOptions {
  Scheme scheme = Scheme::model;
  std::string design;                ///< rtl: somebody's own RTL, by name or file; empty: Datum's
  std::string name;                  ///< of that design
  std::uint16_t vendor_id = 0x1234;  ///< PCI
  std::uint16_t device_id = 0xda70;
  std::uint64_t memory_bytes = 4ULL << 30U;
  std::uint64_t aperture_bytes = 256ULL << 20U;  ///< fixed part of BAR2
  std::uint64_t window_bytes = 64ULL << 20U;     ///< sliding part of BAR2
  unsigned channels = 4;
  unsigned host_latency_cycles = 32;
  unsigned backpressure_percent = 0;
  std::uint64_t seed = 1;
  bool step_locked = false;
  bool instrumented = false;
  WaveformOptions waveform;
  std::string coverage_file;     ///< empty: coverage is not written
  std::string transaction_file;  ///< empty: bus transactions are not written down
  unsigned iommu_bits = 39;
  std::uint64_t max_mappings = 65535;
  std::uint64_t max_locked_bytes = 0;  ///< 0: no limit
};

inline constexpr unsigned max_channels = 4;

/// Reads "SCHEME:[option[=value],...]". `defaults` is a list of options in the same syntax that the address
/// overrides; those in it that make no sense for the scheme are passed over. `of_design` is a list that
/// stands between them: what a design says of itself. invalid_argument names the option, the value and what
/// would be accepted.
[[nodiscard]] Result<BoardOptions> parse_board_address(std::string_view address, std::string_view defaults,
                                                       std::string_view of_design = {});

/// The options of a board that this process opens: as above, with DATUM_SIM_OPTIONS as defaults, and with
/// what the design says that the address names. invalid_argument also: that design cannot be had.
[[nodiscard]] Result<BoardOptions> options_of_address(std::string_view address);

}  // namespace datum::sim
