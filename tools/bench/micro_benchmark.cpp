#include "tools/bench/micro_benchmark.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ostream>
#include <vector>

#include <benchmark/benchmark.h>

namespace datum::bench {
namespace {

constexpr int repetitions = 7;
constexpr double usual_seconds = 0.2;
constexpr double tolerated_spread = 0.25;

/// DATUM_BENCH_SECONDS, for a quick look; children inherit it.
double seconds_per_repetition() {
  const char* const text = std::getenv("DATUM_BENCH_SECONDS");
  const double seconds = text != nullptr ? std::strtod(text, nullptr) : usual_seconds;
  return seconds > 0 ? seconds : usual_seconds;
}

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

Timing judge(std::vector<double>& times_ns) {
  std::sort(times_ns.begin(), times_ns.end());
  const double median = times_ns[times_ns.size() / 2];
  // The lower quartile against the median: a busy machine only ever adds time.
  const double spread = (median - times_ns[times_ns.size() / 4]) / median;
  return {median, spread > tolerated_spread};
}

Timing time_body(const std::string& name, double calls_per_body, const std::function<void()>& body) {
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(name.c_str(),
                               [&body](benchmark::State& state) {
                                 for (auto _ : state) {
                                   body();
                                 }
                               })
      ->Repetitions(repetitions)
      ->MinTime(seconds_per_repetition())
      ->Unit(benchmark::kNanosecond);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);

  const Timing timing = judge(collector.times_ns);
  return {timing.ns / calls_per_body, timing.noisy};
}

Timing repeat(const std::function<double()>& measure_ns) {
  std::vector<double> times(repetitions);
  std::generate(times.begin(), times.end(), measure_ns);
  return judge(times);
}

double wall_ns(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

Timing time_call(const std::string& name, const std::function<void()>& call) {
  return time_body(name, 1, call);
}

}  // namespace datum::bench
