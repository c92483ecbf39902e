// datum env: what a shell has to export for Level Zero programs to find Datum's boards.
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "driver/device/board_addresses.hpp"
#include "tools/datum/command_line.hpp"
#include "tools/datum/driver_list.hpp"
#include "tools/datum/environment.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"

namespace datum::tool {

namespace {

constexpr const char* board_variable = "DATUM_BOARDS";

int print_environment(const BoardChoice& choice) {
  // What options mean only opening a board can tell.
  if (Status good = check_board_schemes(choice.board); !good) {
    return tell_failure(good.error(), choice.json);
  }
  const auto own = driver_beside_program();
  if (!own) {
    return tell_failure(make_error(ErrorCode::dependency_unavailable,
                                   "there is no libze_datum.so beside this program or in its library folder",
                                   "install the driver, or run the 'datum' that lies beside it"),
                        choice.json);
  }
  const auto installed = installed_drivers(loader_folders());
  const auto drivers = driver_list(std::getenv(driver_variable), installed, *own);
  if (!drivers) {
    return tell_failure(drivers.error(), choice.json);
  }
  const std::string list = fmt::format("{}", fmt::join(*drivers, ","));
  if (choice.json) {
    nlohmann::ordered_json object = {{driver_variable, list}};
    if (!choice.board.empty()) {
      object[board_variable] = choice.board;
    }
    print_json(object);
    return exit_well;
  }
  fmt::print("export {}={}\n", driver_variable, shell_word(list));
  if (!choice.board.empty()) {
    fmt::print("export {}={}\n", board_variable, shell_word(choice.board));
  }
  return exit_well;
}

constexpr const char* env_examples = R"text(Examples:
  eval "$(datum env)"                  then any Level Zero program of this shell finds bound cards
  eval "$(datum env --board rtl:)"     or a simulated board

Drivers that the loader would have found by itself, or that ZE_ENABLE_ALT_DRIVERS names, come first; Datum's is the last.)text";

}  // namespace

void add_environment_command(CLI::App& app, int& status) {
  const auto choice = std::make_shared<BoardChoice>();
  CLI::App* const env = app.add_subcommand("env", "what a shell exports for programs to find the driver");
  env->footer(env_examples);
  env->add_option("-b,--board", choice->board, "also export DATUM_BOARDS with these boards");
  env->add_flag("--json", choice->json, "print JSON");
  env->callback([choice, &status] { status = print_environment(*choice); });
}

}  // namespace datum::tool
