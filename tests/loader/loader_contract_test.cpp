// The driver's tables under the stock loaders, in each of their ways to reach a driver. Every case is a
// process of its own, because a loader decides on its way once.

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include "tests/loader/program_run.hpp"

namespace datum::test {
namespace {

const std::string first_driver = DATUM_FIRST_PROBE;
const std::string second_driver = DATUM_SECOND_PROBE;

std::string code(ze_result_t result) {
  std::ostringstream text;
  text << "0x" << std::hex << static_cast<std::uint32_t>(result);
  return text.str();
}

const std::string success = code(ZE_RESULT_SUCCESS);

struct Mode {
  std::string name;
  std::vector<std::string> environment;
  int drivers = 1;
  std::string handles = "the driver's own";
};

void PrintTo(const Mode& mode, std::ostream* output) { *output << mode.name; }

const std::string one_driver = "ZE_ENABLE_ALT_DRIVERS=" + first_driver;
const std::string two_drivers = "ZE_ENABLE_ALT_DRIVERS=" + first_driver + "," + second_driver;
const std::string intercept = "ZE_ENABLE_LOADER_INTERCEPT=1";
const std::string wrapped = "ZE_ENABLE_LOADER_DRIVER_DDI_PATH=0";
const std::vector<std::string> validation = {"ZE_ENABLE_VALIDATION_LAYER=1",
                                             "ZE_ENABLE_PARAMETER_VALIDATION=1"};

std::vector<std::string> operator+(std::vector<std::string> left, const std::vector<std::string>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::vector<Mode> modes() {
  const std::vector<std::string> lifetime =
      validation + std::vector<std::string>{"ZE_ENABLE_HANDLE_LIFETIME=1"};
  return {
      {"single", {one_driver}},
      {"forced_intercept", {one_driver, intercept}},
      {"forced_intercept_wrapped", {one_driver, intercept, wrapped}, 1, "the loader's"},
      {"two_drivers", {two_drivers}, 2},
      {"two_drivers_wrapped", {two_drivers, wrapped}, 2, "the loader's"},
      {"validation", std::vector<std::string>{one_driver} + lifetime},
      {"validation_two_drivers", std::vector<std::string>{two_drivers} + lifetime, 2},
      {"tracing", {one_driver, "ZE_ENABLE_TRACING_LAYER=1"}},
      {"validation_and_tracing_wrapped",
       std::vector<std::string>{two_drivers, wrapped, "ZE_ENABLE_TRACING_LAYER=1"} + lifetime, 2,
       "the loader's"},
  };
}

std::string what_a_driver_prints(const std::string& handles) {
  std::ostringstream text;
  text << "zeDriverGetProperties: " << success << "\ndriver handle: " << handles
       << "\nzeDeviceGet: " << success << "\nzeDeviceGetProperties: " << success << "\ndevice: type "
       << ZE_DEVICE_TYPE_FPGA << ", name probe\n"
       << "zeContextCreate: " << success << "\nzeMemAllocHost: " << success << "\nzeMemFree: " << success
       << "\nzeSamplerCreate: " << code(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
       << "\nzeContextDestroy: " << success << "\n";
  return text.str();
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int time = 0; time < times; ++time) {
    all += text;
  }
  return all;
}

class CurrentLoader : public testing::TestWithParam<Mode> {
 protected:
  static ProgramRun run(const std::vector<std::string>& steps) {
    return run_program(DATUM_LOADER_PROGRAM, steps, GetParam().environment);
  }

  static std::string drivers() { return std::to_string(GetParam().drivers); }

  static bool has_layer() {
    return std::ranges::any_of(GetParam().environment,
                               [](const std::string& one) { return one.ends_with("LAYER=1"); });
  }
};

TEST_P(CurrentLoader, given_drivers_when_a_program_walks_through_the_api_then_the_drivers_answer) {
  const ProgramRun done = run({"init", "init-drivers", "get-drivers", "use-drivers"});
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.output, "zeInit: " + success + "\nzeInitDrivers: " + success + ", drivers " + drivers() +
                             "\nzeDriverGet: " + success + ", drivers " + drivers() + "\n" +
                             repeated(what_a_driver_prints(GetParam().handles), GetParam().drivers));
}

TEST_P(CurrentLoader,
       given_sysman_is_initialised_before_and_after_when_a_program_uses_both_then_both_answer) {
  const std::string sysman = "zesInit: " + success + "\nzesDriverGet: " + success + ", drivers " + drivers() +
                             "\n" +
                             repeated("zesDeviceGet: " + success + ", devices 1\n", GetParam().drivers);
  const ProgramRun done = run({"sysman", "init-drivers", "sysman"});
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.output, sysman + "zeInitDrivers: " + success + ", drivers " + drivers() + "\n" + sysman);
}

TEST_P(CurrentLoader, given_threads_that_initialise_at_once_when_they_are_done_then_every_table_is_in_place) {
  // The loader lists its drivers during its very first call, without a lock: that one is made alone. So is
  // the first zeInitDrivers below a layer: two threads there leave the layer with itself as what it calls
  // next.
  std::vector<std::string> steps = {"init", "init-concurrently", "init-drivers", "use-drivers"};
  const std::string listed = "zeInitDrivers: " + success + ", drivers " + drivers() + "\n";
  std::string first = "zeInit: " + success + "\n";
  if (has_layer()) {
    steps.insert(steps.begin() + 1, "init-drivers");
    first += listed;
  }
  const ProgramRun done = run(steps);
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.output, first + repeated("init in a thread: " + success + "\n", 6) + listed +
                             repeated(what_a_driver_prints(GetParam().handles), GetParam().drivers));
}

