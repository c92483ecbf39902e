// This program once more, in a process that may crash or hang without harm: loaders and drivers of others do.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace datum::tool {

struct ChildEnd {
  bool started = false;
  bool timed_out = false;
  int signal = 0;       ///< that ended it; 0: none
  int exit_status = 0;  ///< valid when it ended by itself
  std::string output;
  std::string errors;
};

/// Runs this program with `arguments` in this process' environment and collects what it prints, at most
/// 1 MiB of each. Killed after `limit`.
[[nodiscard]] ChildEnd run_self(const std::vector<std::string>& arguments, std::chrono::seconds limit);

}  // namespace datum::tool
