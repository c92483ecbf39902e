#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "tools/bench/groups.hpp"
#include "tools/bench/micro_benchmark.hpp"
#include "tools/bench/peer_driver.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {
namespace {

double process_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Resident memory of this process, bytes.
double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return static_cast<double>(resident_pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// CPU time that the process uses while its boards have nothing to do, percent of one core.
double idle_cpu_percent() {
  constexpr std::chrono::milliseconds idle{500};
  std::this_thread::sleep_for(idle);
  const double before = process_cpu_seconds();
  std::this_thread::sleep_for(idle);
  return 100.0 * (process_cpu_seconds() - before) / std::chrono::duration<double>(idle).count();
}

constexpr std::size_t mib = 1U << 20U;
constexpr int round_trips = 5;

/// One number from several repetitions.
struct Spread {
  double median = 0;
  bool noisy = false;  ///< the better half of them spreads by more than a quarter of the median
};

/// `values` in any order, lower ones better: a busy machine only ever adds.
Spread judge_spread(std::vector<double> values) {
  constexpr double tolerated_slowdown = 0.25;
  std::sort(values.begin(), values.end());
  const double median = values[values.size() / 2];
  return {median, median - values.front() > tolerated_slowdown * median};
}

/// What round trips of 1 MiB cost.
struct RoundTrips {
  std::vector<double> wall_seconds;
  std::vector<double> cpu_ns_per_cycle;
};

RoundTrips make_round_trips(const Session& session, void* host, void* first, void* second) {
  RoundTrips trips;
  for (int trip = 0; trip < round_trips; ++trip) {
    const auto wall_before = std::chrono::steady_clock::now();
    const double cpu_before = process_cpu_seconds();
    const std::uint64_t cycles = session.copy_cycles(first, host, mib) +
                                 session.copy_cycles(second, first, mib) +
                                 session.copy_cycles(host, second, mib);
    const double cpu_seconds = process_cpu_seconds() - cpu_before;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_before;
    trips.wall_seconds.push_back(wall.count());
    trips.cpu_ns_per_cycle.push_back(1e9 * cpu_seconds / static_cast<double>(cycles));
  }
  return trips;
}

/// Memory for round trips of 1 MiB.
class TripMemory {
 public:
  explicit TripMemory(const Session& session)
      : session_(session),
        host_(session.allocate_host(mib)),
        first_(session.allocate_device(mib)),
        second_(session.allocate_device(mib)) {}

  ~TripMemory() {
    for (void* each : {host_, first_, second_}) {
      static_cast<void>(zeMemFree(session_.context(), each));  // on a lost board that has nobody to tell
    }
  }

  TripMemory(const TripMemory&) = delete;
  TripMemory& operator=(const TripMemory&) = delete;

  [[nodiscard]] RoundTrips make_trips() const { return make_round_trips(session_, host_, first_, second_); }

 private:
  const Session& session_;
  void* host_;
  void* first_;
  void* second_;
};

constexpr const char* clock_name = "simulated_clock_while_copying";

Figure clock_figure(const RoundTrips& trips) {
  const Spread cpu = judge_spread(trips.cpu_ns_per_cycle);
  return {clock_name, 1e6 / cpu.median, "kHz", std::nullopt, Better::higher, std::nullopt, cpu.noisy};
}

/// How many times the processor time of `clock` a cycle takes on the board of another address.
Figure slower(const char* name, const std::string& board, const Figure& clock, double goal) {
  const std::optional<std::vector<Figure>> other = run_in_child("sim-clock", {{"DATUM_BOARDS", board}});
  if (!other || other->empty()) {
    throw Failure(fmt::format("the clock of {} could not be measured", board));
  }
  const Figure& measured = other->front();
  return {name,         clock.value / measured.value, "ratio", goal, Better::lower,
          std::nullopt, clock.noisy || measured.noisy};
}

/// A file that a waveform may be written to, and that is gone afterwards.
class ScratchFile {
 public:
  ScratchFile()
      : path_(std::filesystem::temp_directory_path() / fmt::format("datum-bench-{}.fst", ::getpid())) {}

  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

std::vector<Figure> run_sim_clock_group() {
  const Session session("rtl:");
  const TripMemory memory(session);
  return {clock_figure(memory.make_trips())};
}

std::vector<Figure> run_sim_group() {
  const Session session("rtl:");
  const double resident = resident_bytes();
  const TripMemory memory(session);
  const RoundTrips trips = memory.make_trips();
  const Spread wall = judge_spread(trips.wall_seconds);
  Figure clock = clock_figure(trips);
  clock.peer = Peer{310, "iDMA alone, 512 bit, Verilator 5.006"};
  const ScratchFile waveform;
  return {{"round_trip_1m_wall", wall.median, "s", 10, Better::lower, std::nullopt, wall.noisy},
          clock,
          slower("instrumented_over_fast", "rtl:instrumented", clock, 1.5),
          slower("waveform_over_fast", "rtl:wave=" + waveform.path(), clock, 5),
          {"idle_board_cpu", idle_cpu_percent(), "% of a core", 1, Better::lower, std::nullopt, false},
          {"resident_after_3m_touched", (resident_bytes() - resident) / static_cast<double>(mib), "MiB", 32,
           Better::lower, std::nullopt, false}};
}

}  // namespace datum::bench
