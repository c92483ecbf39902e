// datum bench: what operations of different sizes take on a board.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/datum/byte_text.hpp"
#include "tools/datum/command_line.hpp"
#include "tools/datum/environment.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"
#include "tools/datum/output_file.hpp"
#include "tools/datum/sweep/bench_device.hpp"
#include "tools/datum/sweep/run_sweep.hpp"
#include "tools/datum/sweep/sweep_output.hpp"

namespace datum::tool {

namespace {

struct BenchChoice : BoardChoice {
  std::vector<std::string> sweeps;
  std::string largest = "1M";
  std::uint64_t per_point_ms = 50;
  std::string csv;
  std::string page;
};

/// One line on a terminal that is written over and over; else a line for each series.
class ProgressBar {
 public:
  explicit ProgressBar(std::size_t points) : points_(points), terminal_(::isatty(STDERR_FILENO) == 1) {}

  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  ~ProgressBar() {
    if (terminal_) {
      fmt::print(stderr, "\r\x1b[K");
    }
  }

  void show(const std::string& sweep, const SweepSeries& series, std::uint64_t bytes) {
    constexpr std::size_t bar = 30;
    const std::size_t filled = bar * done_ / std::max<std::size_t>(points_, 1);
    if (terminal_) {
      fmt::print(stderr, "\r\x1b[K[{:=<{}}{: <{}}] {}/{} {}, {}, {}", "", filled, "", bar - filled, done_,
                 points_, sweep, series.name, bytes_text(bytes));
    } else if (series.points.empty()) {
      fmt::print(stderr, "{}/{} {}, {}\n", done_, points_, sweep, series.name);
    }
    ++done_;
  }

 private:
  std::size_t points_;
  std::size_t done_ = 0;
  bool terminal_;
};

constexpr const char* other_file = "name another file";

/// Before minutes of measuring, whether the results will find a place. What is there stays.
Status check_writable(const std::string& name) {
  errno = 0;
  return name.empty() || std::ofstream(name, std::ios::binary | std::ios::app)
             ? Status{}
             : Status(not_written(name, other_file));
}

Result<SweepReport> measure_all(const BenchChoice& choice, const SweepLimits& limits) {
  std::vector<std::string> wanted = choice.sweeps;
  if (wanted.empty()) {
    wanted.assign(sweep_names().begin(), sweep_names().end());
  }
  if (Status prepared = prepare_environment(choice.board, true); !prepared) {
    return std::move(prepared).error();
  }
  Result<std::unique_ptr<BenchDevice>> device = BenchDevice::open();
  if (!device) {
    return std::move(device).error();
  }
  if (limits.largest_bytes > (*device)->largest_allocation_bytes()) {
    return make_error(ErrorCode::unsupported_size,
                      fmt::format("--largest is {}, and the device allocates {} at most",
                                  bytes_text(limits.largest_bytes),
                                  bytes_text((*device)->largest_allocation_bytes())),
                      "name a smaller size");
  }
  std::size_t points = 0;
  for (const std::string& name : wanted) {
    points += sweep_points(name, limits);
  }
  ProgressBar progress(points);
  SweepReport report{choice.board, (*device)->name(), {}};
  for (const std::string& name : wanted) {
    Result<Sweep> sweep =
        run_sweep(name, **device, limits, [&](const SweepSeries& series, std::uint64_t bytes) {
          progress.show(name, series, bytes);
        });
    if (!sweep) {
      return std::move(sweep).error();
    }
    report.sweeps.push_back(std::move(*sweep));
  }
  return report;
}

int bench(const BenchChoice& choice) {
  const Result<std::uint64_t> largest = parse_size(choice.largest);
  if (!largest) {
    return tell_failure(largest.error(), choice.json);
  }
  // The smallest is what every sweep can do, the largest what no board has.
  constexpr std::uint64_t least = 4096;
  constexpr std::uint64_t most = 1ULL << 40U;
  if (*largest < least || *largest > most) {
    return tell_failure(make_error(ErrorCode::unsupported_size,
                                   fmt::format("--largest is {}, which is not from {} to {}",
                                               bytes_text(*largest), bytes_text(least), bytes_text(most))),
                        choice.json);
  }
  for (const std::string& file : {choice.csv, choice.page}) {
    if (const Status writable = check_writable(file); !writable) {
      return tell_failure(writable.error(), choice.json);
    }
  }
  const Result<SweepReport> report =
      measure_all(choice, {*largest, std::chrono::milliseconds(choice.per_point_ms)});
  if (!report) {
    return tell_failure(report.error(), choice.json);
  }
  if (choice.json) {
    print_json(sweep_json(*report));
  } else {
    fmt::print("{}\n", report->device);
    for (const Sweep& sweep : report->sweeps) {
      fmt::print("\n{}", sweep_table(sweep));
    }
  }
  for (const auto& [file, text] :
       {std::pair(choice.csv, sweep_csv(*report)), std::pair(choice.page, sweep_page(*report))}) {
    if (const Status written = file.empty() ? Status{} : write_output_file(file, text, other_file);
        !written) {
      return tell_failure(written.error(), choice.json);
    }
  }
  return exit_well;
}

constexpr const char* bench_examples = R"(Examples:
  datum bench --board model:                      all sweeps, as tables
  datum bench copy latency --board vfio:0000:03:00.0 --largest 64M
  datum bench --board rtl: --largest 64K --html bench.html
  datum bench allocation --csv allocation.csv --json

Each value is the median on the wall clock. A simulated board's copies say what the simulation takes; cycles of its
memory controller and engine are what 'datum-bench rtl' of the project counts.)";

}  // namespace

void add_bench_command(CLI::App& app, int& status) {
  const auto choice = std::make_shared<BenchChoice>();
  CLI::App* const command =
      app.add_subcommand("bench", "what copies, fills, allocations and mappings take, by size");
  command->footer(bench_examples);
  const std::vector<std::string> names(sweep_names().begin(), sweep_names().end());
  command->add_option("SWEEP", choice->sweeps, fmt::format("{} (else all)", fmt::join(names, ", ")))
      ->check(CLI::IsMember(names));
  add_board_options(*command, *choice);
  command->add_option("--largest", choice->largest, "the largest size: 65536, 64K, 16M, 1G")
      ->capture_default_str();
  command
      ->add_option("--per-point", choice->per_point_ms, "milliseconds for each size; one operation at least")
      ->capture_default_str()
      ->check(CLI::Range(1, 60'000));
  command->add_option("--csv", choice->csv, "write the points into a file");
  command->add_option("--html", choice->page, "write a page with charts, which needs no network");
  command->callback([choice, &status] { status = bench(*choice); });
}

}  // namespace datum::tool
