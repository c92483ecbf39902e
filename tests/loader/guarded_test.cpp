// No C++ exception leaves the driver.

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "driver/api/result.hpp"
#include "driver/api/tables/guarded.hpp"

namespace datum::test {
namespace {

ze_result_t echo(ze_result_t answer) { return answer; }

ze_result_t out_of_memory(std::uint32_t) { throw std::bad_alloc(); }

ze_result_t broken(std::uint32_t) { throw std::logic_error("broken"); }

ze_context_handle_t context_without_memory(ze_driver_handle_t) { throw std::bad_alloc(); }

TEST(GuardedEntry, given_a_function_that_returns_when_called_then_its_answer_is_passed_on) {
  EXPECT_EQ((api::guarded<&echo, "echo(answer)">)(ZE_RESULT_NOT_READY), ZE_RESULT_NOT_READY);
}

TEST(GuardedEntry, given_memory_runs_out_when_called_then_out_of_host_memory_is_answered) {
  EXPECT_EQ((api::guarded<&out_of_memory, "out_of_memory(number)">)(1), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
}

TEST(GuardedEntry, given_any_other_exception_when_called_then_unknown_is_answered) {
  EXPECT_EQ((api::guarded<&broken, "broken(number)">)(1), ZE_RESULT_ERROR_UNKNOWN);
  EXPECT_NE(std::string(api::last_error_description()).find("fault of Datum"), std::string::npos);
}

TEST(GuardedEntry, given_a_function_that_returns_a_handle_when_it_throws_then_the_null_handle_is_answered) {
  EXPECT_EQ((api::guarded<&context_without_memory, "context_without_memory(driver)">)(nullptr), nullptr);
}

}  // namespace
}  // namespace datum::test
