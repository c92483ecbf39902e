// What of an rtl: board goes into a waveform, and when: the options of an address that begin with "wave".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <datum/base/result.hpp>

#include "sim/board/option_item.hpp"

namespace datum::sim {

inline constexpr std::string_view waveform_file_option = "wave";
inline constexpr std::string_view waveform_file_alias = "trace";

/// What begins a waveform, or ends one that keeps what went before.
struct WaveformTrigger {
  enum class Kind : std::uint8_t {
    register_write,
    fault,       ///< of a ring
    descriptor,  ///< the board fetches it
    assertion,   ///< a failed one, or whatever else makes the board lost
    watchdog,    ///< the driver gives up a board that answers but does not go on
  };

  Kind kind = Kind::fault;
  std::uint32_t offset = 0;            ///< register_write: in BAR0
  std::optional<std::uint64_t> value;  ///< register_write: nothing but this
  std::uint32_t number = 0;            ///< descriptor: its sequence number
  std::optional<unsigned> ring;        ///< descriptor: on no other
};

/// Cycles count from the opening of the board. check_waveform says what goes together.
struct WaveformOptions {
  std::string file;                          ///< empty: no waveform
  std::vector<std::string> scopes;           ///< empty: everything
  std::vector<std::uint64_t> from_cycles;    ///< of each window by time; none: of one, the first
  std::vector<std::uint64_t> to_cycles;      ///< the last of each; none: of one, the end
  std::vector<WaveformTrigger> triggers;     ///< the first that comes counts
  std::optional<std::uint64_t> windows;      ///< how many triggers begin one, if more than the first
  std::optional<std::uint64_t> last_cycles;  ///< kept of what goes before the trigger, or before the end
  std::optional<std::uint64_t> next_cycles;  ///< after the trigger
  std::optional<std::uint64_t> size_bytes;   ///< of all its files
};

inline constexpr std::uint64_t default_waveform_bytes = 4ULL << 30U;
/// Of a waveform with last_cycles: enough for what a fault brings about.
inline constexpr std::uint64_t default_next_cycles = 1000;

/// How many windows there are at most.
[[nodiscard]] std::uint64_t windows_of(const WaveformOptions& options) noexcept;

[[nodiscard]] bool is_waveform_option(std::string_view name) noexcept;
/// invalid_argument names the option, the value and what would be accepted.
Status take_waveform_option(const OptionItem& item, WaveformOptions& options);
/// Whether options that were taken one by one make sense together; adds what follows from them.
Status check_waveform(WaveformOptions& options);

}  // namespace datum::sim
