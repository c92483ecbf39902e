#include <algorithm>
#include <iterator>

#include "tools/bench/board_traffic.hpp"
#include "tools/bench/groups.hpp"
#include "tools/bench/session.hpp"

#ifdef DATUM_HAVE_ENGINE_BENCH
#include "rtl_model/bench/engine_bench.hpp"
#endif

namespace datum::bench {
namespace {

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
  const Session session("rtl:step");  // time passes in waits alone, so that cycles repeat
  std::ranges::move(measure_board_traffic(session), std::back_inserter(figures));
  return figures;
}

}  // namespace datum::bench
