// Which of its boards a process sees, and which of them can be used.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <datum/base/result.hpp>

namespace datum {

class Board;

/// Level Zero's variable that hides devices from a process.
inline constexpr const char* affinity_variable = "ZE_AFFINITY_MASK";

/// Without blanks at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// Those of `boards` that `mask`, a value of ZE_AFFINITY_MASK, names by their numbers, in the order of
/// `boards`; all where it is null or empty. A number that no board has names none. uninitialized: none is
/// left, or the mask is no list of numbers.
[[nodiscard]] Result<std::vector<std::string>> visible_boards(const std::vector<std::string>& boards,
                                                              const char* mask);

/// Opens those of `addresses` that can be opened; the others leave their reasons in `left_out`. The first
/// reason, where none can be opened.
Result<std::vector<std::unique_ptr<Board>>> open_usable_boards(const std::vector<std::string>& addresses,
                                                               std::vector<Error>& left_out);

/// Why this process's driver, which ensure_driver made, does without cards that nobody named.
[[nodiscard]] std::span<const Error> boards_left_out() noexcept;

}  // namespace datum
