// What runs in processes of its own.
#pragma once

namespace datum::test {

int scenario_opens_without_calls_for_other_processes();
int scenario_opens_as_another_user();
int scenario_works_until_killed();
int scenario_works_once();
int scenario_works_beside_others();
int scenario_management_without_initialisation();
int scenario_management_before_the_core();
int scenario_management_after_the_core();

}  // namespace datum::test
