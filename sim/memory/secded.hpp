// The error-correcting code of the DRAM: 64 data bits and 8 check bits, which correct one wrong bit and
// detect two. Columns as in rtl_model/rtl/memory/datum_ecc_pkg.sv.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace datum::sim {

inline constexpr unsigned word_bits = 64;

/// Data bit n has {parity, 1, n}, but data bit 0 {parity, 0, 111111}; `parity` makes it odd.
[[nodiscard]] constexpr std::uint8_t column_of(unsigned data_bit) noexcept {
  const unsigned low = data_bit == 0 ? 0x3fU : 0x40U | data_bit;
  const unsigned parity = std::popcount(low) % 2 == 0 ? 0x80U : 0U;
  return static_cast<std::uint8_t>(low | parity);
}

/// What each value of each byte of a word adds to the check bits.
inline constexpr auto check_table = [] {
  std::array<std::array<std::uint8_t, 256>, word_bits / 8> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    for (unsigned value = 1; value < 256; ++value) {
      const auto top_bit = static_cast<unsigned>(std::bit_width(value)) - 1;
      const auto rest = value & ~(1U << top_bit);
      table[byte][value] = table[byte][rest] ^ column_of(8 * byte + top_bit);
    }
  }
  return table;
}();

/// The sum of the columns of all ones.
[[nodiscard]] constexpr std::uint8_t check_of(std::uint64_t data) noexcept {
  std::uint8_t sum = 0;
  for (const auto& of_byte : check_table) {
    sum ^= of_byte[data & 0xffU];
    data >>= 8U;
  }
  return sum;
}

/// Whether a syndrome that is not zero is that of no single wrong bit.
[[nodiscard]] constexpr bool beyond_repair(std::uint8_t syndrome) noexcept {
  const bool odd = std::popcount(syndrome) % 2 != 0;
  const bool data_bit = (syndrome & 0x40U) != 0 || (syndrome & 0x3fU) == 0x3fU;
  return !odd || (!data_bit && !std::has_single_bit(syndrome));
}

/// The data bit that a syndrome which can be repaired says is wrong; zero: it is a check bit.
[[nodiscard]] constexpr std::uint64_t flipped_bit(std::uint8_t syndrome) noexcept {
  const unsigned number = syndrome & 0x3fU;
  if ((syndrome & 0x40U) != 0) {
    return number == 0 ? 0 : std::uint64_t{1} << number;
  }
  return number == 0x3fU ? 1 : 0;
}

}  // namespace datum::sim
