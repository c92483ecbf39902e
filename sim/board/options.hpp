// What kind of board an address string asks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <datum/base/result.hpp>

namespace datum::sim {

enum class Scheme : std::uint8_t { rtl, model };

/// A description that was checked: every combination in here makes a board.
struct BoardOptions {
  Scheme scheme = Scheme::model;
  std::uint64_t memory_bytes = 4ULL << 30U;
  std::uint64_t aperture_bytes = 256ULL << 20U;  ///< fixed part of BAR2
  std::uint64_t window_bytes = 64ULL << 20U;     ///< sliding part of BAR2
  unsigned channels = 4;
  unsigned host_latency_cycles = 32;
  unsigned backpressure_percent = 0;
  std::uint64_t seed = 1;
  bool step_locked = false;
  bool instrumented = false;
  std::string trace_file;        ///< empty: no waveform
  std::string coverage_file;     ///< empty: coverage is not written
  std::string transaction_file;  ///< empty: bus transactions are not written down
  unsigned iommu_bits = 39;
  std::uint64_t max_mappings = 65535;
  std::uint64_t max_locked_bytes = 0;  ///< 0: no limit
};

inline constexpr unsigned max_channels = 4;

/// Reads "SCHEME:[option[=value],...]". `defaults` is a list of options in the same syntax that the address
/// overrides; those in it that make no sense for the scheme are passed over. invalid_argument names the
/// option, the value and what would be accepted.
[[nodiscard]] Result<BoardOptions> parse_board_address(std::string_view address, std::string_view defaults);

}  // namespace datum::sim
