// datum board: datum-board, which serves simulated boards to other processes.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/datum/command_line.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"

namespace datum::tool {

namespace {

constexpr const char* server_program = "datum-board";

/// Becomes the server; returns only when that fails.
int become_server(const std::vector<std::string>& arguments) {
  std::vector<char*> words{const_cast<char*>(server_program)};
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  std::error_code ignored;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  ::execv((here / server_program).c_str(), words.data());
  ::execvp(server_program, words.data());
  return tell_failure(
      make_error(ErrorCode::dependency_unavailable,
                 fmt::format("{} cannot be started: {}", server_program, std::strerror(errno)),
                 "install the simulation (Debian: apt install datum-simulation)"),
      false);
}

}  // namespace

void add_server_command(CLI::App& app, int& status) {
  CLI::App* const board =
      app.add_subcommand("board", "serve simulated boards to other processes: datum-board and its options");
  board->prefix_command();
  board->set_help_flag();
  board->callback([board, &status] { status = become_server(board->remaining()); });
}

}  // namespace datum::tool
