// Runs this very program again for things that happen once in a process: initialisation, fork, exit.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace datum::test {

/// What became of a child.
struct ChildOutcome {
  bool timed_out = false;
  int exit_status = -1;  ///< valid when signal is 0
  int signal = 0;        ///< that ended it; 0: none
  std::string output;    ///< standard output
  std::string errors;    ///< standard error
  std::chrono::milliseconds duration{};

  [[nodiscard]] bool succeeded() const { return !timed_out && signal == 0 && exit_status == 0; }

  [[nodiscard]] std::string describe() const;
};

using EnvironmentChanges =
    std::vector<std::pair<std::string, std::string>>;  ///< value "\0unset" is spelled with unset_variable
inline const std::string unset_variable{"\x01unset"};

/// Runs `scenario` in a new process of the same program with the environment changed. Killed after `limit`,
/// which is there for the child that hangs: it has to be far above what a child takes on a busy machine.
[[nodiscard]] ChildOutcome run_scenario_in_child(std::string_view scenario,
                                                 const EnvironmentChanges& changes = {},
                                                 std::chrono::milliseconds limit = std::chrono::seconds(120));

/// A scenario: its exit status, 0 for success. It prints what went wrong on standard error.
using ScenarioFunction = int (*)();

struct Scenario {
  const char* name;
  ScenarioFunction run;
};

/// Used by main(): runs the scenario that `--scenario=NAME` asks for; -1 where the arguments ask for none.
[[nodiscard]] int run_scenario_from_arguments(int argument_count, char** arguments,
                                              const std::vector<Scenario>& scenarios);

/// For scenarios: prints the line and the two codes when they differ. True when they agree.
[[nodiscard]] bool expect_code(int line, int expected, int actual);

}  // namespace datum::test

/// In a scenario: ends it with status 1 unless the call gives the code.
#define SCENARIO_EXPECT(code, call)                                                                          \
  do {                                                                                                       \
    if (!datum::test::expect_code(__LINE__, static_cast<int>(code), static_cast<int>(call))) {               \
      return 1;                                                                                              \
    }                                                                                                        \
  } while (false)
/// In a scenario: ends it with status 1 unless the condition holds.
#define SCENARIO_REQUIRE(condition)                                                                          \
  do {                                                                                                       \
    if (!datum::test::expect_code(__LINE__, 1, (condition) ? 1 : 0)) {                                       \
      return 1;                                                                                              \
    }                                                                                                        \
  } while (false)
