// Words that may follow on a command line, for the shell's completion; asked for by the file that is
// installed for bash.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <datum/hw/registers.hpp>

#include "tools/datum/command_line.hpp"
#include "tools/datum/exit_status.hpp"

namespace datum::tool {

namespace {

constexpr const char* command_name = "complete-words";
constexpr const char* board_words[] = {"rtl:", "model:", "vfio:", "vfio-user:"};

std::vector<CLI::App*> shown_subcommands(CLI::App& app) {
  return app.get_subcommands([](CLI::App* command) { return !command->get_group().empty(); });
}

CLI::App* subcommand(CLI::App& app, const std::string& name) {
  const std::vector<CLI::App*> commands = shown_subcommands(app);
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const CLI::App* command) { return command->get_name() == name; });
  return found == commands.end() ? nullptr : *found;
}

void print_options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) {
      continue;
    }
    for (const std::string& name : option->get_lnames()) {
      fmt::print("--{}\n", name);
    }
    for (const std::string& name : option->get_snames()) {
      fmt::print("-{}\n", name);
    }
  }
}

/// What may stand where no option and no command does.
void print_arguments(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_name() == "NAME") {
      const bool writes = app.get_name() == "write";
      for (const hw::RegisterInfo& info : hw::register_table) {
        fmt::print("{}{}\n", info.name, writes && info.stride_bytes == 0 ? "=" : "");
      }
    } else if (option->get_name() == "ADDRESS" && app.get_parent()->get_parent() == nullptr) {
      for (const char* const word : board_words) {
        fmt::print("{}\n", word);
      }
    }
  }
}

/// `words`: what stands behind the program's name, the one under the cursor last.
void print_words(CLI::App& app, const std::vector<std::string>& words) {
  CLI::App* at = &app;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (CLI::App* const next = subcommand(*at, words[i]); next != nullptr) {
      at = next;
    }
  }
  const std::string before = words.size() > 1 ? words[words.size() - 2] : std::string{};
  if (before == "--board" || before == "-b") {
    for (const char* const word : board_words) {
      fmt::print("{}\n", word);
    }
    return;
  }
  if (!words.empty() && words.back().starts_with('-')) {
    print_options(*at);
    return;
  }
  for (const CLI::App* command : shown_subcommands(*at)) {
    fmt::print("{}\n", command->get_name());
  }
  print_arguments(*at);
}

}  // namespace

void add_completion_command(CLI::App& app, int& status) {
  CLI::App* const command = app.add_subcommand(command_name)->group("");
  command->set_help_flag();
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("WORD", *words);
  command->callback([words, &app, &status] {
    print_words(app, *words);
    status = exit_well;
  });
}

}  // namespace datum::tool
