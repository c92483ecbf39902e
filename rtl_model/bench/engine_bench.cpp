#include "rtl_model/bench/engine_bench.hpp"

#include <algorithm>
#include <stdexcept>

#include "rtl_model/bench/dma_bench.hpp"
#include "rtl_model/bench/ring.hpp"

namespace datum::bench {
namespace {

using rtl_bench::Address;
using rtl_bench::DmaBench;
using rtl_bench::Place;
using rtl_bench::Ring;
using rtl_bench::Target;

constexpr std::uint64_t bus_bytes = 64;
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t source = 0x1000'0000;
constexpr std::uint64_t destination = 0x2000'0000;

void write_source(DmaBench& bench, std::uint64_t address, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += sizeof at) {
    bench.memory().put<std::uint64_t>({Target::dram, address + at}, (at + 1) * 0x9e3779b97f4a7c15U);
  }
}

void check_copy(DmaBench& bench, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  std::vector<std::uint8_t> wanted(bytes);
  std::vector<std::uint8_t> found(bytes);
  bench.memory().read({Target::dram, from}, wanted);
  bench.memory().read({Target::dram, to}, found);
  if (wanted != found) {
    throw std::runtime_error("the DMA bench copied wrong bytes");
  }
}

/// Where copies begin inside a beat.
struct Phase {
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
};

/// Cycles from the doorbell to the last answer for `count` copies of `bytes`, one behind the other.
std::uint64_t queued_cycles(unsigned latency, unsigned count, std::uint64_t bytes, Phase phase = {}) {
  DmaBench bench({.read_latency_cycles = latency});
  Ring ring(bench, 0, 12);
  const std::uint64_t from = source + phase.source;
  const std::uint64_t to = destination + phase.destination;
  write_source(bench, source, count * bytes + bus_bytes);
  for (unsigned i = 0; i < count; ++i) {
    ring.put(rtl_bench::copy({rtl_bench::dram_space, to + i * bytes},
                             {rtl_bench::dram_space, from + i * bytes}, bytes));
  }
  const std::uint64_t start = bench.cycle();
  ring.doorbell();
  bench.run_until_quiescent(10'000'000);
  check_copy(bench, to, from, count * bytes);
  return bench.last_data_answer() - start;
}

/// Cycles from the arrival of the descriptor to the last answer, for a copy between pages that were used
/// before.
std::uint64_t single_cycles(unsigned latency, std::uint64_t bytes) {
  DmaBench bench({.read_latency_cycles = latency});
  Ring ring(bench, 0, 12);
  write_source(bench, source, bytes);
  const auto descriptor =
      rtl_bench::copy({rtl_bench::dram_space, destination}, {rtl_bench::dram_space, source}, bytes);
  ring.submit(descriptor);
  bench.run_until_quiescent();
  ring.submit(descriptor);
  bench.run_until_quiescent();
  check_copy(bench, destination, source, bytes);
  return bench.last_data_answer() - bench.last_descriptor_arrival();
}

double per_cycle(std::uint64_t bytes, std::uint64_t cycles) {
  return static_cast<double>(bytes) / static_cast<double>(cycles);
}

EngineFigure share(std::string name, std::uint64_t bytes, std::uint64_t cycles, double goal) {
  return {std::move(name), 100.0 * per_cycle(bytes, cycles) / bus_bytes, "% of bus", goal, "higher"};
}

std::string at_latency(const char* name, unsigned latency) {
  return std::string(name) + "_lat" + std::to_string(latency);
}

/// Copies of 64 KiB, many enough that the first one's way does not count.
void add_large_copies(std::vector<EngineFigure>& figures) {
  constexpr unsigned copies = 64;

  struct Case {
    unsigned latency;
    double goal;
  };

  for (const Case each : {Case{1, 63.8}, Case{128, 63.4}, Case{256, 63.0}}) {
    figures.push_back({at_latency("copy_64k", each.latency),
                       per_cycle(copies * 64 * kib, queued_cycles(each.latency, copies, 64 * kib)),
                       "bytes/cycle", each.goal, "higher"});
  }
  for (const unsigned latency : {1U, 128U}) {
    figures.push_back(share(at_latency("copy_64k_misaligned", latency), copies * 64 * kib,
                            queued_cycles(latency, copies, 64 * kib, {3, 5}), 98.5));
  }
}

void add_pages(std::vector<EngineFigure>& figures) {
  for (const unsigned latency : {1U, 128U}) {
    figures.push_back(
        share(at_latency("copy_4k_queued", latency), 64 * 4 * kib, queued_cycles(latency, 64, 4 * kib), 90));
    figures.push_back(share(at_latency("copy_4k_single", latency), 4 * kib, single_cycles(latency, 4 * kib),
                            latency == 1 ? 85 : 30));
  }
}

/// What one more copy of 64 bytes takes behind many.
double steady_cycles(unsigned latency) {
  constexpr unsigned before = 1024;
  constexpr unsigned after = 2048;
  const std::uint64_t cycles =
      queued_cycles(latency, after, bus_bytes) - queued_cycles(latency, before, bus_bytes);
  return static_cast<double>(cycles) / (after - before);
}

void add_small_copies(std::vector<EngineFigure>& figures) {
  // Translation and realignment: two cycles more than an engine without.
  constexpr unsigned single_goal_cycles = 8;
  for (const unsigned latency : {1U, 128U}) {
    figures.push_back({at_latency("copy_64b_queued", latency), steady_cycles(latency), "cycles/descriptor",
                       latency == 1 ? 1.1 : 1.2, "lower"});
    figures.push_back({at_latency("copy_64b_single", latency),
                       static_cast<double>(single_cycles(latency, bus_bytes)), "cycles",
                       static_cast<double>(single_goal_cycles + latency), "lower"});
  }
}

}  // namespace

std::vector<EngineFigure> engine_bench_figures() {
  std::vector<EngineFigure> figures;
  add_large_copies(figures);
  add_pages(figures);
  add_small_copies(figures);
  return figures;
}

}  // namespace datum::bench
