#include "driver/device/traffic_counters.hpp"

#include <datum/hw/registers.hpp>

#include "driver/device/board.hpp"

namespace datum {
namespace {

constexpr std::uint64_t beat_bytes = 64;  // of the board contract's data buses
constexpr std::uint64_t us_per_second = 1'000'000;

Result<TrafficCounters> read_counters(Board& board, std::uint64_t reads, std::uint64_t writes) {
  const std::uint64_t read_beats = board.read64(reads);
  const std::uint64_t written_beats = board.read64(writes);
  const std::uint64_t ticks = board.read_timer();
  // All ones is what a board that is gone answers, and no count that could be reached.
  if (read_beats == ~0ULL) {
    if (Status alive = board.health(); !alive) {
      return std::move(alive).error();
    }
  }
  const std::uint64_t hz = board.capabilities().timer_hz;
  return TrafficCounters{read_beats * beat_bytes, written_beats * beat_bytes,
                         ticks / hz * us_per_second + ticks % hz * us_per_second / hz};
}

}  // namespace

Result<TrafficCounters> host_traffic(Board& board) {
  return read_counters(board, hw::perf_host_read_beats, hw::perf_host_write_beats);
}

Result<TrafficCounters> dram_traffic(Board& board) {
  return read_counters(board, hw::perf_dram_reads, hw::perf_dram_writes);
}

}  // namespace datum
