// What the board's performance counters say about its links to host and memory, and about its work.
#pragma once

#include <cstdint>

#include <datum/base/result.hpp>

namespace datum {

class Board;

/// Of the data buses to host and memory (board contract, Clocks and buses).
inline constexpr std::uint64_t bus_beat_bytes = 64;

/// Since the board's reset. Whole beats of the bus are counted, so a short access counts as one.
struct TrafficCounters {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t at_us = 0;  ///< the board's timebase
};

/// Host memory, over PCIe. device_lost: the board does not answer.
Result<TrafficCounters> host_traffic(Board& board);
/// Memory of ordinal 0. device_lost: the board does not answer.
Result<TrafficCounters> dram_traffic(Board& board);

/// Since the board's reset.
struct EngineActivity {
  std::uint64_t busy_us = 0;  ///< in which some DMA channel executed a descriptor; a wait executes nothing
  std::uint64_t at_us = 0;    ///< the board's timebase
};

/// Whether the board counts its busy time: since version 1.2 of its registers.
bool counts_busy_time(Board& board) noexcept;
/// device_lost: the board does not answer.
Result<EngineActivity> engine_activity(Board& board);

}  // namespace datum
