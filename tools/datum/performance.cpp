#include "tools/datum/performance.hpp"

#include <algorithm>

#include <datum/hw/registers.hpp>

namespace datum::tool {

namespace {

constexpr double beat_bytes = 64;  // of the board contract's data buses, and of a DRAM column

struct Row {
  std::uint64_t PerformanceCounters::*counter;
  std::uint32_t offset;
};

constexpr Row rows[] = {
    {&PerformanceCounters::cycles, hw::cycles},
    {&PerformanceCounters::timer, hw::timer},
    {&PerformanceCounters::host_read_beats, hw::perf_host_read_beats},
    {&PerformanceCounters::host_write_beats, hw::perf_host_write_beats},
    {&PerformanceCounters::dram_reads, hw::perf_dram_reads},
    {&PerformanceCounters::dram_writes, hw::perf_dram_writes},
    {&PerformanceCounters::dram_activates, hw::perf_dram_activates},
    {&PerformanceCounters::dram_refreshes, hw::perf_dram_refreshes},
    {&PerformanceCounters::tlb_hits, hw::perf_tlb_hits},
    {&PerformanceCounters::walks, hw::perf_walks},
    {&PerformanceCounters::descriptors, hw::perf_descriptors},
    {&PerformanceCounters::busy_ticks, hw::perf_busy_ticks},
    {&PerformanceCounters::stalled_cycles, hw::perf_stalled_cycles},
};

}  // namespace

Result<PerformanceCounters> read_counters(OpenBoard& board) {
  PerformanceCounters counters;
  for (const Row& row : rows) {
    counters.*row.counter = board.registers->read64(row.offset);
  }
  if (const std::string complaint = board_complaint(board);
      !complaint.empty() && board.registers->read32(hw::magic) != hw::magic_value) {
    return make_error(ErrorCode::device_lost, complaint, "'datum doctor' looks for the cause");
  }
  return counters;
}

PerformanceCounters growth(const PerformanceCounters& before, const PerformanceCounters& after) noexcept {
  PerformanceCounters grown;
  for (const Row& row : rows) {
    grown.*row.counter = after.*row.counter - before.*row.counter;
  }
  return grown;
}

PerformanceRates rates_of(const PerformanceCounters& grown, std::uint64_t timer_hz) noexcept {
  PerformanceRates rates;
  rates.seconds = timer_hz == 0 ? 0 : static_cast<double>(grown.timer) / static_cast<double>(timer_hz);
  const auto each_second = [&](std::uint64_t count, double unit) {
    return rates.seconds > 0 ? static_cast<double>(count) * unit / rates.seconds : 0;
  };
  rates.host_read_bytes_per_s = each_second(grown.host_read_beats, beat_bytes);
  rates.host_write_bytes_per_s = each_second(grown.host_write_beats, beat_bytes);
  rates.dram_read_bytes_per_s = each_second(grown.dram_reads, beat_bytes);
  rates.dram_write_bytes_per_s = each_second(grown.dram_writes, beat_bytes);
  rates.descriptors_per_s = each_second(grown.descriptors, 1);
  if (grown.timer != 0) {
    rates.busy_share =
        static_cast<double>(std::min(grown.busy_ticks, grown.timer)) / static_cast<double>(grown.timer);
  }
  if (grown.cycles != 0) {
    rates.stalled_share =
        static_cast<double>(std::min(grown.stalled_cycles, grown.cycles)) / static_cast<double>(grown.cycles);
  }
  if (const std::uint64_t columns = grown.dram_reads + grown.dram_writes; columns != 0) {
    const std::uint64_t missed = std::min(grown.dram_activates, columns);
    rates.row_hit_rate = 1 - static_cast<double>(missed) / static_cast<double>(columns);
  }
  if (const std::uint64_t translations = grown.tlb_hits + grown.walks; translations != 0) {
    rates.tlb_hit_rate = static_cast<double>(grown.tlb_hits) / static_cast<double>(translations);
  }
  return rates;
}

}  // namespace datum::tool
