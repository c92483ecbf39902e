// What registers hold, in words for people and in JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/datum/open_board.hpp"
#include "tools/datum/register_names.hpp"

namespace datum::tool {

struct RegisterValue {
  RegisterPlace place;
  std::uint64_t value = 0;
  const hw::FieldInfo* field = nullptr;  ///< only this field was asked for

  /// What a board that is gone answers. A register may hold it honestly; that of a living board rarely does.
  [[nodiscard]] bool all_ones() const noexcept;
};

/// Registers that are only written are passed over.
[[nodiscard]] std::vector<RegisterValue> read_registers(OpenBoard& board,
                                                        const std::vector<RegisterPlace>& places,
                                                        const hw::FieldInfo* field = nullptr);

/// Whether any of them reads all ones.
[[nodiscard]] bool any_all_ones(const std::vector<RegisterValue>& values) noexcept;

/// "0x4d544144", with as many digits as the register has.
[[nodiscard]] std::string hex_text(const RegisterValue& value);

/// "PARKED", "3", "0x1000 (1)" (in bytes, then in units): one field of a register's value.
[[nodiscard]] std::string field_text(const hw::FieldInfo& field, std::uint64_t value);

/// A line for the register with all fields that are not 0, or for the one field that was asked for.
[[nodiscard]] std::string value_line(const RegisterValue& value);

/// Values are strings in hexadecimal, since many readers of JSON keep no 64 bits; fields are numbers or names
/// of codes.
[[nodiscard]] nlohmann::ordered_json to_json(const RegisterValue& value);

/// A number in decimal, hexadecimal (0x) or binary (0b), or the name of one of `codes`. invalid_argument: it
/// is neither, or does not fit `width_bits`.
[[nodiscard]] Result<std::uint64_t> parse_value(std::string_view text, unsigned width_bits,
                                                std::string_view codes = {});

}  // namespace datum::tool
