#include "tools/demo/round_trip.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "tools/demo/report.hpp"

namespace datum::demo {
namespace {

struct Step {
  const char* name;
  void* to;
  const void* from;
};

void run(const Session& session, const Step& step, std::size_t bytes) {
  const auto clock_before = session.board_clock();
  const auto wall_before = std::chrono::steady_clock::now();
  session.copy(step.to, step.from, bytes);
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - wall_before;
  const auto clock_after = session.board_clock();

  std::string cycles = "-";
  std::string rate = "-";
  if (clock_before && clock_after && clock_after->cycles > clock_before->cycles) {
    const std::uint64_t spent = clock_after->cycles - clock_before->cycles;
    cycles = fmt::format("{}", spent);
    rate = fmt::format("{:.1f}", static_cast<double>(bytes) / static_cast<double>(spent));
  }
  fmt::print("{:<18} {:>12} {:>12} {:>12} {:>12.1f}\n", step.name, bytes, cycles, rate, wall.count());
}

bool report_comparison(std::span<const std::byte> expected, const std::byte* actual) {
  const auto [left, right] = std::mismatch(expected.begin(), expected.end(), actual);
  if (left == expected.end()) {
    fmt::print("compare            all {} bytes came back\n", expected.size());
    return true;
  }
  fmt::print("compare            byte {} is 0x{:02x}, should be 0x{:02x}\n", left - expected.begin(),
             std::to_integer<unsigned>(*right), std::to_integer<unsigned>(*left));
  return false;
}

}  // namespace

bool round_trip(const Session& session, std::span<const std::byte> file) {
  const Buffer source = session.allocate_host(file.size());
  const Buffer first = session.allocate_device(file.size());
  const Buffer second = session.allocate_device(file.size());
  const Buffer result = session.allocate_host(file.size());
  std::memcpy(source.get(), file.data(), file.size());
  // A byte that never arrives must not look right by chance.
  std::transform(file.begin(), file.end(), static_cast<std::byte*>(result.get()),
                 [](std::byte value) { return ~value; });

  fmt::print("{:<18} {:>12} {:>12} {:>12} {:>12}\n", "step", "bytes", "cycles", "bytes/cycle", "wall ms");
  for (const Step& step : {Step{"host to device", first.get(), source.get()},
                           Step{"device to device", second.get(), first.get()},
                           Step{"device to host", result.get(), second.get()}}) {
    run(session, step, file.size());
  }
  return report_comparison(file, static_cast<const std::byte*>(result.get()));
}

}  // namespace datum::demo
