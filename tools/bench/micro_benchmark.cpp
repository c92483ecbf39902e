#include "tools/bench/micro_benchmark.hpp"

#include <algorithm>
#include <ostream>
#include <vector>

#include <benchmark/benchmark.h>

namespace datum::bench {
namespace {

constexpr int repetitions = 7;
constexpr double seconds_per_repetition = 0.2;
constexpr double tolerated_spread = 0.25;

/// Keeps the time of each repetition instead of printing it.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration) {
        times_ns.push_back(run.GetAdjustedCPUTime());
      }
    }
  }

  std::vector<double> times_ns;
};

}  // namespace

Timing time_body(const std::string& name, double calls_per_body, const std::function<void()>& body) {
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(name.c_str(),
                               [&body](benchmark::State& state) {
                                 for (auto _ : state) {
                                   body();
                                 }
                               })
      ->Repetitions(repetitions)
      ->MinTime(seconds_per_repetition)
      ->Unit(benchmark::kNanosecond);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);

  std::vector<double>& times = collector.times_ns;
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  // The lower quartile against the median: a busy machine only ever adds time.
  const double spread = (median - times[times.size() / 4]) / median;
  return {median / calls_per_body, spread > tolerated_spread};
}

Timing time_call(const std::string& name, const std::function<void()>& call) {
  return time_body(name, 1, call);
}

}  // namespace datum::bench
