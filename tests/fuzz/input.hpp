// What a fuzzer drew, read as numbers and bytes, and how a fuzzer says that something is wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace datum::test {

/// Reads from the front. Where nothing is left there are zeros, so that every input is a whole program.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) noexcept : rest_(data, size) {}

  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }

  template <class Number>
  [[nodiscard]] Number number() noexcept {
    static_assert(std::is_trivially_copyable_v<Number>);
    Number value{};
    const std::span<const std::uint8_t> front = bytes(sizeof value);
    if (!front.empty()) {
      std::memcpy(&value, front.data(), front.size());
    }
    return value;
  }

  /// Less than `end`, which is not 0. Takes no more bytes than such a number needs.
  [[nodiscard]] std::uint64_t below(std::uint64_t end) noexcept {
    if (end <= 0x100U) {
      return number<std::uint8_t>() % end;
    }
    if (end <= 0x10000U) {
      return number<std::uint16_t>() % end;
    }
    return (end <= 0x100000000U ? number<std::uint32_t>() : number<std::uint64_t>()) % end;
  }

  [[nodiscard]] bool flip() noexcept { return (number<std::uint8_t>() & 1U) != 0; }

  /// Fewer than `count` where the input ends.
  [[nodiscard]] std::span<const std::uint8_t> bytes(std::size_t count) noexcept {
    const std::span<const std::uint8_t> front = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(front.size());
    return front;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

/// Ends the process, with `sentence`, unless `holds`: libFuzzer keeps the input.
inline void require(bool holds, std::string_view sentence) {
  if (!holds) {
    std::fprintf(stderr, "FOUND: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
    std::abort();
  }
}

}  // namespace datum::test
