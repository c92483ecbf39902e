// Runs another program to its end.
#pragma once

#include <string>
#include <vector>

namespace datum::test {

struct ProgramRun {
  int exit_status =
      -1;  ///< 128 + the signal if one ended the program; -1 if it could not be started or took too long
  std::string output;  ///< what it wrote to its standard output and error
};

/// `arguments` do not include the program's own name. `environment` is added to the few variables that every
/// program needs; nothing else of the caller's environment reaches the program. The program is ended after
/// `seconds`.
ProgramRun run_program(const std::string& path, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment, int seconds = 60);

}  // namespace datum::test
