#include "tools/bench/host_work.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <vector>

#include "tools/bench/command_objects.hpp"
#include "tools/bench/micro_benchmark.hpp"
#include "tools/bench/processors.hpp"

namespace datum::bench {
namespace {

constexpr std::size_t copied_bytes = 64;
constexpr int copies = 5000;
/// After its bytes the record of a copy follows within this time.
constexpr auto record_time = std::chrono::microseconds(3);

/// What reading the clock twice costs. It is read without a call of the kernel, which the clock of a thread's
/// own time is not: that would cost more than what is measured, and cool the caches down before it.
double clock_cost_ns() {
  return repeat([] {
           const Clock::time_point begin = Clock::now();
           return ns_between(begin, Clock::now());
         })
      .ns;
}

struct Copy {
  explicit Copy(const Session& of)
      : session(of),
        to(static_cast<unsigned char*>(of.allocate_host(4096))),
        from(static_cast<unsigned char*>(of.allocate_host(4096))) {}

  ~Copy() {
    zeMemFree(session.context(), to);
    zeMemFree(session.context(), from);
  }

  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  const Session& session;
  unsigned char* to;
  unsigned char* from;
};

/// Untimed: until the bytes are there, and the record has had its time.
void wait_for_bytes(const Copy& copy, unsigned char value) {
  while (std::atomic_ref(copy.to[copied_bytes - 1]).load(std::memory_order_acquire) != value) {
  }
  const Clock::time_point settled = Clock::now() + record_time;
  while (Clock::now() < settled) {
  }
}

/// The peer without a device answers every call and moves nothing.
bool moves_bytes(const CommandObjects& objects, const Copy& copy) {
  copy.to[0] = 0;
  copy.from[0] = 1;
  objects.append_copy(copy.to, copy.from, copied_bytes);
  objects.close();
  objects.execute();
  objects.wait();
  objects.reset();
  return copy.to[0] == 1;
}

}  // namespace

/// Not in the figure: what the board does, waiting for it, and waking it, for it is awake (it looks out for
/// doorbells for some microseconds after its last work, and has a processor of its own here). In it: the
/// register write of the doorbell, with the turn that the simulated board gives for it.
Figure measure_host_work(const Session& session) {
  const CommandObjects objects(session);
  const Copy copy(session);
  const bool moves = moves_bytes(objects, copy);
  const double clock_ns = clock_cost_ns();
  std::vector<double> times_ns;
  {
    const ProcessorOfOnesOwn apart;
    for (int round = 0; round < copies; ++round) {
      const auto value = static_cast<unsigned char>(round % 255 + 1);
      std::memset(copy.from, value, copied_bytes);
      const Clock::time_point begin = Clock::now();
      objects.append_copy(copy.to, copy.from, copied_bytes);
      objects.close();
      objects.execute();
      const Clock::time_point submitted = Clock::now();
      if (moves) {
        wait_for_bytes(copy, value);
      }
      const Clock::time_point done = Clock::now();
      objects.wait();
      objects.reset();
      times_ns.push_back(ns_between(begin, submitted) + ns_between(done, Clock::now()) - 2 * clock_ns);
    }
  }
  const Timing timing = judge(times_ns);
  return {"copy_host_work", timing.ns / 1000, "us", 1.0, Better::lower, std::nullopt, timing.noisy};
}

}  // namespace datum::bench
