// The attitude of the driver: an FPGA, unless DATUM_COMPAT asks for another.
#include <algorithm>

#include "tests/api/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

/// Of the first device of a process that has initialised.
ze_device_type_t first_type() {
  std::uint32_t count = 1;
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  std::uint32_t devices = 1;
  const bool asked = zeDriverGet(&count, &driver) == ZE_RESULT_SUCCESS &&
                     zeDeviceGet(driver, &devices, &device) == ZE_RESULT_SUCCESS &&
                     zeDeviceGetProperties(device, &properties) == ZE_RESULT_SUCCESS;
  return asked ? properties.type : ZE_DEVICE_TYPE_FORCE_UINT32;
}

class Attitude : public ApiTest {};

TEST_F(Attitude, given_nothing_set_when_asked_then_the_device_is_an_fpga_that_only_copies) {
  EXPECT_EQ(ZE_DEVICE_TYPE_FPGA, first_type());
  std::uint32_t groups = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCommandQueueGroupProperties(device(), &groups, nullptr));
  EXPECT_EQ(1U, groups);
  for (const char* const name : {"zexDriverImportExternalPointer", "zexDriverReleaseImportedPointer",
                                 "zexDriverGetHostPointerBaseAddress"}) {
    void* address = nullptr;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeDriverGetExtensionFunctionAddress(driver(), name, &address));
    EXPECT_EQ(nullptr, address) << name;
  }
}

TEST_F(Attitude,
       given_a_value_that_means_nothing_when_initialised_then_it_is_named_and_the_device_stays_an_fpga) {
  for (const char* const value : {"nonsense", "GPU", "gpu ", "1"}) {
    const ChildOutcome outcome = run_scenario_in_child("attitude_fpga", {{"DATUM_COMPAT", value}});
    EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
    EXPECT_NE(std::string::npos, outcome.errors.find("DATUM_COMPAT is '" + std::string(value) + "'"))
        << outcome.errors;
    EXPECT_EQ(mode() == Mode::two_drivers ? 2 : 1,
              std::count(outcome.errors.begin(), outcome.errors.end(), '\n'))
        << outcome.errors;
  }
}

TEST_F(Attitude, given_an_empty_value_when_initialised_then_it_is_as_if_it_were_not_set) {
  const ChildOutcome outcome = run_scenario_in_child("attitude_fpga", {{"DATUM_COMPAT", ""}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_EQ("", outcome.errors);
}

TEST_F(Attitude, given_nothing_set_when_only_gpus_are_asked_for_then_who_wants_a_log_is_told_what_to_do) {
  const ChildOutcome silent = run_scenario_in_child("init_gpu_only", {});
  EXPECT_TRUE(silent.succeeded()) << silent.describe();
  EXPECT_EQ("", silent.errors);
  const ChildOutcome told = run_scenario_in_child("init_gpu_only", {{"DATUM_LOG", "1"}});
  EXPECT_TRUE(told.succeeded()) << told.describe();
  EXPECT_NE(std::string::npos, told.errors.find("datum: only GPUs or NPUs were asked for")) << told.errors;
  EXPECT_NE(std::string::npos, told.errors.find("DATUM_COMPAT=gpu")) << told.errors;
  EXPECT_EQ(mode() == Mode::two_drivers ? 2 : 1, std::count(told.errors.begin(), told.errors.end(), '\n'))
      << told.errors;
}

TEST_F(Attitude, given_gpu_when_only_gpus_are_asked_for_then_the_device_is_there_without_a_word) {
  const ChildOutcome outcome = run_scenario_in_child("attitude_gpu", {{"DATUM_COMPAT", "gpu"}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_EQ("", outcome.errors);
}

TEST_F(Attitude, given_gpu_when_only_npus_are_asked_for_then_the_driver_declines) {
  const ChildOutcome outcome = run_scenario_in_child("init_vpu_only", {{"DATUM_COMPAT", "gpu"}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

}  // namespace

int scenario_attitude_fpga() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeInit(0));
  SCENARIO_EXPECT(ZE_DEVICE_TYPE_FPGA, first_type());
  return 0;
}

int scenario_attitude_gpu() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeInit(ZE_INIT_FLAG_GPU_ONLY));
  SCENARIO_EXPECT(ZE_DEVICE_TYPE_GPU, first_type());
  return 0;
}

}  // namespace datum::test
