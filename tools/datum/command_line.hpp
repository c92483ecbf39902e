// The commands of the program, each of which adds itself to the command line.
#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/datum/open_board.hpp"

namespace datum::tool {

/// What every command on a board takes.
struct BoardChoice {
  std::string board;
  bool json = false;
};

/// `--board` and `--json`. `choice` outlives the parsing.
void add_board_options(CLI::App& command, BoardChoice& choice);

/// Opens the board and runs `command` on it; a failure to open is told. Returns the exit status.
int with_board(const BoardChoice& choice, const std::function<int(OpenBoard&)>& command);

/// What to tell of a word that stands where a command has to and is none: the word, the nearest command, and
/// all there are. Empty where a command stands there, or nothing.
[[nodiscard]] std::string unknown_command(const CLI::App& app, int argc, const char* const* argv);

// Each leaves its exit status in `status`, which outlives the parsing.
void add_register_commands(CLI::App& app, int& status);
void add_memory_commands(CLI::App& app, int& status);
void add_fault_commands(CLI::App& app, int& status);
void add_memory_error_commands(CLI::App& app, int& status);
void add_performance_command(CLI::App& app, int& status);
void add_bench_command(CLI::App& app, int& status);
void add_cosim_command(CLI::App& app, int& status);
void add_environment_command(CLI::App& app, int& status);
void add_run_command(CLI::App& app, int& status);
void add_view_command(CLI::App& app, int& status);
void add_server_command(CLI::App& app, int& status);
/// Hidden: words that may follow, for the shell's completion.
void add_completion_command(CLI::App& app, int& status);

}  // namespace datum::tool
