#include "sim/board/option_item.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

namespace datum::sim {

OptionItem option_item_of(std::string_view text) {
  const auto equals = text.substr(0, text.find('=')).size();
  return {text.substr(0, equals), text.substr(std::min(equals + 1, text.size())), equals < text.size()};
}

Error refusal(const OptionItem& item, std::string_view rule, std::string hint) {
  const auto shown =
      shown_text(item.has_value ? fmt::format("{}={}", item.name, item.value) : std::string(item.name));
  return make_error(ErrorCode::invalid_argument, fmt::format("board option '{}': {}", shown, rule),
                    std::move(hint));
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::string_view* rest) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  const auto left = text.substr(static_cast<std::size_t>(end - text.data()));
  if (rest != nullptr) {
    *rest = left;
  } else if (!left.empty()) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::string_view suffix;
  const auto number = parse_number(text, &suffix);
  if (!number) {
    return std::nullopt;
  }
  std::uint64_t unit = 1;
  if (suffix == "K") {
    unit = 1ULL << 10U;
  } else if (suffix == "M") {
    unit = 1ULL << 20U;
  } else if (suffix == "G") {
    unit = 1ULL << 30U;
  } else if (!suffix.empty()) {
    return std::nullopt;
  }
  if (*number > UINT64_MAX / unit) {
    return std::nullopt;
  }
  return *number * unit;
}

namespace {

/// `text` as it would be a size, where only the suffix is not as it should be: 16m, 16MB and 16MiB mean 16M.
/// Empty where something else is wrong.
std::string meant_size(std::string_view text) {
  for (const std::string_view byte_word : {"iB", "ib", "IB", "B", "b", "i"}) {
    if (text.size() > byte_word.size() && text.ends_with(byte_word)) {
      text.remove_suffix(byte_word.size());
      break;
    }
  }
  std::string meant(text);
  constexpr std::string_view suffixes = "kmg";
  if (const auto at = meant.empty() ? suffixes.npos : suffixes.find(meant.back()); at != suffixes.npos) {
    meant.back() = "KMG"[at];
  }
  return parse_size(meant) ? meant : std::string{};
}

}  // namespace

Error size_refusal(const OptionItem& item, std::string_view rule) {
  const std::string meant = parse_size(item.value) ? std::string{} : meant_size(item.value);
  return meant.empty()
             ? refusal(item, rule)
             : refusal(item, rule, fmt::format("the suffixes are K, M and G: {}={}", item.name, meant));
}

Status take_number(const OptionItem& item, std::uint64_t first, std::uint64_t last, std::uint64_t& to) {
  const auto value = parse_number(item.value);
  if (!value || *value < first || *value > last) {
    return refusal(item, fmt::format("needs a number from {} to {}", first, last));
  }
  to = *value;
  return {};
}

Status take_unsigned(const OptionItem& item, unsigned first, unsigned last, unsigned& to) {
  std::uint64_t value = 0;
  auto status = take_number(item, first, last, value);
  if (status) {
    to = static_cast<unsigned>(value);
  }
  return status;
}

Status take_file(const OptionItem& item, std::string& to) {
  if (item.value.empty()) {
    return refusal(item, "needs the name of a file");
  }
  to = std::string(item.value);
  return {};
}

}  // namespace datum::sim
