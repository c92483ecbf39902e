// datum run: starts a Level Zero program on a chosen board, with trace and waveform.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <datum/base/shown_text.hpp>

#include "driver/device/backend_table.hpp"
#include "driver/device/board_addresses.hpp"
#include "tools/datum/command_line.hpp"
#include "tools/datum/driver_list.hpp"
#include "tools/datum/environment.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"
#include "tools/datum/output_file.hpp"

namespace datum::tool {

namespace {

constexpr const char* board_variable = "DATUM_BOARDS";
constexpr const char* trace_variable = "DATUM_TRACE";
constexpr const char* simulation_variable = "DATUM_SIM_OPTIONS";
constexpr const char* default_board = "rtl:";
constexpr int exit_not_found = 127;  // as shells have it
constexpr int exit_not_started = 126;

struct RunChoice {
  std::string board;
  std::string trace;
  std::string waveform;
  std::vector<std::string> program;
  bool json = false;
};

/// The boards that the program gets; empty: the bound cards. Which they are is told where nobody chose.
std::string boards_of(const RunChoice& choice) {
  if (!choice.board.empty()) {
    return choice.board;
  }
  if (const char* const boards = std::getenv(board_variable); boards != nullptr && *boards != '\0') {
    return boards;
  }
  const std::vector<std::string> cards = default_boards();
  if (!cards.empty()) {
    fmt::print(stderr, "datum: no board is named; the program gets the bound cards: {}\n",
               fmt::join(cards, ", "));
    return {};
  }
  fmt::print(stderr,
             "datum: no board is named and no card is bound; the program gets a simulated board, {} (--board "
             "names another)\n",
             default_board);
  return default_board;
}

Status set_drivers() {
  const auto own = driver_beside_program();
  if (!own) {
    return make_error(ErrorCode::dependency_unavailable,
                      "there is no libze_datum.so beside this program or in its library folder",
                      "install the driver, or run the 'datum' that lies beside it");
  }
  const auto drivers = driver_list(std::getenv(driver_variable), installed_drivers(loader_folders()), *own);
  if (!drivers) {
    return drivers.error();
  }
  ::setenv(driver_variable, fmt::format("{}", fmt::join(*drivers, ",")).c_str(), 1);
  return {};
}

Status set_waveform(const std::string& boards, const std::string& file) {
  if (boards.substr(0, boards.find(':')) != "rtl") {
    return make_error(ErrorCode::unsupported_feature,
                      fmt::format("only rtl: boards have waveforms, and the board is '{}'",
                                  boards.empty() ? "a card" : shown_text(boards)),
                      "add --board rtl:");
  }
  if (file.find(',') != std::string::npos) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' has a comma, which ends an option of a board", shown_text(file)));
  }
  const char* const before = std::getenv(simulation_variable);
  const std::string options =
      fmt::format("{}{}wave={}", before == nullptr ? "" : before,
                  before == nullptr || *before == '\0' ? "" : ",", absolute_path(file));
  ::setenv(simulation_variable, options.c_str(), 1);
  return {};
}

/// Becomes the program; returns only when that fails.
int become_program(const RunChoice& choice) {
  for (const auto& [option, file] :
       {std::pair{"--trace", choice.trace}, std::pair{"--waveform", choice.waveform}}) {
    if (Status good = file.empty() ? Status{} : check_output_file(option, file); !good) {
      return tell_failure(good.error(), choice.json);
    }
  }
  if (Status good = check_board_schemes(choice.board); !good) {
    return tell_failure(good.error(), choice.json);
  }
  const std::string boards = boards_of(choice);
  if (Status set = set_drivers(); !set) {
    return tell_failure(set.error(), choice.json);
  }
  if (!choice.waveform.empty()) {
    if (Status set = set_waveform(boards, choice.waveform); !set) {
      return tell_failure(set.error(), choice.json);
    }
  }
  if (!choice.trace.empty()) {
    ::setenv(trace_variable, absolute_path(choice.trace).c_str(), 1);
  }
  if (!boards.empty()) {
    ::setenv(board_variable, boards.c_str(), 1);
  }
  std::vector<char*> words;
  for (const std::string& word : choice.program) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  const int number = errno;
  static_cast<void>(
      tell_failure(make_error(ErrorCode::not_available,
                              fmt::format("'{}' cannot be started: {}", shown_text(choice.program.front()),
                                          std::strerror(number))),
                   choice.json));
  return number == ENOENT ? exit_not_found : exit_not_started;
}

constexpr const char* run_examples = R"(Examples:
  datum run -- ./application --size 4096
  datum run --board vfio:0000:03:00.0 --trace out.json -- ./application
  datum run --board rtl:memory=1G,seed=7 --trace out.json --waveform out.fst -- ./application

Open out.json with https://ui.perfetto.dev or chrome://tracing (no network is needed for the latter). The exit status is
that of the program; 127: there is no such program, 126: it cannot be started.)";

}  // namespace

void add_run_command(CLI::App& app, int& status) {
  const auto choice = std::make_shared<RunChoice>();
  CLI::App* const run = app.add_subcommand("run", "start a Level Zero program on a board, traced if wanted");
  run->footer(run_examples);
  run->add_option("-b,--board", choice->board, "which (else DATUM_BOARDS, else the bound cards, else rtl:)");
  run->add_option("-t,--trace", choice->trace,
                  "write a timeline of calls and descriptors to this file (JSON)");
  run->add_option("-w,--waveform", choice->waveform, "write a waveform of an rtl: board to this file (FST)");
  run->add_flag("--json", choice->json, "tell as JSON why a program was not started");
  run->add_option("PROGRAM", choice->program, "the program and its arguments, behind --")->required();
  run->positionals_at_end();
  run->callback([choice, &status] { status = become_program(*choice); });
}

}  // namespace datum::tool
