#include "driver/object/board_choice.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

#include "driver/device/board.hpp"

namespace datum {
namespace {

std::optional<std::uint32_t> number_of(std::string_view text) noexcept {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// An entry of the mask: a device, and a part of it where one is named.
struct MaskEntry {
  std::uint32_t device = 0;
  std::uint32_t part = 0;
};

std::optional<MaskEntry> mask_entry_of(std::string_view text) noexcept {
  const std::size_t dot = text.find('.');
  const std::optional<std::uint32_t> device = number_of(text.substr(0, dot));
  const std::optional<std::uint32_t> part =
      dot == std::string_view::npos ? std::optional<std::uint32_t>(0) : number_of(text.substr(dot + 1));
  return device && part ? std::optional(MaskEntry{*device, *part}) : std::nullopt;
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Result<std::vector<std::string>> visible_boards(const std::vector<std::string>& boards, const char* mask) {
  const std::string_view text = mask != nullptr ? std::string_view(mask) : std::string_view();
  if (text.empty()) {
    return boards;
  }
  std::vector<bool> named(boards.size(), false);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::optional<MaskEntry> entry = mask_entry_of(trimmed(text.substr(at, end - at)));
    if (!entry) {
      return make_error(
          ErrorCode::uninitialized,
          fmt::format("{} is '{}', which is no list of devices", affinity_variable, shown_text(text)),
          "devices are named by their numbers, such as 0,2; without the variable all are seen");
    }
    // Boards have no parts of their own but the whole, which is part 0.
    if (entry->device < named.size() && entry->part == 0) {
      named[entry->device] = true;
    }
    at = end + 1;
  }
  std::vector<std::string> seen;
  for (std::size_t index = 0; index < boards.size(); ++index) {
    if (named[index]) {
      seen.push_back(boards[index]);
    }
  }
  if (seen.empty()) {
    return make_error(
        ErrorCode::uninitialized,
        fmt::format("{} is '{}', which hides each of the {} boards", affinity_variable, shown_text(text),
                    boards.size()),
        "devices are numbered from 0, in the order of DATUM_BOARDS, without it in that of their PCI "
        "addresses");
  }
  return seen;
}

Result<std::vector<std::unique_ptr<Board>>> open_usable_boards(const std::vector<std::string>& addresses,
                                                               std::vector<Error>& left_out) {
  std::vector<std::unique_ptr<Board>> boards;
  for (const std::string& address : addresses) {
    if (Result<std::unique_ptr<Board>> board = Board::open(address); board.ok()) {
      boards.push_back(std::move(*board));
    } else {
      Error error = std::move(board).error();
      error.message = fmt::format("the board {} cannot be used: {}", shown_text(address), error.message);
      left_out.push_back(std::move(error));
    }
  }
  if (boards.empty() && !left_out.empty()) {
    return left_out.front();
  }
  return boards;
}

}  // namespace datum
