// Initialisation with zeInit and zeDriverGet. The first answer of zeInit holds for the whole process, so each
// flag gets a process.
#include <ostream>
#include <thread>

#include "tests/api/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

class Init : public ApiTest {};

TEST_F(Init, given_no_flags_when_initialised_then_there_is_a_driver_with_a_device) {
  EXPECT_EQ(mode() == Mode::two_drivers ? 2U : 1U, session().drivers.size());
  EXPECT_EQ(mode() == Mode::two_boards ? 2U : 1U, session().devices.size());
}

TEST_F(Init, given_an_initialised_process_when_initialised_again_then_it_succeeds_with_the_same_handles) {
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeInit(0));
  std::vector<ze_driver_handle_t> drivers(session().drivers.size());
  auto count = static_cast<std::uint32_t>(drivers.size());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGet(&count, drivers.data()));
  EXPECT_EQ(session().drivers, drivers);
}

TEST_F(Init, given_a_count_when_drivers_are_asked_for_then_no_more_than_that_many_are_written) {
  std::uint32_t count = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGet(&count, nullptr));
  EXPECT_EQ(session().drivers.size(), count);

  const auto untouched = reinterpret_cast<ze_driver_handle_t>(0x1234);
  std::vector<ze_driver_handle_t> drivers(session().drivers.size() + 2, untouched);
  count = static_cast<std::uint32_t>(drivers.size());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGet(&count, drivers.data()));
  EXPECT_EQ(session().drivers.size(), count);
  EXPECT_EQ(untouched, drivers[count]);
}

TEST_F(Init, given_no_count_when_drivers_are_asked_for_then_the_null_pointer_is_named) {
  if (mode() == Mode::intercept || mode() == Mode::wrapped || mode() == Mode::two_drivers) {
    GTEST_SKIP() << "the loader reads the count itself in this mode";
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDriverGet(nullptr, nullptr));
}

struct FlagCase {
  const char* scenario;
  const char* what;
};

void PrintTo(const FlagCase& flags, std::ostream* out) { *out << flags.what; }

class InitFlags : public ::testing::TestWithParam<FlagCase> {};

TEST_P(InitFlags, given_a_new_process_when_initialised_then_the_answer_is_as_specified) {
  const ChildOutcome outcome = run_scenario_in_child(GetParam().scenario);
  EXPECT_TRUE(outcome.succeeded()) << GetParam().what << ": " << outcome.describe();
}

INSTANTIATE_TEST_SUITE_P(Flags, InitFlags,
                         ::testing::Values(FlagCase{"init_gpu_only", "an FPGA declines GPU only"},
                                           FlagCase{"init_vpu_only", "an FPGA declines VPU only"},
                                           FlagCase{"init_invalid_flag", "an undefined flag is refused"},
                                           FlagCase{"init_from_many_threads",
                                                    "eight threads initialise at once"}),
                         [](const auto& instance) { return std::string(instance.param.scenario); });

}  // namespace

int scenario_init_gpu_only() {
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, zeInit(ZE_INIT_FLAG_GPU_ONLY));
  return 0;
}

int scenario_init_vpu_only() {
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, zeInit(ZE_INIT_FLAG_VPU_ONLY));
  return 0;
}

int scenario_init_invalid_flag() {
  const ze_result_t result = zeInit(0x4);
  // The loader that stands between turns every failure into "no driver".
  const bool direct = mode() == Mode::single || mode() == Mode::validation || mode() == Mode::two_boards;
  SCENARIO_EXPECT(direct ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_ERROR_UNINITIALIZED, result);
  return 0;
}

int scenario_init_from_many_threads() {
  std::vector<std::thread> threads;
  std::vector<ze_result_t> results(8, ZE_RESULT_ERROR_UNKNOWN);
  std::vector<ze_driver_handle_t> drivers(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      std::uint32_t count = 1;
      results[i] = zeInit(0);
      if (results[i] == ZE_RESULT_SUCCESS) {
        results[i] = zeDriverGet(&count, &drivers[i]);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, results[i]);
    SCENARIO_REQUIRE(drivers[i] == drivers[0]);
  }
  return 0;
}

}  // namespace datum::test
