// What the driver writes to SCRATCH when it gives up a board that answers but does not go on: for a waveform
// of a simulated board, or a logic analyser in a card, that wants the cycles before it.
#pragma once

#include <cstdint>

namespace datum::board {

inline constexpr std::uint64_t watchdog_mark = 0x5741'5443'4844'4f47;  ///< "WATCHDOG"

}  // namespace datum::board
