// Host-side costs of single calls, by Google Benchmark: repeated, and judged by the median of the
// repetitions.
#pragma once

#include <functional>
#include <string>

namespace datum::bench {

struct Timing {
  double ns = 0;       ///< median CPU time of one call, nanoseconds
  bool noisy = false;  ///< the repetitions spread by more than a quarter of the median
};

/// Runs `call` for about two seconds in all. `call` must not throw.
Timing time_call(const std::string& name, const std::function<void()>& call);

/// The same for a body that does `calls_per_body` calls.
Timing time_body(const std::string& name, double calls_per_body, const std::function<void()>& body);

}  // namespace datum::bench
