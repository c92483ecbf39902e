#include "tools/datum/byte_text.hpp"

#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

namespace datum::tool {

namespace {

constexpr std::size_t bytes_in_line = 16;

Error no_size(std::string_view text) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is not an address or size of up to 64 bits", shown_text(text)),
                    "write 4096, 0x1000, 4K, 1M or 2G");
}

unsigned shift_of_suffix(char suffix) {
  switch (suffix) {
  case 'K':
  case 'k':
    return 10;
  case 'M':
  case 'm':
    return 20;
  case 'G':
  case 'g':
    return 30;
  default:
    return 0;
  }
}

int digit_of(char letter) {
  constexpr std::string_view digits = "0123456789abcdef";
  const std::size_t digit = digits.find(static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
  return digit == std::string_view::npos ? -1 : static_cast<int>(digit);
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  std::string_view digits = text;
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  unsigned shift = 0;
  if (hexadecimal) {
    digits.remove_prefix(2);
  } else if (!digits.empty() && shift_of_suffix(digits.back()) != 0) {
    shift = shift_of_suffix(digits.back());
    digits.remove_suffix(1);
  }
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size() || number > ~0ULL >> shift) {
    return no_size(text);
  }
  return number << shift;
}

Result<std::vector<std::byte>> parse_bytes(std::string_view text) {
  std::vector<std::byte> bytes;
  int high = -1;
  for (const char letter : text) {
    if (letter == ' ' && high < 0) {
      continue;
    }
    const int digit = digit_of(letter);
    if (digit < 0) {
      high = 0;
      bytes.clear();
      break;
    }
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::byte>(high * 16 + digit));
      high = -1;
    }
  }
  if (bytes.empty() || high >= 0) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' are not bytes in hexadecimal", shown_text(text)),
                      "write them as in deadbeef");
  }
  return bytes;
}

std::string hex_bytes(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(byte));
  }
  return text;
}

std::string dump_line(std::uint64_t address, std::span<const std::byte> bytes) {
  std::string line = fmt::format("{:012x} ", address);
  std::string letters;
  for (std::size_t i = 0; i < bytes_in_line; ++i) {
    line += i == bytes_in_line / 2 ? "  " : " ";
    if (i >= bytes.size()) {
      line += "  ";
      continue;
    }
    const auto code = std::to_integer<unsigned char>(bytes[i]);
    line += fmt::format("{:02x}", code);
    letters += code < 0x7f && std::isprint(code) != 0 ? static_cast<char>(code) : '.';
  }
  return fmt::format("{}  |{}|", line, letters);
}

}  // namespace datum::tool
