// Text of the user's as a sentence may repeat it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace datum {

inline constexpr std::size_t shown_text_bytes = 120;

/// `text` with control characters spelled out (\x1b) and, where it is long, cut after about
/// shown_text_bytes with "..." in place of the rest: what ends up on a terminal must neither steer nor flood
/// it.
[[nodiscard]] inline std::string shown_text(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  for (const char character : text) {
    if (shown.size() >= shown_text_bytes) {
      return shown + "...";
    }
    const auto code = static_cast<unsigned char>(character);
    if (code >= 0x20 && code != 0x7f) {
      shown += character;
    } else {
      shown += {'\\', 'x', digits[code >> 4U], digits[code & 0xfU]};
    }
  }
  return shown;
}

}  // namespace datum
