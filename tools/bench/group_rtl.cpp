#include "tools/bench/groups.hpp"
#include "tools/bench/session.hpp"

#ifdef DATUM_HAVE_ENGINE_BENCH
#include "rtl_model/bench/engine_bench.hpp"
#endif

namespace datum::bench {
namespace {

constexpr std::size_t copy_bytes = 4U << 20U;
constexpr double bus_bytes_per_cycle = 64;

/// Share of a 64-byte bus that moving `bytes` in `cycles` takes, percent.
double share(std::size_t bytes, std::uint64_t cycles) {
  return 100.0 * static_cast<double>(bytes) / (static_cast<double>(cycles) * bus_bytes_per_cycle);
}

std::vector<Figure> whole_board_figures() {
  const Session session("rtl:");
  void* host = session.allocate_host(copy_bytes);
  void* first = session.allocate_device(copy_bytes);
  void* second = session.allocate_device(copy_bytes);
  session.copy_cycles(first, host, 4096);  // tables and TLB entries that the first copy needs

  const std::uint64_t in = session.copy_cycles(first, host, copy_bytes);
  const std::uint64_t across = session.copy_cycles(second, first, copy_bytes);
  const std::uint64_t out = session.copy_cycles(host, second, copy_bytes);
  session.free(host);
  session.free(first);
  session.free(second);
  return {
      {"board_host_to_device_4m", share(copy_bytes, in), "% of bus", 85, Better::higher, std::nullopt, false},
      {"board_device_to_host_4m", share(copy_bytes, out), "% of bus", 85, Better::higher, std::nullopt,
       false},
      // The DRAM data bus carries every byte twice: read and written.
      {"board_device_to_device_4m", share(2 * copy_bytes, across), "% of DRAM bus", 80, Better::higher,
       std::nullopt, false}};
}

#ifdef DATUM_HAVE_ENGINE_BENCH
std::vector<Figure> engine_figures() {
  std::vector<Figure> figures;
  for (const auto& measured : engine_bench_figures()) {
    Figure figure;
    figure.name = "engine_" + measured.name;
    figure.value = measured.value;
    figure.unit = measured.unit;
    figure.goal = measured.goal;
    figure.better = measured.better == "lower" ? Better::lower : Better::higher;
    figures.push_back(std::move(figure));
  }
  return figures;
}
#else
std::vector<Figure> engine_figures() { return {}; }
#endif

}  // namespace

std::vector<Figure> run_rtl_group() {
  std::vector<Figure> figures = engine_figures();
  for (Figure& figure : whole_board_figures()) {
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace datum::bench
