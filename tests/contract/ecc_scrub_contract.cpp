// The scrubber finds and repairs what nobody has read.

#include "tests/contract/ecc_contract.hpp"

namespace datum::test {

class EccScrub : public EccContract {
 protected:
  void scrub(std::uint64_t first, std::uint64_t bytes) {
    registers().write64(hw::scrub_position, first);
    registers().write64(hw::scrub_remaining, bytes);
    ASSERT_TRUE(driver().until([&] { return registers().read64(hw::scrub_remaining) == 0; }));
    ASSERT_TRUE(driver().until_quiescent());
  }
};

DATUM_ON_EVERY_BOARD(EccScrub);

TEST_P(EccScrub, a_scrub_finds_what_nobody_has_read_and_repairs_what_can_be) {
  const auto lost = area_ + 0x2ff8;
  for (const auto word : {area_, word_, area_ + 0x2000}) {
    inject_bits(word, {11});
  }
  inject_bits(lost, {11, 12});
  clear_errors();
  scrub(area_, area_bytes);
  expect_counts(3, 1);
  EXPECT_EQ(registers().read64(hw::scrub_position), area_ + area_bytes);
  EXPECT_TRUE(hw::EccCorrectedInfoRegister{registers().read32(hw::ecc_corrected_info)}.scrub());
  const hw::EccUncorrectedInfoRegister info{registers().read32(hw::ecc_uncorrected_info)};
  EXPECT_TRUE(info.scrub());
  EXPECT_EQ(registers().read64(hw::ecc_uncorrected_address), lost);
  EXPECT_EQ(read_word(word_), value);
  expect_counts(3, 1);
  EXPECT_EQ(read_word(lost), ~0ULL) << "what is lost stays lost";
}

TEST_P(EccScrub, a_scrub_of_one_column_leaves_its_neighbours_alone) {
  const auto column = word_ - word_ % column_bytes;
  inject_bits(column - 8, {1});
  inject_bits(column + column_bytes, {1});
  clear_errors();
  scrub(column, column_bytes);
  expect_counts(0, 0);
}

TEST_P(EccScrub, the_scrubber_goes_round_at_the_end_of_the_memory) {
  inject_bits(area_, {5});
  clear_errors();
  const auto end = registers().read64(hw::memory_bytes);
  scrub(end - 2 * column_bytes, 2 * column_bytes + area_ + column_bytes);
  expect_counts(1, 0);
  EXPECT_EQ(registers().read64(hw::scrub_position), area_ + column_bytes);
}

TEST_P(EccScrub, with_an_interval_the_scrubber_goes_on_by_itself) {
  inject_bits(word_, {5});
  clear_errors();
  registers().write64(hw::scrub_position, word_ - word_ % column_bytes - 2 * column_bytes);
  registers().write32(hw::scrub_interval, 16);
  EXPECT_TRUE(driver().until([&] { return corrected() == 1; }));
  registers().write32(hw::scrub_interval, 0);
  ASSERT_TRUE(driver().until_quiescent());
  const auto position = registers().read64(hw::scrub_position);
  EXPECT_GT(position, word_);
  for (unsigned poll = 0; poll < 10; ++poll) {
    EXPECT_EQ(registers().read64(hw::scrub_position), position) << "without an interval it stands still";
  }
  EXPECT_EQ(read_word(word_), value);
  expect_counts(1, 0);
}

}  // namespace datum::test
