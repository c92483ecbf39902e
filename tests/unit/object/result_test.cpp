#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "driver/api/result.hpp"

namespace datum::api {
namespace {

TEST(ResultTranslation, given_every_error_code_then_it_has_a_result_of_its_own) {
  std::vector<ze_result_t> seen;
  for (unsigned code = 0; code <= static_cast<unsigned>(ErrorCode::unknown); ++code) {
    const ze_result_t result = result_of(static_cast<ErrorCode>(code));
    EXPECT_NE(result, ZE_RESULT_SUCCESS);
    EXPECT_EQ(std::find(seen.begin(), seen.end(), result), seen.end()) << code;
    seen.push_back(result);
  }
}

TEST(ResultTranslation, given_an_error_with_errno_and_hint_then_the_description_has_all_three) {
  EXPECT_EQ(answer(Error{ErrorCode::out_of_host_memory, ENOMEM, "no room", "make some"}),
            ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_STREQ(last_error_description(), "no room (Cannot allocate memory); make some");
}

TEST(ResultTranslation, given_a_success_or_an_expired_wait_then_the_last_description_stays) {
  refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the reason");
  EXPECT_EQ(answer(Status{}), ZE_RESULT_SUCCESS);
  EXPECT_EQ(answer(make_error(ErrorCode::not_ready, "later")), ZE_RESULT_NOT_READY);
  EXPECT_STREQ(last_error_description(), "the reason");
}

TEST(ResultTranslation, given_two_threads_then_each_has_a_description_of_its_own) {
  refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "mine");
  std::thread([] {
    EXPECT_STREQ(last_error_description(), "");
    refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "theirs");
  }).join();
  EXPECT_STREQ(last_error_description(), "mine");
}

TEST(ResultTranslation, given_a_sentence_without_end_then_the_description_is_cut) {
  refuse(ZE_RESULT_ERROR_UNKNOWN, std::string(100'000, 'x'));
  EXPECT_EQ(std::string(last_error_description()).size(), 1023U);
}

}  // namespace
}  // namespace datum::api
