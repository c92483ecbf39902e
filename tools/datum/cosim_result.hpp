// What datum cosim has come to, as people, build servers and programs read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cosim/comparison.hpp"

namespace datum::tool {

/// Files that show a difference, and what came in the way of one.
struct CosimEvidence {
  std::string timeline;  ///< empty: none
  std::string waveform;
  std::string waveform_options;
  std::string waveform_failure;  ///< why there is none, or why it does not show the difference
};

struct CosimCoverage {
  std::string file;
  std::uint64_t points = 0;
  std::uint64_t reached = 0;
};

struct CosimResult {
  std::uint64_t first_seed = 0;
  std::vector<std::string> boards;
  std::vector<std::uint64_t> agreed;  ///< seeds
  std::uint64_t operations = 0;
  std::optional<cosim::Finding> finding;
  CosimEvidence evidence;
  std::optional<CosimCoverage> coverage;
};

[[nodiscard]] nlohmann::ordered_json json_of(const CosimResult& result);
/// A test case for each program.
[[nodiscard]] std::string junit_of(const CosimResult& result, const std::string& boards);
/// For people. `repeat`: the command that runs it again.
[[nodiscard]] std::string text_of(const CosimResult& result, const std::string& repeat);

}  // namespace datum::tool
