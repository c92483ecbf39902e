#include "tools/bench/figure.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace datum::bench {
namespace {

const char* better_text(Better better) { return better == Better::lower ? "lower" : "higher"; }

std::string verdict(const Figure& figure) {
  if (figure.noisy) {
    return "too noisy to tell";
  }
  if (!figure.goal) {
    return "";
  }
  return meets_goal(figure) ? "meets goal" : "MISSES GOAL";
}

}  // namespace

bool meets_goal(const Figure& figure) {
  if (!figure.goal) {
    return true;
  }
  return figure.better == Better::lower ? figure.value <= *figure.goal : figure.value >= *figure.goal;
}

void print_table(const std::vector<Figure>& figures) {
  fmt::print("{:<36} {:>12} {:<14} {:>10} {:>10}  {}\n", "figure", "value", "unit", "goal", "peer", "");
  for (const Figure& figure : figures) {
    const std::string goal =
        figure.goal ? fmt::format("{}{:.4g}", figure.better == Better::lower ? "<=" : ">=", *figure.goal)
                    : "";
    const std::string peer = figure.peer ? fmt::format("{:.4g}", figure.peer->value) : "";
    fmt::print("{:<36} {:>12.4g} {:<14} {:>10} {:>10}  {:<18}{}\n", figure.name, figure.value, figure.unit,
               goal, peer, verdict(figure), figure.peer ? "  peer: " + figure.peer->source : "");
  }
}

void print_json(const std::vector<Figure>& figures) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const Figure& figure : figures) {
    nlohmann::ordered_json object;
    object["name"] = figure.name;
    object["value"] = figure.value;
    object["unit"] = figure.unit;
    object["goal"] = figure.goal ? nlohmann::ordered_json(*figure.goal) : nlohmann::ordered_json(nullptr);
    object["better"] = better_text(figure.better);
    if (figure.peer) {
      object["peer"] = {{"value", figure.peer->value}, {"source", figure.peer->source}};
    }
    object["noisy"] = figure.noisy;
    array.push_back(std::move(object));
  }
  fmt::print("{}\n", array.dump(2));
}

}  // namespace datum::bench
