#include "tools/datum/page_walk.hpp"

#include <span>

#include <fmt/format.h>

#include <datum/hw/registers.hpp>

namespace datum::tool {

namespace {

constexpr unsigned levels = 4;
constexpr unsigned bits_per_level = 9;
constexpr unsigned page_bits = 12;
constexpr std::uint64_t entries_per_table = 512;

constexpr unsigned shift_of(unsigned level) { return page_bits + bits_per_level * level; }

Error malformed(unsigned level, hw::Pte entry) {
  return make_error(ErrorCode::unknown,
                    fmt::format("the entry {:#x} at level {} breaks the format", entry.raw, level),
                    "docs/board-contract.md, 3, has the format");
}

WalkEnd end_of(hw::Pte entry, unsigned level, std::uint64_t va) {
  const std::uint64_t page_bytes = 1ULL << shift_of(level);
  const std::uint64_t offset = va & (page_bytes - 1);
  WalkEnd end;
  end.host = entry.host();
  end.writable = entry.writable();
  end.bytes = page_bytes - offset;
  end.iova = Iova{entry.address_bytes() + offset};
  end.device = {entry.address_bytes() + offset, entry.ordinal()};
  return end;
}

}  // namespace

Result<WalkEnd> walk(OpenBoard& board, DeviceMemory& memory, unsigned space, DeviceVa va) {
  const std::uint32_t spaces = board.registers->read32(hw::space_count);
  if (space >= spaces || space >= hw::space_block_count) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("there is no space {}; the board has {}, from 0", space, spaces));
  }
  if (raw(va) >> 48U != 0) {
    return make_error(ErrorCode::invalid_argument, fmt::format("{:#x} has more than 48 bits", raw(va)));
  }
  const hw::SpaceRootRegister root{board.registers->read64(hw::space_root(space))};
  if (root.raw == ~0ULL || !root.valid()) {
    return make_error(ErrorCode::address_not_found, fmt::format("space {} has no page table", space),
                      "'datum regs read SPACE_ROOT' shows which have");
  }
  std::uint64_t table = root.address_bytes();
  for (unsigned level = levels; level-- > 0;) {
    const std::uint64_t index = (raw(va) >> shift_of(level)) % entries_per_table;
    hw::Pte entry;
    if (Status got = memory.read({table + index * sizeof entry.raw, 0},
                                 std::as_writable_bytes(std::span{&entry.raw, 1}));
        !got) {
      return std::move(got).error();
    }
    if (!entry.valid()) {
      return make_error(
          ErrorCode::address_not_found,
          fmt::format("nothing is mapped at {:#x} in space {} (level {})", raw(va), space, level));
    }
    const bool may_be_leaf = level + 1 < levels;
    if ((entry.leaf() && !may_be_leaf) || (!entry.leaf() && level == 0)) {
      return malformed(level, entry);
    }
    if (entry.leaf()) {
      return is_aligned(entry.address_bytes(), 1ULL << shift_of(level))
                 ? Result<WalkEnd>(end_of(entry, level, raw(va)))
                 : malformed(level, entry);
    }
    table = entry.address_bytes();
  }
  return make_error(ErrorCode::unknown, "the page tables have no end");
}

}  // namespace datum::tool
