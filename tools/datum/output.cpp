#include "tools/datum/output.hpp"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/datum/exit_status.hpp"

namespace datum::tool {

std::string coloured(Colour colour, std::string_view text) {
  static const bool wanted = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  if (!wanted || colour == Colour::none) {
    return std::string(text);
  }
  constexpr const char* codes[] = {"0", "32", "33", "31", "2"};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(colour)], text);
}

int tell_failure(const Error& error, bool json) {
  if (json) {
    print_json({{"error", {{"message", error.message}, {"hint", error.hint}}}});
  } else {
    fmt::print(stderr, "datum: {}\n", error.message);
    if (!error.hint.empty()) {
      fmt::print(stderr, "  cure: {}\n", error.hint);
    }
  }
  return exit_failed;
}

void print_json(const nlohmann::ordered_json& object) {
  fmt::print("{}\n", object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::string shell_word(const std::string& text) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) {
    return text;
  }
  std::string word = "'";
  for (const char letter : text) {
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return word + "'";
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  unsigned unit = 0;
  while (unit + 1 < std::size(units) && bytes >> (10U * (unit + 1)) != 0) {
    ++unit;
  }
  const std::uint64_t size = 1ULL << (10U * unit);
  return bytes % size == 0
             ? fmt::format("{} {}", bytes / size, units[unit])
             : fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(size), units[unit]);
}

}  // namespace datum::tool
