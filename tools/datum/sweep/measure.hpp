// How long one operation takes, found by repeating it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include <datum/base/result.hpp>

#include "tools/datum/sweep/sweep.hpp"

namespace datum::tool {

/// Repeats `operation`, which returns a Status, for `budget`, once at least; the first error ends it. Short
/// ones are timed several at a time, so that reading the clock does not count. The first one is not counted
/// unless it alone took the budget.
template <class Operation>
Result<SweepPoint> measure(std::uint64_t bytes, std::chrono::nanoseconds budget, Operation operation) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds enough_to_time{20};
  constexpr std::size_t most_samples = 10'000;
  std::vector<double> each_us;
  Status good;
  const auto run = [&](std::uint64_t times) {
    const auto start = Clock::now();
    for (std::uint64_t i = 0; i < times && good; ++i) {
      good = operation();
    }
    return Clock::now() - start;
  };
  const auto keep = [&](Clock::duration took, std::uint64_t times) {
    each_us.push_back(std::chrono::duration<double, std::micro>(took).count() / static_cast<double>(times));
  };
  const auto end = Clock::now() + budget;
  if (const Clock::duration first = run(1); first >= budget) {
    keep(first, 1);
  }
  std::uint64_t batch = 1;
  while (good && Clock::now() < end && each_us.size() < most_samples) {
    const Clock::duration took = run(batch);
    if (took < enough_to_time) {
      batch *= 2;
    } else {
      keep(took, batch);
    }
  }
  if (good && each_us.empty()) {
    keep(run(batch), batch);
  }
  if (!good) {
    return std::move(good).error();
  }
  std::sort(each_us.begin(), each_us.end());
  return SweepPoint{bytes, each_us[each_us.size() / 2], each_us.front(), each_us.back(), each_us.size()};
}

}  // namespace datum::tool
