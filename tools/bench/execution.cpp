#include "tools/bench/execution.hpp"

#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "tools/bench/command_objects.hpp"
#include "tools/bench/micro_benchmark.hpp"

namespace datum::bench {
namespace {

/// Contains the board's own work and the way there and back, so it has no goal of its own.
Figure round_trip_figure(const Session& session, const CommandObjects& objects) {
  void* to = session.allocate_device(4096);
  void* from = session.allocate_host(4096);
  const Timing timing = time_call("execute", [&] {
    objects.append_copy(to, from, 64);
    objects.close();
    objects.execute();
    objects.wait();
    objects.reset();
  });
  session.free(to);
  session.free(from);
  return {"copy_64b_round_trip_host_cpu",
          timing.ns / 1000,
          "us",
          std::nullopt,
          Better::lower,
          std::nullopt,
          timing.noisy};
}

double process_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// 1,000 copies in one list against as many calls of memcpy between the same kinds of memory: on the wall,
/// and by the processor time of all threads, which tells the work from what a busy machine lets it wait.
std::vector<Figure> bulk_figures(const Session& session, const CommandObjects& objects) {
  constexpr std::size_t bytes = 64UL * 1024;
  constexpr int copies = 1000;
  constexpr int rounds = 15;
  void* to = session.allocate_device(bytes);
  void* from = session.allocate_host(bytes);
  void* plain = session.allocate_host(bytes);
  std::memset(from, 1, bytes);
  std::memset(plain, 2, bytes);
  for (int copy = 0; copy < copies; ++copy) {
    objects.append_copy(to, from, bytes);
  }
  objects.close();
  std::vector<double> wall_ratios;
  std::vector<double> work_ratios;
  for (int round = 0; round < rounds; ++round) {
    const Clock::time_point begin = Clock::now();
    const double begin_cpu_ns = process_cpu_ns();
    objects.execute();
    objects.wait();
    const Clock::time_point between = Clock::now();
    const double between_cpu_ns = process_cpu_ns();
    for (int copy = 0; copy < copies; ++copy) {
      std::memcpy(plain, from, bytes);
      asm volatile("" ::: "memory");
    }
    wall_ratios.push_back(ns_between(begin, between) / ns_between(between, Clock::now()));
    work_ratios.push_back((between_cpu_ns - begin_cpu_ns) / (process_cpu_ns() - between_cpu_ns));
  }
  objects.reset();
  session.free(to);
  session.free(from);
  session.free(plain);
  const Timing wall = judge(wall_ratios);
  const Timing work = judge(work_ratios);
  return {{"copies_1000_of_64k", wall.ns, "x memcpy", 2, Better::lower, std::nullopt, wall.noisy},
          {"copies_1000_of_64k_work", work.ns, "x memcpy", std::nullopt, Better::lower, std::nullopt,
           work.noisy}};
}

}  // namespace

std::vector<Figure> measure_execution(const Session& session) {
  const CommandObjects objects(session);
  std::vector<Figure> figures{round_trip_figure(session, objects)};
  for (Figure& figure : bulk_figures(session, objects)) {
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace datum::bench
