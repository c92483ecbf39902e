// A walk over the page tables that a board holds, read through its aperture as the board contract describes
// them.
#pragma once

#include <cstdint>
#include <optional>

#include <datum/hw/registers.hpp>

#include "driver/device/board.hpp"

namespace datum::test {

/// A leaf, and how many bits of an address are an offset in its page.
struct Leaf {
  hw::Pte entry;
  unsigned shift = 0;
};

/// The leaf that maps `address` of `space`; empty: not present.
inline std::optional<Leaf> find_leaf(Board& board, unsigned space, std::uint64_t address) {
  const hw::SpaceRootRegister root{board.read64(hw::space_root(space))};
  if (!root.valid()) {
    return std::nullopt;
  }
  board::Bar& aperture = **board.function().bar(2);
  std::uint64_t table = root.address_bytes();
  for (unsigned level = 4; level-- > 0;) {
    const unsigned shift = 12 + 9 * level;
    const hw::Pte entry{aperture.read64(table + 8 * ((address >> shift) & 511U))};
    if (!entry.valid()) {
      return std::nullopt;
    }
    if (entry.leaf()) {
      return Leaf{entry, shift};
    }
    table = entry.address_bytes();
  }
  return std::nullopt;
}

/// Where `address` of `space` leads: device offset or IOVA; empty: not present.
inline std::optional<std::uint64_t> translate(Board& board, unsigned space, std::uint64_t address) {
  const std::optional<Leaf> leaf = find_leaf(board, space, address);
  if (!leaf) {
    return std::nullopt;
  }
  return leaf->entry.address_bytes() + (address & ((1ULL << leaf->shift) - 1));
}

}  // namespace datum::test
