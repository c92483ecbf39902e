// What a benchmark says: one number with its unit, what it should be, and what a peer does.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace datum::bench {

enum class Better { lower, higher };

struct Peer {
  double value = 0;
  std::string source;
};

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> goal;
  Better better = Better::lower;
  std::optional<Peer> peer;
  bool noisy = false;  ///< repetitions differed too much to tell whether the goal is met
};

/// True when there is no goal, or the value is on its right side.
[[nodiscard]] bool meets_goal(const Figure& figure);

void print_table(const std::vector<Figure>& figures);
void print_json(const std::vector<Figure>& figures);

}  // namespace datum::bench
