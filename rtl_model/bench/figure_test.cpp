// The figures of the engine meet their goals: they are exact, so a change that costs a cycle shows.
#include <gtest/gtest.h>

#include "rtl_model/bench/engine_bench.hpp"

namespace datum::bench {
namespace {

TEST(EngineFigures, given_the_ideal_memory_when_measured_then_every_figure_meets_its_goal) {
  const std::vector<EngineFigure> figures = engine_bench_figures();
  EXPECT_GE(figures.size(), 7U);
  for (const EngineFigure& figure : figures) {
    RecordProperty(figure.name, std::to_string(figure.value));
    EXPECT_TRUE(figure.better == "higher" ? figure.value >= figure.goal : figure.value <= figure.goal)
        << figure.name << " is " << figure.value << " " << figure.unit << ", goal " << figure.goal;
  }
}

}  // namespace
}  // namespace datum::bench
