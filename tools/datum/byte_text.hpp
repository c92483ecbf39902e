// Bytes, sizes and addresses as a command line writes and a terminal shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <datum/base/result.hpp>

namespace datum::tool {

/// "4096", "0x1000", "4K", "1M", "2G" (powers of 1024). invalid_argument: none of these, or beyond 64 bits.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);

/// "deadbeef" or "de ad be ef": the bytes in that order. invalid_argument: no pairs of hexadecimal digits.
[[nodiscard]] Result<std::vector<std::byte>> parse_bytes(std::string_view text);

/// "deadbeef"
[[nodiscard]] std::string hex_bytes(std::span<const std::byte> bytes);

/// Up to 16 bytes as a line of a dump: address, bytes, printable characters.
[[nodiscard]] std::string dump_line(std::uint64_t address, std::span<const std::byte> bytes);

}  // namespace datum::tool
