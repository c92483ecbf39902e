// Who the board is, and plain register access.

#include <bit>

#include "tests/contract/contract_board.hpp"

namespace datum::test {

class IdentityContract : public Contract {};

DATUM_ON_EVERY_BOARD(IdentityContract);

TEST_P(IdentityContract, the_function_says_who_it_is) {
  const auto& info = function().info();
  EXPECT_EQ(info.address, GetParam());
  EXPECT_FALSE(info.name.empty());
  EXPECT_TRUE(info.pci.domain == 0xda70 || info.pci.domain == 0xda71) << info.pci.domain;
  EXPECT_EQ(info.vendor_id, 0x1234);
  EXPECT_EQ(info.device_id, 0xda70);
  EXPECT_EQ(info.bars[0].size_bytes, hw::bar0_bytes);
  EXPECT_EQ(info.bars[1].size_bytes, 0U);
  EXPECT_TRUE(std::has_single_bit(info.bars[2].size_bytes));
  EXPECT_NE(info.bars[4].size_bytes, 0U);
  EXPECT_EQ(info.vectors, 66U);
}

TEST_P(IdentityContract, the_board_describes_itself) {
  auto& registers = driver().registers();
  EXPECT_EQ(registers.read32(hw::magic), hw::magic_value);
  EXPECT_EQ(hw::VersionRegister{registers.read32(hw::version)}.major(), hw::version_major);
  EXPECT_EQ(registers.read32(hw::build_id), hw::description_crc);
  EXPECT_EQ(registers.read32(hw::ring_count), 64U);
  EXPECT_GE(registers.read32(hw::channel_count), 2U);
  EXPECT_EQ(registers.read32(hw::vector_count), function().info().vectors);
  EXPECT_EQ(registers.read64(hw::timer_hz), 1'000'000'000U);
  EXPECT_TRUE(hw::StatusRegister{registers.read32(hw::status)}.memory_clean());
}

TEST_P(IdentityContract, an_address_without_options_has_the_sizes_that_are_documented) {
  auto& registers = driver().registers();
  EXPECT_EQ(registers.read64(hw::memory_bytes), 4ULL << 30U);
  EXPECT_EQ(registers.read64(hw::aperture_fixed_bytes), 256ULL << 20U);
  EXPECT_EQ(registers.read64(hw::aperture_window_bytes), 64ULL << 20U);
}

TEST_P(IdentityContract, memory_becomes_ready) {
  EXPECT_TRUE(driver().until(
      [&] { return hw::StatusRegister{driver().registers().read32(hw::status)}.memory_ready(); }));
}

TEST_P(IdentityContract, the_memory_has_the_same_timing_on_every_board) {
  auto& registers = driver().registers();
  EXPECT_EQ(registers.read32(hw::mc_timing0),
            hw::McTiming0Register{}.set_t_rcd(5).set_t_rp(5).set_t_ras(10).set_t_rrd_l(2).raw);
  EXPECT_EQ(registers.read32(hw::mc_timing1),
            hw::McTiming1Register{}.set_t_cl(5).set_t_ccd_l(2).set_t_wtr(7).set_t_rtw(3).raw);
  EXPECT_EQ(registers.read32(hw::mc_timing2),
            hw::McTiming2Register{}.set_t_refi(2340).set_t_rfc(105).set_t_faw(7).raw);
  EXPECT_EQ(registers.read32(hw::mc_timing3), hw::McTiming3Register{}.set_t_wr(9).set_t_rtp(3).raw);
}

TEST_P(IdentityContract, options_of_the_address_show_in_the_registers) {
  open_with("memory=1G,aperture=16M,window=8M,channels=2");
  auto& registers = driver().registers();
  EXPECT_EQ(registers.read64(hw::memory_bytes), 1ULL << 30U);
  EXPECT_EQ(registers.read64(hw::aperture_fixed_bytes), 16ULL << 20U);
  EXPECT_EQ(registers.read64(hw::aperture_window_bytes), 8ULL << 20U);
  EXPECT_EQ(registers.read32(hw::channel_count), 2U);
  EXPECT_EQ(function().info().bars[2].size_bytes, 32ULL << 20U);
}

TEST_P(IdentityContract, scratch_keeps_64_bits_and_either_half) {
  auto& registers = driver().registers();
  registers.write64(hw::scratch, 0x0123456789abcdefULL);
  EXPECT_EQ(registers.read64(hw::scratch), 0x0123456789abcdefULL);
  EXPECT_EQ(registers.read32(hw::scratch), 0x89abcdefU);
  EXPECT_EQ(registers.read32(hw::scratch + 4), 0x01234567U);
  registers.write32(hw::scratch + 4, 0xfeedf00dU);
  EXPECT_EQ(registers.read64(hw::scratch), 0xfeedf00d89abcdefULL);
}

TEST_P(IdentityContract, read_only_registers_ignore_writes_and_holes_read_zero) {
  auto& registers = driver().registers();
  registers.write32(hw::magic, 0);
  EXPECT_EQ(registers.read32(hw::magic), hw::magic_value);
  registers.write32(0x7000, 0xffffffffU);
  EXPECT_EQ(registers.read32(0x7000), 0U);
}

TEST_P(IdentityContract, every_register_has_its_reset_value) {
  auto& registers = driver().registers();
  for (const auto& info : hw::register_table) {
    // The timing is that of the board's own memory.
    const bool of_the_memory = info.name.starts_with("MC_TIMING");
    if (info.reset_by_hardware || info.access == hw::Access::wo || info.block == "perf" || of_the_memory) {
      continue;
    }
    for (const std::uint32_t index : {0U, info.count - 1U}) {
      const auto offset = info.offset + index * info.stride_bytes;
      const auto value = info.width_bits == 64 ? registers.read64(offset) : registers.read32(offset);
      EXPECT_EQ(value, info.reset) << info.name << " " << index;
    }
  }
}

TEST_P(IdentityContract, accesses_outside_of_a_bar_read_ones_and_write_nothing) {
  auto& registers = driver().registers();
  EXPECT_EQ(registers.read32(hw::bar0_bytes), 0xffffffffU);
  EXPECT_EQ(registers.read64(hw::bar0_bytes - 4), ~0ULL);
  registers.write32(hw::bar0_bytes, 1);
  EXPECT_TRUE(function().health());
}

TEST_P(IdentityContract, bars_that_do_not_exist_are_not_available) {
  for (const unsigned index : {1U, 3U, 5U, 6U, ~0U}) {
    const auto bar = function().bar(index);
    ASSERT_FALSE(bar) << index;
    EXPECT_EQ(bar.error().code, ErrorCode::not_available);
  }
  const auto first = function().bar(0);
  const auto second = function().bar(0);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST_P(IdentityContract, time_and_cycles_go_forward) {
  auto& registers = driver().registers();
  const auto time = registers.read64(hw::timer);
  const auto cycles = registers.read64(hw::cycles);
  const auto clock = function().clock();
  EXPECT_GE(clock.wait_scale, 1U);
  function().relax();
  EXPECT_GT(registers.read64(hw::timer), time);
  EXPECT_GT(registers.read64(hw::cycles), cycles);
  EXPECT_GE(function().clock().now_ns, clock.now_ns);
}

}  // namespace datum::test
