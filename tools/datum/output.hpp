// How the program speaks: colours on a terminal only, JSON where it is asked for, failures in one form.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <datum/base/result.hpp>

namespace datum::tool {

enum class Colour { none, green, yellow, red, dim };

/// `text` in colour when standard output is a terminal and NO_COLOR is not set; else as it is.
[[nodiscard]] std::string coloured(Colour colour, std::string_view text);

/// Prints the failure and returns the exit status: with `json` an object with the members message and hint on
/// standard output, else lines on standard error.
int tell_failure(const Error& error, bool json);

/// Prints `object`, indented, on standard output. Text that is not UTF-8 is mended.
void print_json(const nlohmann::ordered_json& object);

/// `text` as one word of a POSIX shell.
[[nodiscard]] std::string shell_word(const std::string& text);

/// "1.5 GiB", "64 KiB", "17 bytes": exact where the unit divides it, else with one decimal.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace datum::tool
