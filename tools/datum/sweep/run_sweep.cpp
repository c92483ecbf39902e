#include "tools/datum/sweep/run_sweep.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <utility>
#include <vector>

#include <datum/base/mapping.hpp>

#include "tools/datum/sweep/bench_device.hpp"
#include "tools/datum/sweep/measure.hpp"

namespace datum::tool {

namespace {

using Points = Result<std::vector<SweepPoint>>;
using Memory = BenchDevice::Memory;

struct Work {
  BenchDevice& device;
  const SweepLimits& limits;
};

/// A line of a sweep: what it is called, and one operation of so many bytes.
struct Line {
  const char* name;
  Result<SweepPoint> (*run)(const Work&, std::uint64_t bytes);
};

Result<SweepPoint> copy_between(const Work& work, MemoryPlace from, MemoryPlace to, std::uint64_t bytes) {
  Result<Memory> source = work.device.memory(from, bytes);
  Result<Memory> target = work.device.memory(to, bytes);
  for (const Result<Memory>* made : {&source, &target}) {
    if (!*made) {
      return made->error();
    }
  }
  return measure(bytes, work.limits.per_point,
                 [&] { return work.device.copy(target->get(), source->get(), bytes); });
}

template <MemoryPlace From, MemoryPlace To>
Result<SweepPoint> copies(const Work& work, std::uint64_t bytes) {
  return copy_between(work, From, To, bytes);
}

Result<SweepPoint> fills(const Work& work, std::uint64_t bytes) {
  Result<Memory> target = work.device.memory(MemoryPlace::device, bytes);
  if (!target) {
    return std::move(target).error();
  }
  return measure(bytes, work.limits.per_point, [&] { return work.device.fill(target->get(), bytes); });
}

template <MemoryPlace Place>
Result<SweepPoint> allocations(const Work& work, std::uint64_t bytes) {
  return measure(bytes, work.limits.per_point, [&]() -> Status {
    void* pointer = nullptr;
    Status made = work.device.allocate(Place, bytes, &pointer);
    return made ? work.device.free(pointer) : made;
  });
}

Result<SweepPoint> mappings(const Work& work, std::uint64_t bytes) {
  void* const pages =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (pages == MAP_FAILED) {
    return Error{
        ErrorCode::out_of_host_memory, errno, std::string("no memory to map: ") + std::strerror(errno), {}};
  }
  const Mapping memory(pages, bytes);
  return measure(bytes, work.limits.per_point, [&]() -> Status {
    Status made = work.device.import(pages, bytes);
    return made ? work.device.free(pages) : made;
  });
}

struct Plan {
  std::string_view name;
  const char* title;
  SweepUnit unit;
  std::uint64_t smallest_bytes;
  std::uint64_t largest_bytes;  ///< 0: what is asked for
  std::vector<Line> lines;
};

constexpr std::uint64_t page_bytes = 4096;
constexpr std::array<std::string_view, 5> all_sweeps{"copy", "fill", "latency", "allocation", "mapping"};

Plan plan_of(std::string_view name) {
  constexpr MemoryPlace device = MemoryPlace::device;
  constexpr MemoryPlace host = MemoryPlace::host;
  constexpr MemoryPlace shared = MemoryPlace::shared;
  if (name == "copy") {
    return {name,
            "Copies",
            SweepUnit::megabytes_per_s,
            64,
            0,
            {{"host to device", copies<host, device>},
             {"device to host", copies<device, host>},
             {"device to device", copies<device, device>}}};
  }
  if (name == "fill") {
    return {name, "Fills of device memory", SweepUnit::megabytes_per_s, 64, 0, {{"fill", fills}}};
  }
  if (name == "latency") {
    return {name,
            "Small copies, from call to return",
            SweepUnit::microseconds,
            1,
            page_bytes,
            {{"host to device", copies<host, device>}, {"device to host", copies<device, host>}}};
  }
  if (name == "allocation") {
    return {name,
            "Allocating and freeing",
            SweepUnit::microseconds,
            page_bytes,
            0,
            {{"device", allocations<device>}, {"host", allocations<host>}, {"shared", allocations<shared>}}};
  }
  return {name,
          "Mapping memory of the process, and letting it go",
          SweepUnit::microseconds,
          page_bytes,
          0,
          {{"mapping", mappings}}};
}

/// Four times as much from size to size.
std::vector<std::uint64_t> sizes_of(const Plan& plan, const SweepLimits& limits) {
  const std::uint64_t largest =
      plan.largest_bytes == 0 ? limits.largest_bytes : std::min(plan.largest_bytes, limits.largest_bytes);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = plan.smallest_bytes; bytes <= largest; bytes *= 4) {
    sizes.push_back(bytes);
  }
  return sizes;
}

}  // namespace

std::span<const std::string_view> sweep_names() noexcept { return all_sweeps; }

std::size_t sweep_points(std::string_view name, const SweepLimits& limits) {
  const Plan plan = plan_of(name);
  return sizes_of(plan, limits).size() * plan.lines.size();
}

Result<Sweep> run_sweep(std::string_view name, BenchDevice& device, const SweepLimits& limits,
                        const SweepProgress& progress) {
  const Plan plan = plan_of(name);
  const std::vector<std::uint64_t> sizes = sizes_of(plan, limits);
  Sweep sweep{std::string(plan.name), plan.title, plan.unit, {}};
  for (const Line& line : plan.lines) {
    SweepSeries series{line.name, {}};
    for (const std::uint64_t bytes : sizes) {
      progress(series, bytes);
      Result<SweepPoint> point = line.run({device, limits}, bytes);
      if (!point) {
        return std::move(point).error();
      }
      series.points.push_back(*point);
    }
    sweep.series.push_back(std::move(series));
  }
  return sweep;
}

}  // namespace datum::tool
