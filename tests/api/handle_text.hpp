// IPC handles as text, for the environment of another process.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace datum::test {

template <class Handle>
[[nodiscard]] std::string as_text(const Handle& handle) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : handle.data) {
    text += digits[static_cast<unsigned char>(byte) >> 4U];
    text += digits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

/// What is missing in `text` is zero.
template <class Handle>
[[nodiscard]] Handle from_text(const std::string& text) {
  Handle handle{};
  for (std::size_t index = 0; index < sizeof handle.data && 2 * index + 1 < text.size(); ++index) {
    handle.data[index] = static_cast<char>(std::stoul(text.substr(2 * index, 2), nullptr, 16));
  }
  return handle;
}

}  // namespace datum::test
