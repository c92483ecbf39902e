// Tests of what only a machine with the kernel's VFIO and cards in its slots can show. tests/vm runs them in
// a guest, as root.
#include <cstdio>

#include <gtest/gtest.h>

#include "tests/support/child_process.hpp"
#include "tests/vm/guest/scenarios.hpp"

int main(int count, char** arguments) {
  using namespace datum::test;
  const int scenario =
      run_scenario_from_arguments(count, arguments,
                                  {{"hold", scenario_hold},
                                   {"hold_host_memory", scenario_hold_host_memory},
                                   {"copy", scenario_copy},
                                   {"copy_until_lost", scenario_copy_until_lost},
                                   {"copy_for_ever", scenario_copy_for_ever},
                                   {"copy_until_gone", scenario_copy_until_gone},
                                   {"copy_after_another", scenario_copy_after_another},
                                   {"locked_memory_used_up", scenario_locked_memory_used_up},
                                   {"six_mib_of_host_memory", scenario_six_mib_of_host_memory},
                                   {"mappings_used_up", scenario_mappings_used_up},
                                   {"fork_with_imported_memory", scenario_fork_with_imported_memory}});
  if (scenario >= 0) {
    return scenario;
  }
  ::testing::InitGoogleTest(&count, arguments);
  const int status = RUN_ALL_TESTS();
  if (status == 0 && ::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test matches the filter\n");
    return 1;
  }
  return status;
}
