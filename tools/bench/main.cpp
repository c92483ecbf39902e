// datum-bench GROUP [--json]: every figure that the project states, in one form.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/bench/figure.hpp"
#include "tools/bench/groups.hpp"

namespace {

int run(int argc, char** argv) {
  const std::map<std::string, std::function<std::vector<datum::bench::Figure>()>> groups{
      {"memory", datum::bench::run_memory_group},
      {"any-driver", datum::bench::run_any_driver_group},
      {"start", datum::bench::run_start_group},
      {"any-recording", datum::bench::run_any_recording_group},
      {"commands", datum::bench::run_commands_group},
      {"rtl", datum::bench::run_rtl_group},
      {"sim", datum::bench::run_sim_group},
      {"sim-clock", datum::bench::run_sim_clock_group},
      {"vfio", datum::bench::run_vfio_group},
      {"bare-mapping", datum::bench::run_bare_mapping_group},
  };

  CLI::App app{"Measures Datum. Cycle counts are exact; times are medians of repetitions on this machine.",
               "datum-bench"};
  std::string group;
  bool json = false;
  app.add_option(
         "GROUP", group,
         "memory, commands, rtl, sim or vfio; any-driver and start are parts of memory, any-recording of "
         "commands, sim-clock of sim, bare-mapping of vfio")
      ->required()
      ->check(CLI::IsMember(groups));
  app.add_flag("--json", json, "print an array of objects instead of a table");
  CLI11_PARSE(app, argc, argv);

  const std::vector<datum::bench::Figure> figures = groups.at(group)();
  json ? datum::bench::print_json(figures) : datum::bench::print_table(figures);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "datum-bench: {}\n", failure.what());
    return EXIT_FAILURE;
  }
}
