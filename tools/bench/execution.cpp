#include "tools/bench/execution.hpp"

#include <atomic>
#include <chrono>
#include <cstring>

#include "tools/bench/command_objects.hpp"
#include "tools/bench/micro_benchmark.hpp"
#include "tools/bench/processors.hpp"

namespace datum::bench {
namespace {

using Clock = std::chrono::steady_clock;

double ns_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

/// What reading the clock twice costs. It is read without a call of the kernel, which the clock of a thread's
/// own time is not: that would cost more than what is measured, and cool the caches down before it.
double clock_cost_ns() {
  return repeat([] {
           const Clock::time_point begin = Clock::now();
           return ns_between(begin, Clock::now());
         })
      .ns;
}

/// What the calling thread does itself for one copy. Not in it: what the board does, waiting for it, and
/// waking it, for it is awake (it looks out for doorbells for some microseconds after its last work, and has
/// a processor of its own here). Whether it is done is seen by its bytes, untimed, and its record has the
/// time to follow. In it: the register write of the doorbell, with the turn that the simulated board gives
/// for it.
Figure host_work_figure(const Session& session, const CommandObjects& objects) {
  constexpr int rounds = 5000;
  constexpr auto record_time = std::chrono::microseconds(3);
  auto* to = static_cast<unsigned char*>(session.allocate_host(4096));
  auto* from = static_cast<unsigned char*>(session.allocate_host(4096));
  const double clock_ns = clock_cost_ns();
  std::vector<double> times_ns;
  {
    const ProcessorOfOnesOwn apart;
    for (int round = 0; round < rounds; ++round) {
      const auto value = static_cast<unsigned char>(round % 255 + 1);
      std::memset(from, value, 64);
      const Clock::time_point begin = Clock::now();
      objects.append_copy(to, from, 64);
      objects.close();
      objects.execute();
      const Clock::time_point submitted = Clock::now();
      while (std::atomic_ref(to[63]).load(std::memory_order_acquire) != value) {
      }
      const Clock::time_point settled = Clock::now() + record_time;
      while (Clock::now() < settled) {
      }
      const Clock::time_point done = Clock::now();
      objects.wait();
      objects.reset();
      times_ns.push_back(ns_between(begin, submitted) + ns_between(done, Clock::now()) - 2 * clock_ns);
    }
  }
  session.free(to);
  session.free(from);
  const Timing timing = judge(times_ns);
  return {"copy_host_work", timing.ns / 1000, "us", 1.0, Better::lower, std::nullopt, timing.noisy};
}

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

/// 1,000 copies in one list against as many calls of memcpy between the same kinds of memory.
Figure bulk_figure(const Session& session, const CommandObjects& objects) {
  constexpr std::size_t bytes = 64 * 1024;
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
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    const Clock::time_point begin = Clock::now();
    objects.execute();
    objects.wait();
    const Clock::time_point between = Clock::now();
    for (int copy = 0; copy < copies; ++copy) {
      std::memcpy(plain, from, bytes);
      asm volatile("" ::: "memory");
    }
    ratios.push_back(ns_between(begin, between) / ns_between(between, Clock::now()));
  }
  objects.reset();
  session.free(to);
  session.free(from);
  session.free(plain);
  const Timing ratio = judge(ratios);
  return {"copies_1000_of_64k", ratio.ns, "x memcpy", 2, Better::lower, std::nullopt, ratio.noisy};
}

}  // namespace

std::vector<Figure> measure_execution(const Session& session) {
  const CommandObjects objects(session);
  return {round_trip_figure(session, objects), host_work_figure(session, objects),
          bulk_figure(session, objects)};
}

}  // namespace datum::bench
