// How the DRAM is cut up: columns of 64 bytes, the unit of every access, in banks.
#pragma once

#include <cstdint>

namespace datum::sim {

inline constexpr std::uint64_t column_bytes = 64;
inline constexpr unsigned row_shift = 17;  // of a device address

/// Spreads rows over banks; the same function gives the bank of a device address back.
[[nodiscard]] constexpr unsigned folded_row(std::uint64_t row) noexcept {
  return static_cast<unsigned>((row ^ (row >> 4U) ^ (row >> 8U) ^ (row >> 12U)) & 0xfU);
}

[[nodiscard]] constexpr unsigned bank_of(std::uint64_t address) noexcept {
  const auto linear = static_cast<unsigned>(((address >> 13U) & 0xcU) | ((address >> 6U) & 0x3U));
  return linear ^ folded_row(address >> row_shift);
}

[[nodiscard]] constexpr std::uint64_t address_of(std::uint64_t row, unsigned bank, unsigned column) noexcept {
  const auto linear = bank ^ folded_row(row);
  return (row << row_shift) | (std::uint64_t{linear >> 2U} << 15U) | (std::uint64_t{column} << 8U) |
         (std::uint64_t{linear & 3U} << 6U);
}

}  // namespace datum::sim
