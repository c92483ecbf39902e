// Error correction: one wrong bit is corrected, for the reader and in the memory; two fail whoever reads
// them; nothing goes unsaid.

#include "tests/contract/ecc_contract.hpp"

namespace datum::test {

DATUM_ON_EVERY_BOARD(EccContract);

TEST_P(EccContract, the_board_says_that_its_memory_is_protected) {
  EXPECT_TRUE(hw::McStatusRegister{registers().read32(hw::mc_status)}.ecc());
  expect_counts(0, 0);
}

TEST_P(EccContract, any_one_wrong_bit_is_corrected_once_and_then_right_in_the_memory) {
  for (unsigned bit = 0; bit < 72; ++bit) {
    inject_bits(word_, {bit});
    clear_errors();
    EXPECT_EQ(read_word(word_), value) << bit;
    expect_counts(1, 0);
    EXPECT_EQ(read_word(word_), value) << bit;
    expect_counts(1, 0);
    const hw::EccCorrectedInfoRegister info{registers().read32(hw::ecc_corrected_info)};
    EXPECT_TRUE(info.valid());
    EXPECT_FALSE(info.scrub());
    EXPECT_EQ(info.syndrome(), column_of_bit(bit)) << bit;
    EXPECT_EQ(info.bank(), bank_of(word_));
    EXPECT_EQ(registers().read64(hw::ecc_corrected_address), word_);
    EXPECT_EQ(registers().read32(hw::ecc_uncorrected_info), 0U);
  }
}

TEST_P(EccContract, two_wrong_bits_are_never_taken_for_data) {
  for (unsigned first = 0; first < 72; first += 5) {
    const unsigned second = (first * 7 + 13) % 72;
    inject_bits(word_, {first, second});
    clear_errors();
    EXPECT_EQ(read_word(word_), ~0ULL) << first << " " << second;
    expect_counts(0, 1);
    const hw::EccUncorrectedInfoRegister info{registers().read32(hw::ecc_uncorrected_info)};
    EXPECT_TRUE(info.valid());
    EXPECT_EQ(info.syndrome(), column_of_bit(first) ^ column_of_bit(second));
    EXPECT_EQ(info.bank(), bank_of(word_));
    EXPECT_EQ(registers().read64(hw::ecc_uncorrected_address), word_);
    EXPECT_EQ(registers().read32(hw::ecc_corrected_info), 0U);
    write_word(word_, value);
    EXPECT_EQ(read_word(word_), value) << "a word that is written whole is right again";
  }
}

TEST_P(EccContract, a_lost_word_takes_its_column_of_64_bytes_with_it_and_no_other) {
  const auto column = word_ - word_ % column_bytes;
  write_word(column - 8, 1);
  write_word(column + column_bytes, 2);
  inject_bits(word_, {3, 4});
  EXPECT_EQ(read_word(column), ~0ULL);
  EXPECT_EQ(read_word(column + column_bytes - 8), ~0ULL);
  EXPECT_EQ(read_word(column - 8), 1U);
  EXPECT_EQ(read_word(column + column_bytes), 2U);
}

TEST_P(EccContract, an_injection_leaves_only_its_own_word_wrong) {
  const auto column = word_ - word_ % column_bytes;
  for (std::uint64_t word = 0; word < 8; ++word) {
    write_word(column + 8 * word, value + word);
  }
  for (std::uint64_t word = 0; word < 8; ++word) {
    inject_bits(column + 8 * word, {static_cast<unsigned>(9 * word)});
  }
  // Each injection read the column and wrote back what was wrong: only the last word still is.
  clear_errors();
  for (std::uint64_t word = 0; word < 8; ++word) {
    EXPECT_EQ(read_word(column + 8 * word), value + word);
    ASSERT_TRUE(driver().until_quiescent());
  }
  expect_counts(1, 0);
}

TEST_P(EccContract, a_write_of_part_of_a_word_keeps_the_rest_right) {
  inject_bits(word_, {7});
  clear_errors();
  write_half(word_ + 4, 0x1111'2222);
  expect_counts(1, 0);
  EXPECT_EQ(read_word(word_), 0x1111'2222'89ab'cdefULL);
  expect_counts(1, 0);
}

TEST_P(EccContract, a_write_of_part_of_a_lost_word_does_not_make_it_look_right) {
  inject_bits(word_, {7, 60});
  clear_errors();
  write_half(word_ + 4, 0x1111'2222);
  expect_counts(0, 1);
  EXPECT_EQ(read_word(word_), ~0ULL);
  expect_counts(0, 2);
  write_word(word_, 5);
  EXPECT_EQ(read_word(word_), 5U);
}

TEST_P(EccContract, the_counts_and_the_logs_are_forgotten_apart) {
  inject_bits(word_, {1});
  EXPECT_EQ(read_word(word_), value);
  expect_counts(1, 0);
  registers().write32(hw::ecc_clear, hw::EccClearRegister{}.set_counts(true).raw);
  expect_counts(0, 0);
  EXPECT_EQ(registers().read64(hw::ecc_corrected_address), word_);
  inject_bits(area_, {2});
  EXPECT_EQ(read_word(area_), 0U);
  expect_counts(1, 0);
  EXPECT_EQ(registers().read64(hw::ecc_corrected_address), word_) << "the log keeps the first error";
  registers().write32(hw::ecc_clear, hw::EccClearRegister{}.set_logs(true).raw);
  EXPECT_EQ(registers().read32(hw::ecc_corrected_info), 0U);
  EXPECT_EQ(registers().read64(hw::ecc_corrected_address), 0U);
  EXPECT_EQ(corrected(), 1U);
}

TEST_P(EccContract, the_first_error_of_each_kind_raises_the_vector_of_the_memory_controller) {
  const auto vector = function().info().vectors - 1;
  const auto expect_raised = [&] {
    const auto clock = function().clock();
    const auto outcome = function().wait(vector, -1, clock.now_ns + 1'000'000'000ULL * clock.wait_scale);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
    EXPECT_TRUE(hw::InterruptGlobalRegister{registers().read32(hw::interrupt_global)}.memory());
    registers().write32(hw::interrupt_global, ~0U);
  };
  const auto raised = [&] {
    EXPECT_TRUE(driver().until_quiescent());
    return hw::InterruptGlobalRegister{registers().read32(hw::interrupt_global)}.memory();
  };
  EXPECT_FALSE(raised());
  inject_bits(word_, {1});
  static_cast<void>(read_word(word_));
  expect_raised();
  inject_bits(word_, {2});
  static_cast<void>(read_word(word_));
  EXPECT_FALSE(raised()) << "its log is full";
  inject_bits(word_, {2, 3});
  static_cast<void>(read_word(word_));
  expect_raised();
  registers().write32(hw::ecc_clear, hw::EccClearRegister{}.set_logs(true).raw);
  static_cast<void>(read_word(word_));
  expect_raised();
}

TEST_P(EccContract, errors_stay_in_the_memory_over_a_reset_and_counts_do_not) {
  inject_bits(word_, {1});
  EXPECT_EQ(read_word(word_), value);
  expect_counts(1, 0);
  inject_bits(word_, {2});
  registers().write32(hw::reset, 1);
  ASSERT_TRUE(driver().until([&] { return registers().read32(hw::reset) == 0; }));
  expect_counts(0, 0);
  EXPECT_EQ(registers().read32(hw::ecc_corrected_info), 0U);
  slide_window();
  EXPECT_EQ(read_word(word_), value);
  expect_counts(1, 0);
}

TEST_P(EccContract, an_injection_beyond_the_memory_does_nothing) {
  inject_bits(registers().read64(hw::memory_bytes), {1});
  expect_counts(0, 0);
  EXPECT_EQ(read_word(word_), value);
}

}  // namespace datum::test
