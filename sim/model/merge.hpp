// What a register holds after a write of some of its bytes.
#pragma once

#include <cstdint>

namespace datum::sim {

/// `mask` has the bits that the access carries.
constexpr std::uint64_t merge(std::uint64_t old, std::uint64_t value, std::uint64_t mask) noexcept {
  return (old & ~mask) | (value & mask);
}

}  // namespace datum::sim
