#include <gtest/gtest.h>

#include <datum/hw/registers.hpp>

#include "tests/rtl/board_bench.hpp"

namespace datum::rtl_test {
namespace {

class BoardRegisters : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(bench_.run_until_quiescent()); }

  std::uint64_t read(const hw::RegisterInfo& info, std::uint32_t index = 0) {
    const auto offset = info.offset + index * info.stride_bytes;
    return info.width_bits == 64 ? bench_.read64(offset) : bench_.read32(offset);
  }

  BoardBench bench_;
};

TEST_F(BoardRegisters, given_a_new_board_when_all_registers_are_read_then_they_have_their_reset_values) {
  for (const auto& info : hw::register_table) {
    if (info.reset_by_hardware || info.block == "perf") {
      continue;  // the counters have seen the first refresh
    }
    for (const auto index : {0U, info.count / 2, info.count - 1}) {
      EXPECT_EQ(read(info, index), info.access == hw::Access::wo ? 0 : info.reset)
          << info.name << ' ' << index;
    }
  }
}

TEST_F(BoardRegisters, given_places_behind_the_counters_when_read_then_they_are_zero) {
  constexpr std::uint32_t counters = 0x3000;
  for (const std::uint32_t place : {0x80U, 0x100U, 0x400U, 0xff8U}) {
    EXPECT_EQ(bench_.read64(counters + place), 0U) << place;
  }
}

TEST_F(BoardRegisters, given_the_identity_when_read_then_it_names_this_description_and_build) {
  EXPECT_EQ(bench_.read32(hw::magic), hw::magic_value);
  EXPECT_EQ(bench_.read32(hw::build_id), hw::description_crc);
  EXPECT_EQ(bench_.read32(hw::ring_count), 64U);
  EXPECT_EQ(bench_.read32(hw::channel_count), 4U);
  EXPECT_EQ(bench_.read32(hw::space_count), 256U);
  EXPECT_EQ(bench_.read32(hw::vector_count), 66U);
  EXPECT_EQ(bench_.read64(hw::memory_bytes), 64ULL << 20U);
  EXPECT_EQ(bench_.read64(hw::onchip_bytes), 256ULL << 10U);
  EXPECT_EQ(bench_.read64(hw::aperture_fixed_bytes), 1ULL << 20U);
  EXPECT_EQ(bench_.read64(hw::aperture_window_bytes), 64ULL << 10U);
  EXPECT_EQ(bench_.read64(hw::clock_hz), 300'000'000U);
  EXPECT_EQ(bench_.read64(hw::timer_hz), 1'000'000'000U);
  const hw::StatusRegister status{bench_.read32(hw::status)};
  EXPECT_TRUE(status.memory_ready());
  EXPECT_TRUE(status.memory_clean());
  EXPECT_TRUE(status.quiescent());
  EXPECT_EQ(bench_.read32(hw::mc_status), hw::McStatusRegister{}.set_ready(true).set_ecc(true).raw);
  EXPECT_EQ(hw::McTiming1Register{bench_.read32(hw::mc_timing1)}.t_cl(), 5U);
}

TEST_F(BoardRegisters,
       given_writable_registers_when_all_bits_are_written_then_fields_keep_them_and_no_neighbour_changes) {
  bench_.write64(hw::scratch, 0x0123'4567'89ab'cdef);
  EXPECT_EQ(bench_.read64(hw::scratch), 0x0123'4567'89ab'cdefU);
  bench_.write64(hw::window_base, ~std::uint64_t{0});
  EXPECT_EQ(bench_.read64(hw::window_base), 0x030f'ffff'ffff'f000U);
  bench_.write64(hw::space_root(255), ~std::uint64_t{0});
  EXPECT_EQ(bench_.read64(hw::space_root(255)), 0x000f'ffff'ffff'f001U);
  EXPECT_EQ(bench_.read64(hw::space_root(254)), 0U);
  bench_.write64(hw::inv_address, 0x1234'5678'9000);
  bench_.write64(hw::inv_bytes, 0x5000);
  EXPECT_EQ(bench_.read64(hw::inv_address), 0x1234'5678'9000U);
  EXPECT_EQ(bench_.read64(hw::inv_bytes), 0x5000U);
  EXPECT_EQ(bench_.read32(hw::inv_status), 0U);
}

TEST_F(BoardRegisters, given_channel_enable_when_written_then_it_stays_between_one_and_the_channels) {
  bench_.write32(hw::channel_enable, 2);
  EXPECT_EQ(bench_.read32(hw::channel_enable), 2U);
  bench_.write32(hw::channel_enable, 0);
  EXPECT_EQ(bench_.read32(hw::channel_enable), 1U);
  bench_.write32(hw::channel_enable, 0x100);
  EXPECT_EQ(bench_.read32(hw::channel_enable), 4U);
}

TEST_F(BoardRegisters,
       given_read_only_registers_and_holes_when_written_then_nothing_changes_and_holes_read_zero) {
  bench_.write32(hw::magic, 0);
  bench_.write64(hw::memory_bytes, 1);
  EXPECT_EQ(bench_.read32(hw::magic), hw::magic_value);
  EXPECT_EQ(bench_.read64(hw::memory_bytes), 64ULL << 20U);
  for (const auto hole : {0x0f8U, 0xffcU, 0x1020U, 0x2014U, 0x2064U, 0x3048U, 0x4018U, 0x5000U, 0x7ffcU,
                          0x9000U, 0x10020U, 0x10ffcU, 0x50000U, 0x7fffcU}) {
    bench_.write32(hole, 0xffff'ffff);
    EXPECT_EQ(bench_.read32(hole), 0U) << std::hex << hole;
  }
}

TEST_F(BoardRegisters,
       given_a_running_counter_when_read_in_halves_then_the_high_half_belongs_to_the_low_one) {
  // TIMER moves on between the two reads, here past a carry into the high half.
  bench_.set_timer_ns(0xffff'fff8);
  const auto low = bench_.read32(hw::timer);
  bench_.set_timer_ns(0x1'0000'0010);
  const auto high = bench_.read32(hw::timer + 4);
  EXPECT_EQ(low, 0xffff'fff8U);
  EXPECT_EQ(high, 0U);
  EXPECT_EQ(bench_.read32(hw::timer + 4), 1U) << "a snapshot serves once";
  const auto before = bench_.read64(hw::cycles);
  bench_.run(100);
  EXPECT_GT(bench_.read64(hw::cycles), before + 100);
}

}  // namespace
}  // namespace datum::rtl_test
