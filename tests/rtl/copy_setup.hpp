// A board with space 0 mapped to host, DRAM and on-chip memory, for tests that let its DMA move bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/rtl/board_bench.hpp"
#include "tests/rtl/page_tables.hpp"
#include "tests/rtl/ring_driver.hpp"

namespace datum::rtl_test {

inline constexpr std::uint64_t table_base = 32ULL << 20U;
inline constexpr std::uint64_t host_va = 0x1000'0000;
inline constexpr std::uint64_t device_va = 0x5000'0000;
inline constexpr std::uint64_t onchip_va = 0x7000'0000;
inline constexpr std::uint64_t host_address = 0x4'0000'0000;
inline constexpr std::uint64_t mapped_bytes = 4ULL << 20U;  // twice that in the DRAM
inline constexpr std::uint64_t ring_address = 0x8000'0000;

[[nodiscard]] std::vector<std::byte> random_bytes(std::size_t count, std::uint32_t seed);

/// Ring 0 is enabled. After each test the board must come to rest with no rule of the DRAM broken.
class CopySetup : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  void map_spaces();  // the root, which a reset forgets

  /// Cycles from doorbell to completion record.
  std::uint64_t copy_cycles(std::uint64_t dst, std::uint64_t src, std::uint64_t bytes);

  [[nodiscard]] static double beats_per_cycle(std::uint64_t bytes, std::uint64_t cycles) {
    return static_cast<double>(bytes) / bus_word_bytes / static_cast<double>(cycles);
  }

  BoardBench bench_;
  PageTables tables_{bench_.dram_memory, table_base, 1ULL << 20U};
  std::optional<RingDriver> ring_;
};

}  // namespace datum::rtl_test
