// datum perf: the board's counters, live.
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <datum/hw/registers.hpp>

#include "tools/datum/command_line.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"
#include "tools/datum/performance.hpp"

namespace datum::tool {

namespace {

using Json = nlohmann::ordered_json;

struct PerformanceChoice : BoardChoice {
  std::uint64_t interval_ms = 1000;
  std::uint64_t rounds = 1;
  bool total = false;
};

Json to_json(const PerformanceCounters& c) {
  return {{"cycles", c.cycles},
          {"timer", c.timer},
          {"host_read_beats", c.host_read_beats},
          {"host_write_beats", c.host_write_beats},
          {"dram_reads", c.dram_reads},
          {"dram_writes", c.dram_writes},
          {"dram_activates", c.dram_activates},
          {"dram_refreshes", c.dram_refreshes},
          {"tlb_hits", c.tlb_hits},
          {"walks", c.walks},
          {"descriptors", c.descriptors},
          {"busy_ticks", c.busy_ticks},
          {"stalled_cycles", c.stalled_cycles}};
}

Json to_json(const PerformanceRates& r) {
  const auto maybe = [](const std::optional<double>& rate) { return rate ? Json(*rate) : Json(); };
  return {{"seconds", r.seconds},
          {"host_read_bytes_per_s", r.host_read_bytes_per_s},
          {"host_write_bytes_per_s", r.host_write_bytes_per_s},
          {"dram_read_bytes_per_s", r.dram_read_bytes_per_s},
          {"dram_write_bytes_per_s", r.dram_write_bytes_per_s},
          {"descriptors_per_s", r.descriptors_per_s},
          {"busy_share", r.busy_share},
          {"stalled_share", r.stalled_share},
          {"row_hit_rate", maybe(r.row_hit_rate)},
          {"tlb_hit_rate", maybe(r.tlb_hit_rate)}};
}

std::string percent(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.1f}%", *rate * 100) : "-";
}

void print_header() {
  fmt::print("{:>12} {:>12} {:>12} {:>12} {:>12} {:>7} {:>7} {:>9} {:>9}\n", "host rd MB/s", "host wr MB/s",
             "DRAM rd MB/s", "DRAM wr MB/s", "descr./s", "busy", "stalled", "row hits", "TLB hits");
}

void print_line(const PerformanceRates& r) {
  constexpr double mega = 1e6;
  fmt::print("{:>12.2f} {:>12.2f} {:>12.2f} {:>12.2f} {:>12.1f} {:>7} {:>7} {:>9} {:>9}\n",
             r.host_read_bytes_per_s / mega, r.host_write_bytes_per_s / mega, r.dram_read_bytes_per_s / mega,
             r.dram_write_bytes_per_s / mega, r.descriptors_per_s, percent(r.busy_share),
             percent(r.stalled_share), percent(r.row_hit_rate), percent(r.tlb_hit_rate));
}

void print_totals(const PerformanceCounters& counters) {
  const Json totals = to_json(counters);  // has to live as long as the loop
  for (const auto& [name, count] : totals.items()) {
    fmt::print("{:<18} {}\n", name, count.get<std::uint64_t>());
  }
}

int show_totals(OpenBoard& board, const PerformanceChoice& choice) {
  const Result<PerformanceCounters> counters = read_counters(board);
  if (!counters) {
    return tell_failure(counters.error(), choice.json);
  }
  if (choice.json) {
    print_json({{"board", board.address()}, {"counters", to_json(*counters)}});
  } else {
    print_totals(*counters);
  }
  return exit_well;
}

int show_rates(OpenBoard& board, const PerformanceChoice& choice) {
  Result<PerformanceCounters> before = read_counters(board);
  if (before && !choice.json) {
    print_header();
  }
  for (std::uint64_t round = 0; before && (choice.rounds == 0 || round < choice.rounds); ++round) {
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(choice.interval_ms));
    Result<PerformanceCounters> after = read_counters(board);
    if (!after) {
      return tell_failure(after.error(), choice.json);
    }
    const PerformanceCounters grown = growth(*before, *after);
    const PerformanceRates rates = rates_of(grown, board.registers->read64(hw::timer_hz));
    if (choice.json) {  // a line for each round, so that it can be read as it comes
      fmt::print(
          "{}\n",
          Json{{"board", board.address()}, {"rates", to_json(rates)}, {"counters", to_json(grown)}}.dump());
    } else {
      print_line(rates);
    }
    before = std::move(after);
  }
  return before ? exit_well : tell_failure(before.error(), choice.json);
}

constexpr const char* perf_examples = R"(Examples:
  datum perf --board vfio-user:/run/board.look --count 0
  datum perf --interval 200 --count 10 --json
  datum perf --total

Busy is the share of the time in which some channel executed a descriptor; a wait executes nothing. Stalled is the
share of the clock's cycles in which one did and no data moved, on the host's bus or the DRAM's. A row hit is a column
command that found its row open. Counters run from the board's reset, which every program that opens the board makes.
A simulated board of this process (rtl:, model:) is a new one, on which nothing happens.)";

}  // namespace

void add_performance_command(CLI::App& app, int& status) {
  const auto choice = std::make_shared<PerformanceChoice>();
  CLI::App* const perf =
      app.add_subcommand("perf", "bandwidth, busy time, stalls, row hits, TLB hits of a board");
  perf->footer(perf_examples);
  add_board_options(*perf, *choice);
  perf->add_option("--interval", choice->interval_ms, "milliseconds of each line")
      ->capture_default_str()
      ->check(CLI::Range(1, 3'600'000));
  perf->add_option("--count", choice->rounds, "how many lines; 0: until interrupted")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000'000));
  perf->add_flag("--total", choice->total, "the counters as they stand");
  perf->callback([choice, &status] {
    status = with_board(*choice, [&](OpenBoard& board) {
      return choice->total ? show_totals(board, *choice) : show_rates(board, *choice);
    });
  });
}

}  // namespace datum::tool
