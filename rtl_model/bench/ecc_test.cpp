// The error-correcting code, every single and double error of it, against the columns that the board contract
// gives its bits.
#include <bit>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "Vdatum_ecc_bench_top.h"

namespace datum::rtl_bench {
namespace {

constexpr unsigned data_bits = 64;
constexpr unsigned word_bits = 72;

/// Of a bit of a word, as board contract 9 has it.
unsigned column(unsigned bit) {
  if (bit >= data_bits) {
    return 1U << (bit - data_bits);
  }
  const unsigned low = bit == 0 ? 0b011'1111U : 0b100'0000U | bit;
  return low | (std::popcount(low) % 2 == 0 ? 0x80U : 0U);
}

class EccCode : public ::testing::Test {
 protected:
  EccCode() { code_.valid_i = 1; }

  /// What comes back of `data` when the bits of `first` and `second` turn on the way; the same bit twice:
  /// none.
  void pass(std::uint64_t data, unsigned first, unsigned second) {
    code_.data_i = data;
    code_.flips_i[0] = code_.flips_i[1] = code_.flips_i[2] = 0;
    for (const unsigned bit : {first, second}) {
      code_.flips_i[bit / 32] ^= 1U << (bit % 32);
    }
    code_.eval();
  }

  Vdatum_ecc_bench_top code_;
  std::mt19937_64 random_{7};
};

TEST_F(EccCode, given_any_single_bit_of_data_when_encoded_then_its_check_bits_are_its_column) {
  for (unsigned bit = 0; bit < data_bits; ++bit) {
    pass(1ULL << bit, 0, 0);
    EXPECT_EQ(code_.check_o, column(bit)) << bit;
  }
}

TEST_F(EccCode, given_two_words_when_added_then_their_check_bits_add) {
  for (unsigned round = 0; round < 10'000; ++round) {
    const std::uint64_t one = random_();
    const std::uint64_t other = random_();
    pass(one, 0, 0);
    const unsigned check = code_.check_o;
    pass(other, 0, 0);
    const unsigned sum = check ^ code_.check_o;
    pass(one ^ other, 0, 0);
    ASSERT_EQ(code_.check_o, sum);
  }
}

TEST_F(EccCode, given_no_error_when_decoded_then_the_word_passes_as_it_is) {
  for (unsigned round = 0; round < 1'000; ++round) {
    const std::uint64_t data = random_();
    pass(data, 0, 0);
    ASSERT_EQ(code_.data_o, data);
    ASSERT_EQ(code_.syndrome_o, 0);
    ASSERT_FALSE(code_.corrected_o || code_.failed_o);
  }
}

TEST_F(EccCode, given_an_error_before_when_the_next_word_has_none_then_nothing_is_reported_of_it) {
  pass(0, 0, 1);
  ASSERT_TRUE(code_.failed_o);
  pass(0, 0, 0);
  EXPECT_FALSE(code_.corrected_o || code_.failed_o);
  code_.flips_i[0] = 1;
  code_.eval();
  ASSERT_TRUE(code_.corrected_o);
  pass(0, 0, 0);
  EXPECT_FALSE(code_.corrected_o || code_.failed_o);
}

TEST_F(EccCode, given_nobody_who_asks_when_encoded_then_the_check_bits_are_zero) {
  pass(1, 0, 0);
  EXPECT_EQ(code_.check_o, column(0));
  code_.valid_i = 0;
  code_.eval();
  EXPECT_EQ(code_.check_o, 0);
}

TEST_F(EccCode, given_every_single_error_when_decoded_then_it_is_corrected) {
  for (unsigned bit = 0; bit < word_bits; ++bit) {
    for (unsigned round = 0; round < 50; ++round) {
      const std::uint64_t data = random_();
      code_.data_i = data;
      code_.flips_i[0] = code_.flips_i[1] = code_.flips_i[2] = 0;
      code_.flips_i[bit / 32] = 1U << (bit % 32);
      code_.eval();
      ASSERT_EQ(code_.data_o, data) << bit;
      ASSERT_EQ(code_.syndrome_o, column(bit)) << bit;
      ASSERT_TRUE(code_.corrected_o && !code_.failed_o) << bit;
    }
  }
}

TEST_F(EccCode, given_every_double_error_when_decoded_then_it_is_reported_and_never_corrected) {
  for (unsigned first = 0; first < word_bits; ++first) {
    for (unsigned second = first + 1; second < word_bits; ++second) {
      for (unsigned round = 0; round < 10; ++round) {
        pass(random_(), first, second);
        ASSERT_TRUE(code_.failed_o && !code_.corrected_o) << first << ' ' << second;
        ASSERT_EQ(code_.syndrome_o, column(first) ^ column(second));
      }
    }
  }
}

TEST_F(EccCode, given_a_syndrome_of_no_column_when_decoded_then_it_is_beyond_repair) {
  unsigned columns = 0;
  for (unsigned syndrome = 1; syndrome < 256; ++syndrome) {
    code_.data_i = 0;
    code_.flips_i[0] = code_.flips_i[1] = 0;
    code_.flips_i[2] = syndrome;
    code_.eval();
    bool known = false;
    for (unsigned bit = 0; bit < word_bits; ++bit) {
      known = known || column(bit) == syndrome;
    }
    columns += known ? 1 : 0;
    EXPECT_EQ(code_.corrected_o != 0, known) << syndrome;
    EXPECT_EQ(code_.failed_o != 0, !known) << syndrome;
  }
  EXPECT_EQ(columns, word_bits) << "no two bits may have the same column";
}

}  // namespace
}  // namespace datum::rtl_bench
