#include <gtest/gtest.h>

#include "tests/field/scenarios.hpp"
#include "tests/support/child_process.hpp"

int main(int argument_count, char** arguments) {
  using namespace datum::test;
  const int scenario = run_scenario_from_arguments(
      argument_count, arguments,
      {{"opens_without_calls_for_other_processes", scenario_opens_without_calls_for_other_processes},
       {"opens_as_another_user", scenario_opens_as_another_user},
       {"works_until_killed", scenario_works_until_killed},
       {"works_once", scenario_works_once},
       {"works_beside_others", scenario_works_beside_others},
       {"management_without_initialisation", scenario_management_without_initialisation},
       {"management_before_the_core", scenario_management_before_the_core},
       {"management_after_the_core", scenario_management_after_the_core}});
  if (scenario >= 0) {
    return scenario;
  }
  ::testing::InitGoogleTest(&argument_count, arguments);
  return RUN_ALL_TESTS();
}
