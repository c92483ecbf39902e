// Runs a group of benchmarks in a child, on another driver if wanted: a process chooses its driver once.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/figure.hpp"

namespace datum::bench {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// The figures of `datum-bench GROUP --json`, run with `changes` to this process's environment. Nothing if it
/// fails or says nothing for fifteen minutes; it is killed then.
std::optional<std::vector<Figure>> run_in_child(const std::string& group, const Environment& changes);

struct PeerDriver {
  std::string source;  ///< name and release
  Environment environment;
};

/// Intel's GPU driver where scripts/fetch_peers has put it, told to do without a GPU.
std::optional<PeerDriver> find_intel_driver();

}  // namespace datum::bench