TEST_P(CurrentLoader,
       given_a_program_wants_gpus_only_when_it_initialises_then_it_gets_none_and_others_still_get_theirs) {
  const ProgramRun done = run({"init-drivers-gpu", "init-drivers"});
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.output, "zeInitDrivers(GPU): " + code(ZE_RESULT_ERROR_UNINITIALIZED) +
                             ", drivers 0\nzeInitDrivers: " + success + ", drivers " + drivers() + "\n");
}

INSTANTIATE_TEST_SUITE_P(Modes, CurrentLoader, testing::ValuesIn(modes()),
                         [](const testing::TestParamInfo<Mode>& mode) { return mode.param.name; });

TEST(CurrentLoaderNullHandle,
     given_a_single_driver_when_a_null_handle_is_passed_then_the_drivers_own_check_answers) {
  const ProgramRun done = run_program(DATUM_LOADER_PROGRAM, {"init-drivers", "null-handle"}, {one_driver});
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.output, "zeInitDrivers: " + success + ", drivers 1\nzeDeviceGetStatus(null): " +
                             code(ZE_RESULT_ERROR_INVALID_NULL_HANDLE) + "\n");
}

TEST(CurrentLoaderNullHandle,
     given_two_drivers_and_validation_when_a_null_handle_is_passed_then_the_layer_answers) {
  const ProgramRun done = run_program(DATUM_LOADER_PROGRAM, {"init-drivers", "null-handle"},
                                      std::vector<std::string>{two_drivers} + validation);
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.output, "zeInitDrivers: " + success + ", drivers 2\nzeDeviceGetStatus(null): " +
                             code(ZE_RESULT_ERROR_INVALID_NULL_HANDLE) + "\n");
}

/// Two lives of a loader in one process; the driver has to outlive both.
[[maybe_unused]] void expect_driver_survives_unloading(const std::string& program,
                                                       const std::string& loader) {
  const std::string life = "zeInit: " + success + ", zeDriverGet: " + success +
                           ", drivers 1\ndriver mapped after unloading: yes\n";
  const ProgramRun done = run_program(program, {loader}, {one_driver});
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.output, life + life);
}

#ifdef DATUM_LOADER_FOR_RELOAD
TEST(LoaderUnload,
     given_a_program_that_unloads_the_current_loader_when_it_loads_it_again_then_the_driver_is_there) {
  expect_driver_survives_unloading(DATUM_RELOAD_PROGRAM, DATUM_LOADER_FOR_RELOAD);
}
#endif

#ifdef DATUM_LEGACY_LOADER_FOR_RELOAD
TEST(LoaderUnload,
     given_a_program_that_unloads_the_legacy_loader_when_it_loads_it_again_then_the_driver_is_there) {
  expect_driver_survives_unloading(DATUM_LEGACY_RELOAD_PROGRAM, DATUM_LEGACY_LOADER_FOR_RELOAD);
}
#endif

#ifdef DATUM_LEGACY_LOADER_PROGRAM
class LegacyLoader : public testing::TestWithParam<Mode> {};

std::vector<Mode> legacy_modes() {
  return {
      {"single", {one_driver}},
      {"forced_intercept", {one_driver, intercept}, 1, "the loader's"},
      {"two_drivers", {two_drivers}, 2, "the loader's"},
      {"validation", std::vector<std::string>{one_driver} + validation},
      {"tracing", {one_driver, "ZE_ENABLE_TRACING_LAYER=1"}},
  };
}

TEST_P(LegacyLoader, given_drivers_when_a_program_walks_through_the_api_then_the_drivers_answer) {
  const ProgramRun done = run_program(DATUM_LEGACY_LOADER_PROGRAM, {"init", "get-drivers", "use-drivers"},
                                      GetParam().environment);
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.output, "zeInit: " + success + "\nzeDriverGet: " + success + ", drivers " +
                             std::to_string(GetParam().drivers) + "\n" +
                             repeated(what_a_driver_prints(GetParam().handles), GetParam().drivers));
}

INSTANTIATE_TEST_SUITE_P(Modes, LegacyLoader, testing::ValuesIn(legacy_modes()),
                         [](const testing::TestParamInfo<Mode>& mode) { return mode.param.name; });
#endif

}  // namespace
}  // namespace datum::test
