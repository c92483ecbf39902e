// Entry of the API tests: GoogleTest, or one scenario in a child process.
#include <cstdio>

#include <gtest/gtest.h>

#include "tests/api/scenarios.hpp"
#include "tests/conformance/fact_record.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/test_run.hpp"

namespace {

std::vector<datum::test::Scenario> scenarios() {
  using namespace datum::test;
  std::vector<Scenario> all{
      {"init_gpu_only", scenario_init_gpu_only},
      {"init_vpu_only", scenario_init_vpu_only},
      {"init_invalid_flag", scenario_init_invalid_flag},
      {"init_from_many_threads", scenario_init_from_many_threads},
      {"init_fails", scenario_init_fails},
      {"init_fails_without_a_word", scenario_init_fails_without_a_word},
      {"init_fails_without_descriptors", scenario_init_fails_without_descriptors},
      {"init_fails_without_address_space", scenario_init_fails_without_address_space},
      {"init_and_copy", scenario_init_and_copy},
      {"print_memory_sizes", scenario_print_memory_sizes},
      {"fork_then_use_parents_handles", scenario_fork_then_use_parents_handles},
      {"fork_then_initialise_again", scenario_fork_then_initialise_again},
      {"exit_with_objects_alive", scenario_exit_with_objects_alive},
      {"exit_with_work_in_flight", scenario_exit_with_work_in_flight},
      {"exit_while_a_thread_waits", scenario_exit_while_a_thread_waits},
      {"static_destructor_uses_the_api", scenario_static_destructor_uses_the_api},
      {"atexit_uses_the_api", scenario_atexit_uses_the_api},
      {"first_thread_ends_alone", scenario_first_thread_ends_alone},
      {"first_thread_ends_and_atexit_uses_the_api", scenario_first_thread_ends_and_atexit_uses_the_api},
      {"first_thread_ends_with_work_in_flight", scenario_first_thread_ends_with_work_in_flight},
      {"first_thread_ends_with_memory_exported", scenario_first_thread_ends_with_memory_exported},
      {"thread_works_on_after_the_first", scenario_thread_works_on_after_the_first},
      {"waits_without_descriptors", scenario_waits_without_descriptors},
      {"descriptors_are_closed_by_others", scenario_descriptors_are_closed_by_others},
      {"standard_streams_are_closed", scenario_standard_streams_are_closed},
      {"no_file_can_be_made", scenario_no_file_can_be_made},
      {"signals_all_the_time", scenario_signals_all_the_time},
      {"quick_exit_uses_the_api", scenario_quick_exit_uses_the_api},
      {"quick_exit_with_work_in_flight", scenario_quick_exit_with_work_in_flight},
      {"another_thread_exits_with_work_in_flight", scenario_another_thread_exits_with_work_in_flight},
      {"vfork_then_exec", scenario_vfork_then_exec},
      {"fork_then_exec_inherits_nothing", scenario_fork_then_exec_inherits_nothing},
      {"has_no_more_descriptors", scenario_has_no_more_descriptors},
      {"fork_while_threads_work", scenario_fork_while_threads_work},
      {"host_memory_under_address_limit", scenario_host_memory_under_address_limit},
      {"attitude_fpga", scenario_attitude_fpga},
      {"attitude_gpu", scenario_attitude_gpu},
      {"device_memory_used_up", scenario_device_memory_used_up},
      {"locked_memory_used_up", scenario_locked_memory_used_up},
      {"mappings_used_up", scenario_mappings_used_up},
      {"addresses_used_up", scenario_addresses_used_up},
      {"kernel_mappings_used_up", scenario_kernel_mappings_used_up},
  };
  if (scenarios_of_current_loader != nullptr) {
    const std::vector<Scenario> more = scenarios_of_current_loader();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const int scenario = datum::test::run_scenario_from_arguments(argument_count, arguments, scenarios());
  if (scenario >= 0) {
    return scenario;
  }
  ::testing::InitGoogleTest(&argument_count, arguments);
  if (::testing::GTEST_FLAG(list_tests)) {
    return RUN_ALL_TESTS();
  }
  std::printf("mode %s, boards %s, seed %llu\n",
              datum::test::environment("DATUM_TEST_MODE", "single").c_str(),
              datum::test::environment("DATUM_BOARDS", "(not set)").c_str(), datum::test::test_seed());
  datum::test::conformance::follow_tests();
  const int status = RUN_ALL_TESTS();
  if (status == 0 && ::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test matches the filter\n");
    return 1;
  }
  return status;
}
