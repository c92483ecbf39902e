// The sweeps that `datum bench` knows.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include <datum/base/result.hpp>

#include "tools/datum/sweep/sweep.hpp"

namespace datum::tool {

class BenchDevice;

struct SweepLimits {
  std::uint64_t largest_bytes = 1ULL << 20U;
  std::chrono::nanoseconds per_point{50'000'000};
};

/// Called before each point: the series and the size.
using SweepProgress = std::function<void(const SweepSeries&, std::uint64_t bytes)>;

/// "copy", "fill", "latency", "allocation", "mapping"
[[nodiscard]] std::span<const std::string_view> sweep_names() noexcept;

/// How many points run_sweep measures.
[[nodiscard]] std::size_t sweep_points(std::string_view name, const SweepLimits& limits);

/// `name` is one of sweep_names(). What the driver refuses ends it.
[[nodiscard]] Result<Sweep> run_sweep(std::string_view name, BenchDevice& device, const SweepLimits& limits,
                                      const SweepProgress& progress);

}  // namespace datum::tool
