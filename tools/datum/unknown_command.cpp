// A command that there is not: CLI11 only says that one is wanted.
#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <datum/base/shown_text.hpp>

#include "tools/datum/command_line.hpp"

namespace datum::tool {

namespace {

/// How many letters have to be put in, left out or exchanged to make one word of the other.
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({diagonal + (one[i] == other[j] ? 0 : 1), above + 1, row[j] + 1});
      diagonal = above;
    }
  }
  return row.back();
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t longest_word = 32;
  if (word.size() > longest_word || names.empty()) {
    return {};
  }
  const auto best =
      std::ranges::min_element(names, {}, [&](const std::string& name) { return edits_between(word, name); });
  return edits_between(word, *best) <= 1 + best->size() / 4 ? *best : std::string{};
}

}  // namespace

std::string unknown_command(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  std::string path = app.get_name();
  for (int index = 1; index < argc && at->get_require_subcommand_min() > 0; ++index) {
    const std::string_view word = argv[index];
    if (word.starts_with('-')) {
      return {};
    }
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : at->get_subcommands([](const CLI::App*) { return true; })) {
      next = command->get_name() == word ? command : next;
      if (!command->get_group().empty()) {
        names.push_back(command->get_name());
      }
    }
    if (next == nullptr) {
      const std::string near = nearest(word, names);
      return fmt::format("datum: '{}' has no command '{}'{}; the commands are {}", path, shown_text(word),
                         near.empty() ? "" : fmt::format(", did you mean '{}'?", near),
                         fmt::join(names, ", "));
    }
    path += fmt::format(" {}", word);
    at = next;
  }
  return {};
}

}  // namespace datum::tool
