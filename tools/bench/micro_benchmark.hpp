// Host-side costs of single calls, by Google Benchmark: repeated, and judged by the median of the
// repetitions.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace datum::bench {

using Clock = std::chrono::steady_clock;

inline double ns_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

struct Timing {
  double ns = 0;  ///< median time of one call, nanoseconds; of the CPU unless the function says otherwise
  bool noisy = false;  ///< the repetitions spread by more than a quarter of the median
};

/// Runs `call` for about two seconds in all, or seven times DATUM_BENCH_SECONDS if that is set. `call` must
/// not throw.
Timing time_call(const std::string& name, const std::function<void()>& call);

/// The same for a body that does `calls_per_body` calls.
Timing time_body(const std::string& name, double calls_per_body, const std::function<void()>& body);

/// Median of what `measure_ns` gives when it is called seven times; for times of the clock on the wall, where
/// other threads or processes do a part of the work.
Timing repeat(const std::function<double()>& measure_ns);

/// Median of `times_ns`, which it sorts, and whether they spread.
Timing judge(std::vector<double>& times_ns);

/// Nanoseconds on the wall that `body` takes.
double wall_ns(const std::function<void()>& body);

}  // namespace datum::bench
