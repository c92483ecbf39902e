// What the contracts of error correction begin with: a word whose bits are made wrong on purpose.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tests/contract/contract_board.hpp"

namespace datum::test {

class EccContract : public Contract {
 protected:
  static constexpr std::uint64_t value = 0x0123'4567'89ab'cdef;
  static constexpr std::uint64_t area_bytes = 0x4000;
  static constexpr std::uint64_t column_bytes = 64;

  void SetUp() override {
    area_ = driver().device_memory(area_bytes);
    word_ = area_ + 0x1048;
    slide_window();
    write_word(word_, value);
  }

  /// The board of a server and a card keep their memory, and with it what is wrong there, for the next test.
  void TearDown() override {
    for (const std::uint64_t address : injected_) {
      registers().write64(hw::window_base,
                          hw::WindowBaseRegister{}.set_address_bytes(address & ~0xfffULL).raw);
      driver().aperture().write64(window_ + (address & 0xff8U), 0);
    }
  }

  board::Bar& registers() { return driver().registers(); }

  /// The fixed part of the aperture may be mapped past the memory controller; the window never is.
  void slide_window() {
    registers().write64(hw::window_base, hw::WindowBaseRegister{}.set_address_bytes(area_).raw);
    window_ = registers().read64(hw::aperture_fixed_bytes);
  }

  std::uint64_t read_word(std::uint64_t address) {
    return driver().aperture().read64(window_ + (address - area_));
  }

  void write_word(std::uint64_t address, std::uint64_t word) {
    driver().aperture().write64(window_ + (address - area_), word);
  }

  void write_half(std::uint64_t address, std::uint32_t half) {
    driver().aperture().write32(window_ + (address - area_), half);
  }

  void inject(std::uint64_t address, std::uint64_t data, unsigned check = 0) {
    if (address < registers().read64(hw::memory_bytes)) {
      injected_.push_back(address);
    }
    registers().write64(hw::inject_address, address);
    registers().write64(hw::inject_data, data);
    registers().write32(hw::inject_check, check);
    registers().write32(hw::inject_command, 1);
    ASSERT_TRUE(driver().until([&] { return registers().read32(hw::inject_command) == 0; }));
  }

  /// Bit 64 and above are check bits.
  void inject_bits(std::uint64_t address, std::initializer_list<unsigned> bits) {
    std::uint64_t data = 0;
    unsigned check = 0;
    for (const auto bit : bits) {
      if (bit < 64) {
        data |= 1ULL << bit;
      } else {
        check |= 1U << (bit - 64);
      }
    }
    inject(address, data, check);
  }

  void clear_errors() {
    registers().write32(hw::ecc_clear, hw::EccClearRegister{}.set_counts(true).set_logs(true).raw);
  }

  std::uint64_t corrected() { return registers().read64(hw::ecc_corrected_count); }

  std::uint64_t uncorrected() { return registers().read64(hw::ecc_uncorrected_count); }

  void expect_counts(std::uint64_t right_again, std::uint64_t lost) {
    ASSERT_TRUE(driver().until_quiescent());
    EXPECT_EQ(corrected(), right_again);
    EXPECT_EQ(uncorrected(), lost);
  }

  /// By the mapping of the board contract.
  static unsigned bank_of(std::uint64_t address) {
    const auto row = address >> 17U;
    const auto fold = row ^ (row >> 4U) ^ (row >> 8U) ^ (row >> 12U);
    const auto plain = ((address >> 15U) & 3U) << 2U | ((address >> 6U) & 3U);
    return static_cast<unsigned>((plain ^ fold) & 0xfU);
  }

  /// By definition of the code.
  static unsigned column_of_bit(unsigned bit) {
    if (bit >= 64) {
      return 1U << (bit - 64);
    }
    const unsigned low = bit == 0 ? 0x3fU : 0x40U + bit;
    unsigned parity = 1;
    for (unsigned shift = 0; shift < 7; ++shift) {
      parity ^= (low >> shift) & 1U;
    }
    return low | (parity << 7U);
  }

  std::uint64_t area_ = 0;
  std::uint64_t word_ = 0;
  std::uint64_t window_ = 0;  // offset of the window in the aperture
  std::vector<std::uint64_t> injected_;
};

}  // namespace datum::test
