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
constexpr std::uint64_t source = 0x1000'0000;
constexpr std::uint64_t destination = 0x2000'0000;

void write_source(DmaBench& bench, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += sizeof at) {
    bench.memory().put<std::uint64_t>({Target::dram, source + at}, (at + 1) * 0x9e3779b97f4a7c15U);
  }
}

void check_destination(DmaBench& bench, std::uint64_t bytes) {
  std::vector<std::uint8_t> wanted(bytes);
  std::vector<std::uint8_t> found(bytes);
  bench.memory().read({Target::dram, source}, wanted);
  bench.memory().read({Target::dram, destination}, found);
  if (wanted != found) {
    throw std::runtime_error("the DMA bench copied wrong bytes");
  }
}

/// Cycles from the doorbell to the last answer for `count` copies of `bytes`, one behind the other.
std::uint64_t queued_cycles(unsigned latency, unsigned count, std::uint64_t bytes) {
  DmaBench bench({.read_latency_cycles = latency});
  Ring ring(bench, 0, 12);
  write_source(bench, count * bytes);
  for (unsigned i = 0; i < count; ++i) {
    ring.put(rtl_bench::copy({rtl_bench::dram_space, destination + i * bytes},
                             {rtl_bench::dram_space, source + i * bytes}, bytes));
  }
  const std::uint64_t start = bench.cycle();
  ring.doorbell();
  bench.run_until_quiescent();
  check_destination(bench, count * bytes);
  return bench.last_data_answer() - start;
}

/// Cycles from the arrival of the descriptor to the last answer, for a copy between pages that were used
/// before.
std::uint64_t single_cycles(unsigned latency, std::uint64_t bytes) {
  DmaBench bench({.read_latency_cycles = latency});
  Ring ring(bench, 0, 12);
  write_source(bench, bytes);
  const auto descriptor =
      rtl_bench::copy({rtl_bench::dram_space, destination}, {rtl_bench::dram_space, source}, bytes);
  ring.submit(descriptor);
  bench.run_until_quiescent();
  ring.submit(descriptor);
  bench.run_until_quiescent();
  check_destination(bench, bytes);
  return bench.last_data_answer() - bench.last_descriptor_arrival();
}

EngineFigure share(std::string name, std::uint64_t bytes, std::uint64_t cycles, double goal) {
  return {std::move(name), 100.0 * static_cast<double>(bytes / bus_bytes) / static_cast<double>(cycles),
          "% of bus", goal, "higher"};
}

}  // namespace

std::vector<EngineFigure> engine_bench_figures() {
  constexpr std::uint64_t kib = 1024;
  std::vector<EngineFigure> figures;
  for (const unsigned latency : {1U, 128U}) {
    const std::string suffix = "_lat" + std::to_string(latency);
    figures.push_back(share("copy_64k" + suffix, 16 * 64 * kib, queued_cycles(latency, 16, 64 * kib), 90));
    figures.push_back(
        share("copy_4k_queued" + suffix, 64 * 4 * kib, queued_cycles(latency, 64, 4 * kib), 90));
    figures.push_back(
        share("copy_4k_single" + suffix, 4 * kib, single_cycles(latency, 4 * kib), latency == 1 ? 85 : 30));
  }
  constexpr unsigned small_copies = 1024;
  const auto small = static_cast<double>(queued_cycles(1, small_copies, bus_bytes));
  figures.push_back({"copy_64b_queued", small / small_copies, "cycles/descriptor", 2, "lower"});
  return figures;
}

}  // namespace datum::bench
