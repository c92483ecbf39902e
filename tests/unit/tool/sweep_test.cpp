#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/datum/sweep/measure.hpp"
#include "tools/datum/sweep/run_sweep.hpp"
#include "tools/datum/sweep/sweep_output.hpp"

namespace datum::tool {
namespace {

constexpr std::chrono::milliseconds budget{2};

SweepPoint point_of(std::uint64_t bytes, double us) { return {bytes, us, us / 2, us * 2, 7}; }

/// Two series; the second lacks a size.
Sweep two_series() {
  return {"copy",
          "Copies",
          SweepUnit::megabytes_per_s,
          {{"to <device>", {point_of(64, 1), point_of(4096, 4)}}, {"to host", {point_of(4096, 2)}}}};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Sweep, given_an_operation_that_is_refused_then_its_error_ends_the_measurement) {
  int calls = 0;
  const Result<SweepPoint> point = measure(64, budget, [&]() -> Status {
    return ++calls == 3 ? Status(make_error(ErrorCode::out_of_device_memory, "full")) : Status{};
  });
  ASSERT_FALSE(point.ok());
  EXPECT_EQ("full", point.error().message);
  EXPECT_EQ(3, calls);
}

TEST(Sweep, given_an_operation_that_takes_longer_than_its_time_then_it_is_done_once) {
  int calls = 0;
  const Result<SweepPoint> point = measure(64, budget, [&]() -> Status {
    ++calls;
    std::this_thread::sleep_for(2 * budget);
    return {};
  });
  EXPECT_EQ(1, calls);
  EXPECT_EQ(1U, point->samples);
  EXPECT_GE(point->median_us, 4000.0);
}

TEST(Sweep, given_short_operations_then_the_median_lies_between_the_fastest_and_the_slowest) {
  const Result<SweepPoint> point = measure(64, budget, []() -> Status { return {}; });
  ASSERT_TRUE(point.ok());
  EXPECT_GT(point->samples, 0U);
  EXPECT_LE(point->fastest_us, point->median_us);
  EXPECT_LE(point->median_us, point->slowest_us);
}

TEST(Sweep, given_a_largest_size_then_the_points_are_those_that_fit) {
  EXPECT_EQ(3U * 4, sweep_points("copy", {4096, budget})) << "64, 256, 1024, 4096";
  EXPECT_EQ(2U * 7, sweep_points("latency", {1U << 20U, budget})) << "1 to 4096 and no further";
  EXPECT_EQ(3U * 1, sweep_points("allocation", {16'383, budget}));
}

TEST(Sweep, given_a_size_that_a_series_lacks_then_the_table_has_a_dash_there) {
  EXPECT_EQ("Copies, MB/s\n      size       to <device>           to host\n  64 bytes             64.00      "
            "           -\n"
            "     4 KiB           1024.00           2048.00\n",
            sweep_table(two_series()));
}

TEST(Sweep, given_a_report_then_csv_and_json_have_every_point) {
  const SweepReport report{"model:", "a board", {two_series()}};
  EXPECT_EQ("sweep,series,bytes,median_us,fastest_us,slowest_us,samples,megabytes_per_s\r\n"
            "copy,to <device>,64,1.000,0.500,2.000,7,64.00\r\n"
            "copy,to <device>,4096,4.000,2.000,8.000,7,1024.00\r\n"
            "copy,to host,4096,2.000,1.000,4.000,7,2048.00\r\n",
            sweep_csv(report));
  const nlohmann::ordered_json json = sweep_json(report);
  EXPECT_EQ("model:", json["board"]);
  EXPECT_EQ(4096, json["sweeps"][0]["series"][1]["points"][0]["bytes"]);
  EXPECT_EQ(2.0, json["sweeps"][0]["series"][1]["points"][0]["median_us"]);
}

TEST(Sweep, given_a_page_then_each_point_is_in_its_chart_and_names_are_no_markup) {
  const std::string page = sweep_page({"model:memory=1<2", "a board", {two_series()}});
  EXPECT_EQ(3U, count_of(page, "<circle "));
  EXPECT_EQ(2U, count_of(page, "<polyline "));
  EXPECT_EQ(0U, count_of(page, "<device>"));
  EXPECT_EQ(1U, count_of(page, "memory=1&lt;2"));
  EXPECT_EQ(0U, count_of(page, "://")) << "it asks nothing of a network";
}

TEST(Sweep, given_values_of_nothing_then_they_are_left_out_of_the_chart) {
  Sweep sweep = two_series();
  sweep.series[0].points[0].median_us = 0;
  EXPECT_EQ(2U, count_of(sweep_chart(sweep), "<circle "));
  sweep.series.clear();
  EXPECT_EQ("", sweep_chart(sweep));
}

}  // namespace
}  // namespace datum::tool
