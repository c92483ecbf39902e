// Error correction as `datum ecc` sees and uses it.
#include "tests/unit/tool/model_board.hpp"
#include "tools/datum/memory_errors.hpp"

namespace datum::test {

class ToolMemoryErrors : public ModelBoard {
 protected:
  static constexpr std::uint64_t word = 0x8008;

  tool::MemoryErrors errors() { return tool::read_memory_errors(*board_).value(); }
};

TEST_F(ToolMemoryErrors, given_a_new_board_when_asked_then_there_are_no_errors) {
  const tool::MemoryErrors none = errors();
  EXPECT_EQ(none.corrected, 0U);
  EXPECT_EQ(none.uncorrected, 0U);
  EXPECT_FALSE(none.first_corrected);
  EXPECT_FALSE(none.first_uncorrected);
}

TEST_F(ToolMemoryErrors, given_an_injected_bit_when_the_word_is_read_then_it_is_right_and_the_log_has_it) {
  board_->aperture->write64(word, 77);
  ASSERT_TRUE(tool::inject_error(*board_, word, 1U << 9U, 0));
  EXPECT_EQ(board_->aperture->read64(word), 77U);
  const tool::MemoryErrors met = errors();
  EXPECT_EQ(met.corrected, 1U);
  ASSERT_TRUE(met.first_corrected);
  EXPECT_EQ(met.first_corrected->address, word);
  EXPECT_FALSE(met.first_corrected->scrub);
  EXPECT_FALSE(met.first_uncorrected);
}

TEST_F(ToolMemoryErrors, given_an_injected_pair_when_scrubbed_then_the_log_has_it_until_cleared) {
  ASSERT_TRUE(tool::inject_error(*board_, word, 1, 0x80));
  const auto scrubbed = tool::scrub(*board_, word + 5, 1);
  ASSERT_TRUE(scrubbed);
  EXPECT_EQ(*scrubbed, 64U) << "the column with the byte";
  const tool::MemoryErrors met = errors();
  EXPECT_EQ(met.uncorrected, 1U);
  ASSERT_TRUE(met.first_uncorrected);
  EXPECT_EQ(met.first_uncorrected->address, word);
  EXPECT_TRUE(met.first_uncorrected->scrub);
  ASSERT_TRUE(tool::clear_memory_errors(*board_));
  EXPECT_EQ(errors().uncorrected, 0U);
  EXPECT_FALSE(errors().first_uncorrected);
}

TEST_F(ToolMemoryErrors, given_no_length_when_scrubbed_then_it_goes_to_the_end_of_the_memory) {
  constexpr std::uint64_t end = 32ULL << 20U;
  EXPECT_EQ(tool::scrub(*board_, 64, 0).value(), end - 64);
  EXPECT_EQ(errors().scrub_position, end);
  EXPECT_EQ(tool::scrub(*board_, end - 10, 1000).value(), 64U);
}

TEST_F(ToolMemoryErrors, given_addresses_that_are_none_when_used_then_they_are_refused) {
  constexpr std::uint64_t end = 32ULL << 20U;
  EXPECT_EQ(tool::inject_error(*board_, word + 1, 1, 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(tool::inject_error(*board_, end, 1, 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(tool::scrub(*board_, end, 64).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(errors().corrected, 0U);
}

TEST_F(ToolMemoryErrors, given_an_interval_when_set_then_the_board_has_it) {
  ASSERT_TRUE(tool::set_scrub_interval(*board_, 5000));
  EXPECT_EQ(errors().scrub_interval_cycles, 5000U);
}

TEST_F(ToolMemoryErrors, given_a_board_that_is_gone_when_asked_then_it_is_lost) {
  function_->lose("the test took it away");
  EXPECT_EQ(tool::read_memory_errors(*board_).error().code, ErrorCode::device_lost);
  EXPECT_EQ(tool::inject_error(*board_, word, 1, 0).error().code, ErrorCode::device_lost);
}

}  // namespace datum::test
