#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

#include "tools/bench/groups.hpp"
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

}  // namespace

std::vector<Figure> run_sim_group() {
  constexpr std::size_t mib = 1U << 20U;
  const Session session("rtl:");
  const double resident = resident_bytes();
  void* host = session.allocate_host(mib);
  void* first = session.allocate_device(mib);
  void* second = session.allocate_device(mib);

  const auto wall_before = std::chrono::steady_clock::now();
  const double cpu_before = process_cpu_seconds();
  const std::uint64_t cycles = session.copy_cycles(first, host, mib) +
                               session.copy_cycles(second, first, mib) +
                               session.copy_cycles(host, second, mib);
  const double cpu_seconds = process_cpu_seconds() - cpu_before;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_before;

  std::vector<Figure> figures{
      {"round_trip_1m_wall", wall.count(), "s", 10, Better::lower, std::nullopt, false},
      {"simulated_clock_while_copying", static_cast<double>(cycles) / cpu_seconds / 1000, "kHz", std::nullopt,
       Better::higher, Peer{310, "iDMA alone, 512 bit, Verilator 5.006"}, false},
      {"idle_board_cpu", idle_cpu_percent(), "% of a core", 1, Better::lower, std::nullopt, false},
      {"resident_after_3m_touched", (resident_bytes() - resident) / static_cast<double>(mib), "MiB", 32,
       Better::lower, std::nullopt, false}};
  session.free(host);
  session.free(first);
  session.free(second);
  return figures;
}

}  // namespace datum::bench
