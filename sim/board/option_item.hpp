// One option of a board's address, and what is said of one that cannot be taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <datum/base/result.hpp>

namespace datum::sim {

struct OptionItem {
  std::string_view name;
  std::string_view value;
  bool has_value = false;
};

/// "NAME" or "NAME=VALUE".
[[nodiscard]] OptionItem option_item_of(std::string_view text);

[[nodiscard]] Error refusal(const OptionItem& item, std::string_view rule,
                            std::string hint = "docs/simulation.md lists the options");
/// Of a size that was not taken; tells what was meant, where only the suffix is wrong.
[[nodiscard]] Error size_refusal(const OptionItem& item, std::string_view rule);

/// Decimal, or hexadecimal behind 0x. Nothing may follow it, unless `rest` takes that.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text,
                                                        std::string_view* rest = nullptr);
/// A number with an optional suffix K, M or G (powers of 1024).
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

Status take_number(const OptionItem& item, std::uint64_t first, std::uint64_t last, std::uint64_t& to);
Status take_unsigned(const OptionItem& item, unsigned first, unsigned last, unsigned& to);
Status take_file(const OptionItem& item, std::string& to);

}  // namespace datum::sim
