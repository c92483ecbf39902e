// What the board's performance counters say about its links to host and memory.
#pragma once

#include <cstdint>

#include <datum/base/result.hpp>

namespace datum {

class Board;

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

}  // namespace datum
