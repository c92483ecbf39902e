#include "driver/device/board_addresses.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

#include "driver/device/backend_table.hpp"

namespace datum {
namespace {

std::string_view without_blanks(std::string_view text) noexcept {
  constexpr const char* blanks = " \t";
  const auto first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Between the commas, without blanks; of a list of blanks alone none.
std::vector<std::string_view> pieces_of(std::string_view list) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; !without_blanks(list).empty() && at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    pieces.push_back(without_blanks(list.substr(at, end - at)));
    at = end + 1;
  }
  return pieces;
}

}  // namespace

bool begins_board_address(std::string_view piece) noexcept {
  const auto colon = piece.find(':');
  return colon == std::string_view::npos ? is_known_scheme(piece) : piece.find('=') > colon;
}

Status check_board_list(std::string_view list) {
  const std::vector<std::string_view> pieces = pieces_of(list);
  if (std::ranges::any_of(pieces, [](std::string_view piece) { return piece.empty(); })) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the list of boards '{}' has an empty entry: there is a comma too many",
                                  shown_text(list)),
                      "write one comma between boards and between options, and none at the end");
  }
  return {};
}

std::string first_board_of(std::string_view list) {
  std::string first;
  for (const std::string_view piece : pieces_of(list)) {
    if (piece.empty() || (!first.empty() && begins_board_address(piece))) {
      break;
    }
    const char* const separator = first.empty() ? "" : first.find(':') == std::string::npos ? ":" : ",";
    first.append(separator).append(piece);
  }
  return first;
}

Status check_board_schemes(std::string_view list) {
  Status checked = check_board_list(list);
  bool first = true;
  for (const std::string_view piece : pieces_of(list)) {
    if (checked.ok() && (first || begins_board_address(piece))) {
      checked = check_scheme(piece);
    }
    first = false;
  }
  return checked;
}

}  // namespace datum
