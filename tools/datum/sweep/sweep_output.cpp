#include "tools/datum/sweep/sweep_output.hpp"

#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/datum/output.hpp"
#include "tools/datum/sweep/html_text.hpp"

namespace datum::tool {

namespace {

using Json = nlohmann::ordered_json;

/// Series may lack sizes that others have.
std::map<std::uint64_t, std::vector<std::string>> cells_of(const Sweep& sweep) {
  std::map<std::uint64_t, std::vector<std::string>> table;
  for (std::size_t column = 0; column < sweep.series.size(); ++column) {
    for (const SweepPoint& point : sweep.series[column].points) {
      std::vector<std::string>& row = table[point.bytes];
      row.resize(sweep.series.size(), "-");
      row[column] = fmt::format("{:.2f}", sweep.value(point));
    }
  }
  return table;
}

std::string html_table(const Sweep& sweep) {
  std::string text = fmt::format("<table>\n<tr><th>size</th>");
  for (const SweepSeries& series : sweep.series) {
    text += fmt::format("<th>{}, {}</th>", html_text(series.name), sweep.unit_text());
  }
  text += "</tr>\n";
  for (const auto& [bytes, cells] : cells_of(sweep)) {
    text += fmt::format("<tr><td>{}</td>", bytes_text(bytes));
    for (const std::string& cell : cells) {
      text += fmt::format("<td>{}</td>", cell);
    }
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

constexpr std::string_view page_head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>datum bench</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 15px sans-serif; margin: 2em auto; max-width: 60em; color: #222; }
svg { width: 100%; height: auto; font: 12px sans-serif; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border-bottom: 1px solid #ccc; padding: 0.2em 1em; text-align: right; }
</style>
</head>
<body>
)";

}  // namespace

std::string sweep_table(const Sweep& sweep) {
  std::string text = fmt::format("{}, {}\n{:>10}", sweep.title, sweep.unit_text(), "size");
  for (const SweepSeries& series : sweep.series) {
    text += fmt::format("  {:>16}", series.name);
  }
  text += '\n';
  for (const auto& [bytes, cells] : cells_of(sweep)) {
    text += fmt::format("{:>10}", bytes_text(bytes));
    for (const std::string& cell : cells) {
      text += fmt::format("  {:>16}", cell);
    }
    text += '\n';
  }
  return text;
}

std::string sweep_csv(const SweepReport& report) {
  std::string text = "sweep,series,bytes,median_us,fastest_us,slowest_us,samples,megabytes_per_s\r\n";
  for (const Sweep& sweep : report.sweeps) {
    for (const SweepSeries& series : sweep.series) {
      for (const SweepPoint& point : series.points) {
        text += fmt::format("{},{},{},{:.3f},{:.3f},{:.3f},{},{:.2f}\r\n", sweep.name, series.name,
                            point.bytes, point.median_us, point.fastest_us, point.slowest_us, point.samples,
                            point.megabytes_per_s());
      }
    }
  }
  return text;
}

Json sweep_json(const SweepReport& report) {
  Json sweeps = Json::array();
  for (const Sweep& sweep : report.sweeps) {
    Json all_series = Json::array();
    for (const SweepSeries& series : sweep.series) {
      Json points = Json::array();
      for (const SweepPoint& point : series.points) {
        points.push_back({{"bytes", point.bytes},
                          {"median_us", point.median_us},
                          {"fastest_us", point.fastest_us},
                          {"slowest_us", point.slowest_us},
                          {"samples", point.samples},
                          {"megabytes_per_s", point.megabytes_per_s()}});
      }
      all_series.push_back({{"name", series.name}, {"points", std::move(points)}});
    }
    sweeps.push_back({{"name", sweep.name},
                      {"title", sweep.title},
                      {"unit", sweep.unit_text()},
                      {"series", std::move(all_series)}});
  }
  return {{"board", report.board}, {"device", report.device}, {"sweeps", std::move(sweeps)}};
}

std::string sweep_page(const SweepReport& report) {
  std::string text(page_head);
  text += fmt::format("<h1>datum bench: {}</h1>\n", html_text(report.device));
  if (!report.board.empty()) {
    text += fmt::format("<p>Board <code>{}</code>.</p>\n", html_text(report.board));
  }
  text += "<p>Each value is the median of repeated operations on the wall clock of one machine.</p>\n";
  for (const Sweep& sweep : report.sweeps) {
    text += fmt::format("<h2>{}</h2>\n{}{}", html_text(sweep.title), sweep_chart(sweep), html_table(sweep));
  }
  return text + "</body>\n</html>\n";
}

}  // namespace datum::tool
