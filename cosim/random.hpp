// Repeatable random numbers and bytes, the same on every platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace datum::cosim {

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

  /// Uniform in [0, bound); `bound` > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  /// Uniform in [first, last].
  std::uint64_t between(std::uint64_t first, std::uint64_t last) { return first + below(last - first + 1); }

  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// `count` bytes in which neighbours, pages and seeds differ.
[[nodiscard]] std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed);

}  // namespace datum::cosim
