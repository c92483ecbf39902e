// Bytes that tell their own place, and comparison that says where the first difference is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace datum::test {

using Bytes = std::vector<unsigned char>;

/// `count` bytes in which neighbours, pages and seeds differ.
[[nodiscard]] Bytes pattern(std::size_t count, std::uint64_t seed = 1);
void write_pattern(void* to, std::size_t count, std::uint64_t seed = 1);

/// Success when `count` bytes agree; else the first offset that does not, with both bytes and how many
/// differ.
[[nodiscard]] ::testing::AssertionResult same_bytes(const void* expected, const void* actual,
                                                    std::size_t count);
[[nodiscard]] ::testing::AssertionResult same_bytes(const Bytes& expected, const Bytes& actual);

/// A small generator of repeatable random numbers (splitmix64), the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();

  /// Uniform in [0, bound); `bound` > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  /// Uniform in [first, last].
  std::uint64_t between(std::uint64_t first, std::uint64_t last) { return first + below(last - first + 1); }

  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace datum::test
