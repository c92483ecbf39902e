#include <gtest/gtest.h>

#include "driver/command/event_word.hpp"
#include "driver/command/failure_log.hpp"

namespace datum::test {
namespace {

TEST(FailureLogTest, given_a_failure_when_asked_for_by_its_number_then_it_is_told) {
  FailureLog log(4);
  const std::uint32_t first = log.add(make_error(ErrorCode::unknown, "first"));
  const std::uint32_t second = log.add(make_error(ErrorCode::device_lost, "second"));
  EXPECT_NE(first, 0U);
  EXPECT_EQ(log.find(first).message, "first");
  EXPECT_EQ(log.find(second).code, ErrorCode::device_lost);
}

TEST(FailureLogTest,
     given_a_failure_of_long_ago_or_a_number_from_nowhere_when_asked_for_then_the_answer_is_general) {
  FailureLog log(4);
  const std::uint32_t first = log.add(make_error(ErrorCode::device_lost, "first"));
  for (int count = 0; count < 4; ++count) {
    log.add(make_error(ErrorCode::unknown, "later"));
  }
  EXPECT_EQ(log.find(first).code, ErrorCode::unknown);
  EXPECT_EQ(log.find(0).code, ErrorCode::unknown);
  EXPECT_EQ(log.find(0xffff'ffff).code, ErrorCode::unknown);
}

TEST(EventWordTest,
     given_a_failure_when_put_into_a_word_then_device_and_number_come_back_and_it_is_not_signalled) {
  const std::uint64_t word = event_word::failure(0xabcde, 5, 0xdead'beef);
  EXPECT_NE(word & event_word::error_mask, 0U);
  EXPECT_EQ(word & event_word::signalled_mask, 0U);
  EXPECT_EQ(event_word::failed_process(word), 0xabcdeU);
  EXPECT_EQ(event_word::failed_device(word), 5U);
  EXPECT_EQ(event_word::failure_number(word), 0xdead'beefU);
}

}  // namespace
}  // namespace datum::test
