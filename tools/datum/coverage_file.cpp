#include "tools/datum/coverage_file.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

#include "tools/datum/output_file.hpp"

namespace datum::tool {

namespace {

constexpr std::string_view first_line = "# SystemC::Coverage-3";
constexpr std::string_view begin_of_point = "C '";
constexpr std::string_view end_of_point = "' ";

Error unusable(const std::string& file, std::string_view why) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is no coverage: {}", shown_text(file), why),
                    "name a file that a simulated board has written, or one that there is not yet");
}

}  // namespace

Status Coverage::add_file(const std::string& name) {
  std::ifstream file(name);
  std::string line;
  if (!std::getline(file, line) || line != first_line) {
    return unusable(name, file ? "its first line is another" : "it cannot be read, or is empty");
  }
  while (std::getline(file, line)) {
    const std::size_t end = line.rfind(end_of_point);
    std::uint64_t count = 0;
    const char* const number = line.data() + std::min(end + end_of_point.size(), line.size());
    const bool whole = line.starts_with(begin_of_point) && end != std::string::npos &&
                       std::from_chars(number, line.data() + line.size(), count).ec == std::errc{};
    if (!whole) {
      return unusable(name, fmt::format("it has the line '{}'", shown_text(line)));
    }
    counts_[line.substr(begin_of_point.size(), end - begin_of_point.size())] += count;
  }
  return {};
}

Status Coverage::write(const std::string& name) const {
  std::string text = fmt::format("{}\n", first_line);
  for (const auto& [point, count] : counts_) {
    text += fmt::format("{}{}{}{}\n", begin_of_point, point, end_of_point, count);
  }
  return write_output_file(name, text);
}

std::uint64_t Coverage::reached() const noexcept {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(counts_, [](const auto& point) { return point.second != 0; }));
}

}  // namespace datum::tool
