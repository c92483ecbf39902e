// What a trace remembers of one happening, before it is made into a timeline.
#pragma once

#include <array>
#include <cstdint>

namespace datum::trace {

enum class Kind : std::uint8_t {
  api_call,    ///< name: its signature; id: number of the call; result; words: its arguments
  span,        ///< name: what the driver did meanwhile; words: numbers that `name` has names for
  allocation,  ///< name: kind of memory; words: pointer, bytes
  free,        ///< words: pointer
  board,       ///< text: address of a board that was opened
  clock,       ///< begin_ns: a moment of the host; words: as ClockWord
  ring_start,  ///< numbers of descriptors begin at 1 again
  descriptor,  ///< id: the API call that it is of (0: none); words: as DescriptorWord
  doorbell,    ///< words: number of the last descriptor that the board knows of
  completion,  ///< begin_ns: when it was seen; words: as CompletionWord
  interrupt,   ///< end_ns: when a wait for any interrupt came back with one
  counters,    ///< words: the board's counters, in the order of counter_names from the one of number `id`
};

/// Of Kind::descriptor.
enum class DescriptorWord : std::uint8_t { number, opcode, flags, bytes, source, destination };
inline constexpr std::uint64_t descriptor_interrupts = 1;  ///< bit of DescriptorWord::flags

/// Of Kind::clock: TIMER and CYCLES at about the same moment, and how many of each a second has.
enum class ClockWord : std::uint8_t { timer, timer_hz, cycles, clock_hz };

/// Of Kind::completion. CYCLES is 0 where the board's record does not tell it.
enum class CompletionWord : std::uint8_t { number, status, timer, cycles };

inline constexpr std::array counter_names = {
    "host read bytes", "host write bytes", "DRAM reads",  "DRAM writes",     "rows opened", "refreshes",
    "TLB hits",        "page walks",       "descriptors", "words corrected", "words lost",  "stalled cycles"};

/// Two cache lines. `name` is a literal of the driver.
struct Event {
  std::uint64_t stamp;     ///< position + 1 once the event is whole
  std::uint64_t begin_ns;  ///< CLOCK_MONOTONIC
  std::uint64_t end_ns;
  const char* name;
  std::uint64_t id;
  std::int32_t result;
  std::uint32_t thread;
  Kind kind;
  std::uint8_t board;
  std::uint16_t ring;
  std::uint32_t word_count;
  std::array<std::uint64_t, 9> words;

  [[nodiscard]] std::uint64_t word(DescriptorWord which) const noexcept {
    return words[static_cast<std::size_t>(which)];
  }

  [[nodiscard]] std::uint64_t word(ClockWord which) const noexcept {
    return words[static_cast<std::size_t>(which)];
  }

  [[nodiscard]] std::uint64_t word(CompletionWord which) const noexcept {
    return words[static_cast<std::size_t>(which)];
  }
};

static_assert(sizeof(Event) == 128);

}  // namespace datum::trace
