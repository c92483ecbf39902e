// Page tables in the DRAM of a bench, written past the board.
#pragma once

#include <cstdint>

#include <datum/hw/registers.hpp>

#include "tests/rtl/sparse_memory.hpp"

namespace datum::rtl_test {

/// Tables of one space.
class PageTables {
 public:
  /// Tables stand in [first, first + bytes) of ordinal 0.
  PageTables(SparseMemory& memory, std::uint64_t first, std::uint64_t bytes)
      : memory_(memory), next_(first + 4096), end_(first + bytes), root_(first) {}

  [[nodiscard]] std::uint64_t root() const noexcept { return root_; }

  /// A leaf at `level` (0: 4 KiB, 1: 2 MiB, 2: 1 GiB).
  void map(std::uint64_t va, hw::Pte leaf, unsigned level = 0);
  /// `bytes` of 4 KiB pages.
  void map_range(std::uint64_t va, std::uint64_t address, std::uint64_t bytes, bool host,
                 bool writable = true, unsigned ordinal = 0);
  /// Where the entry of `va` at `level` stands; tables above are made.
  std::uint64_t entry_address(std::uint64_t va, unsigned level);

  [[nodiscard]] static hw::Pte leaf(std::uint64_t address, bool host, bool writable, unsigned ordinal = 0);

 private:
  SparseMemory& memory_;
  std::uint64_t next_;
  std::uint64_t end_;
  std::uint64_t root_;
};

}  // namespace datum::rtl_test
