#include "tests/support/pattern.hpp"

#include <cstring>

namespace datum::test {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

void write_pattern(void* to, std::size_t count, std::uint64_t seed) {
  Random random(seed * 0x100000001b3ULL + 0x51ULL);
  auto* bytes = static_cast<unsigned char*>(to);
  for (std::size_t done = 0; done < count; done += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(bytes + done, &word, std::min(sizeof word, count - done));
  }
}

Bytes pattern(std::size_t count, std::uint64_t seed) {
  Bytes bytes(count);
  write_pattern(bytes.data(), count, seed);
  return bytes;
}

::testing::AssertionResult same_bytes(const void* expected, const void* actual, std::size_t count) {
  if (count == 0 || std::memcmp(expected, actual, count) == 0) {
    return ::testing::AssertionSuccess();
  }
  const auto* wanted = static_cast<const unsigned char*>(expected);
  const auto* found = static_cast<const unsigned char*>(actual);
  std::size_t first = count;
  std::size_t last = 0;
  std::size_t different = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (wanted[i] != found[i]) {
      first = std::min(first, i);
      last = i;
      ++different;
    }
  }
  return ::testing::AssertionFailure()
         << different << " of " << count << " bytes differ, from offset " << first << " (expected "
         << static_cast<unsigned>(wanted[first]) << ", found " << static_cast<unsigned>(found[first])
         << ") to offset " << last;
}

::testing::AssertionResult same_bytes(const Bytes& expected, const Bytes& actual) {
  if (expected.size() != actual.size()) {
    return ::testing::AssertionFailure()
           << "expected " << expected.size() << " bytes, found " << actual.size();
  }
  return same_bytes(expected.data(), actual.data(), expected.size());
}

}  // namespace datum::test
