#include "driver/device/traffic_counters.hpp"

#include <datum/hw/registers.hpp>

#include "driver/device/board.hpp"

namespace datum {
namespace {

constexpr std::uint64_t us_per_second = 1'000'000;

constexpr std::uint16_t version_with_busy_time = 2;  // minor

std::uint64_t to_us(const Board& board, std::uint64_t ticks) {
  const std::uint64_t hz = board.capabilities().timer_hz;
  return ticks / hz * us_per_second + ticks % hz * us_per_second / hz;
}

/// All ones is what a board that is gone answers, and no count that could be reached.
Status check_count(Board& board, std::uint64_t count) { return count == ~0ULL ? board.health() : Status{}; }

Result<TrafficCounters> read_counters(Board& board, std::uint64_t reads, std::uint64_t writes) {
  const std::uint64_t read_beats = board.read64(reads);
  const std::uint64_t written_beats = board.read64(writes);
  const std::uint64_t ticks = board.read_timer();
  if (Status alive = check_count(board, read_beats); !alive) {
    return std::move(alive).error();
  }
  return TrafficCounters{read_beats * bus_beat_bytes, written_beats * bus_beat_bytes, to_us(board, ticks)};
}

}  // namespace

Result<TrafficCounters> host_traffic(Board& board) {
  return read_counters(board, hw::perf_host_read_beats, hw::perf_host_write_beats);
}

Result<TrafficCounters> dram_traffic(Board& board) {
  return read_counters(board, hw::perf_dram_reads, hw::perf_dram_writes);
}

bool counts_busy_time(Board& board) noexcept {
  return hw::VersionRegister{board.capabilities().version}.minor() >= version_with_busy_time;
}

Result<EngineActivity> engine_activity(Board& board) {
  const std::uint64_t busy = board.read64(hw::perf_busy_ticks);
  const std::uint64_t ticks = board.read_timer();
  if (Status alive = check_count(board, busy); !alive) {
    return std::move(alive).error();
  }
  return EngineActivity{to_us(board, busy), to_us(board, ticks)};
}

}  // namespace datum
