// BAR2: a fixed part and a sliding window, at any offset and size.

#include <array>

#include "tests/contract/contract_board.hpp"
#include "tests/support/pattern.hpp"

namespace datum::test {

class ApertureContract : public Contract {
 protected:
  void slide(std::uint64_t device_address, unsigned ordinal = 0) {
    driver().registers().write64(hw::window_base, hw::WindowBaseRegister{}
                                                      .set_address_bytes(device_address)
                                                      .set_ordinal(static_cast<std::uint8_t>(ordinal))
                                                      .raw);
  }

  std::uint64_t window_offset() { return driver().registers().read64(hw::aperture_fixed_bytes); }
};

DATUM_ON_EVERY_BOARD(ApertureContract);

TEST_P(ApertureContract, untouched_memory_reads_zero) {
  std::array<std::byte, 100> bytes{};
  bytes.fill(std::byte{0x55});
  driver().aperture().read_block(0x123457, bytes);
  EXPECT_EQ(bytes, (std::array<std::byte, 100>{}));
}

TEST_P(ApertureContract, blocks_of_odd_sizes_and_offsets_come_back_and_leave_neighbours_alone) {
  auto& aperture = driver().aperture();
  const auto around = pattern(8192, 1);
  for (const std::uint64_t offset : {0ULL, 1ULL, 63ULL, 65ULL, 4095ULL}) {
    for (const std::size_t size : {1UL, 2UL, 3UL, 7UL, 64UL, 65UL, 1000UL, 2049UL}) {
      const auto base = 0x100000ULL;
      aperture.write_block(base, std::as_bytes(std::span{around}));
      const auto written = pattern(size, offset + size);
      aperture.write_block(base + offset, std::as_bytes(std::span{written}));
      auto expected = around;
      std::copy(written.begin(), written.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
      Bytes seen(around.size());
      aperture.read_block(base, std::as_writable_bytes(std::span{seen}));
      ASSERT_TRUE(same_bytes(expected, seen)) << offset << " " << size;
    }
  }
}

TEST_P(ApertureContract, words_are_little_endian) {
  auto& aperture = driver().aperture();
  aperture.write64(0x2000, 0x8877665544332211ULL);
  EXPECT_EQ(aperture.read32(0x2000), 0x44332211U);
  EXPECT_EQ(aperture.read32(0x2004), 0x88776655U);
  aperture.write32(0x2004, 0x01020304U);
  EXPECT_EQ(aperture.read64(0x2000), 0x0102030444332211ULL);
}

TEST_P(ApertureContract, the_window_shows_memory_beyond_the_fixed_part) {
  auto& aperture = driver().aperture();
  const auto window = window_offset();
  const std::uint64_t far = driver().registers().read64(hw::memory_bytes) / 4 * 3;
  slide(far);
  aperture.write64(window + 8, 42);
  slide(far - 4096);
  EXPECT_EQ(aperture.read64(window + 4096 + 8), 42U);
  slide(0);
  EXPECT_EQ(aperture.read64(window + 8), 0U);
}

TEST_P(ApertureContract, window_and_fixed_part_show_the_same_memory) {
  auto& aperture = driver().aperture();
  slide(0x300000);
  aperture.write64(0x300010, 0x1234);
  EXPECT_EQ(aperture.read64(window_offset() + 0x10), 0x1234U);
}

TEST_P(ApertureContract, a_block_may_run_from_the_fixed_part_into_the_window) {
  auto& aperture = driver().aperture();
  const auto window = window_offset();
  slide(0x400000);
  const auto written = pattern(512, 9);
  aperture.write_block(window - 200, std::as_bytes(std::span{written}));
  Bytes seen(312);
  aperture.read_block(0x400000, std::as_writable_bytes(std::span{seen}));
  EXPECT_TRUE(same_bytes(Bytes(written.begin() + 200, written.end()), seen));
}

TEST_P(ApertureContract, the_window_shows_on_chip_memory) {
  if (driver().registers().read64(hw::onchip_bytes) == 0) {
    GTEST_SKIP() << "this board has no on-chip memory";
  }
  slide(0, 1);
  driver().aperture().write64(window_offset() + 64, 77);
  EXPECT_EQ(driver().aperture().read64(window_offset() + 64), 77U);
  slide(0, 0);
  EXPECT_EQ(driver().aperture().read64(window_offset() + 64), 0U);
}

TEST_P(ApertureContract, a_window_beyond_the_memory_reads_ones_and_drops_writes) {
  slide(driver().registers().read64(hw::memory_bytes));
  driver().aperture().write64(window_offset(), 1);
  EXPECT_EQ(driver().aperture().read64(window_offset()), ~0ULL);
  EXPECT_TRUE(function().health());
}

}  // namespace datum::test
