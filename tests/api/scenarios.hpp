// Scenarios that run in processes of their own. Each stands in the chapter that uses it; the table is in
// main.cpp.
#pragma once

#include <vector>

#include "tests/support/child_process.hpp"

namespace datum::test {

int scenario_init_gpu_only();
int scenario_init_vpu_only();
int scenario_init_invalid_flag();
int scenario_init_from_many_threads();

int scenario_init_fails();
int scenario_init_fails_without_a_word();
int scenario_init_fails_without_descriptors();
int scenario_init_fails_without_address_space();
int scenario_init_and_copy();
int scenario_print_memory_sizes();

int scenario_fork_then_use_parents_handles();
int scenario_fork_then_initialise_again();
int scenario_exit_with_objects_alive();
int scenario_exit_with_work_in_flight();
int scenario_exit_while_a_thread_waits();
int scenario_static_destructor_uses_the_api();
int scenario_atexit_uses_the_api();
int scenario_first_thread_ends_alone();
int scenario_first_thread_ends_and_atexit_uses_the_api();
int scenario_first_thread_ends_with_work_in_flight();
int scenario_first_thread_ends_with_memory_exported();
int scenario_thread_works_on_after_the_first();
int scenario_waits_without_descriptors();
int scenario_descriptors_are_closed_by_others();

int scenario_standard_streams_are_closed();
int scenario_no_file_can_be_made();
int scenario_signals_all_the_time();
int scenario_quick_exit_uses_the_api();
int scenario_quick_exit_with_work_in_flight();
int scenario_another_thread_exits_with_work_in_flight();
int scenario_vfork_then_exec();
int scenario_fork_then_exec_inherits_nothing();
int scenario_has_no_more_descriptors();
int scenario_fork_while_threads_work();

int scenario_attitude_fpga();
int scenario_attitude_gpu();

int scenario_device_memory_used_up();
int scenario_locked_memory_used_up();
int scenario_mappings_used_up();
int scenario_addresses_used_up();
int scenario_host_memory_under_address_limit();
int scenario_kernel_mappings_used_up();

int scenario_memory_without_kernel_calls();
int scenario_ipc_fetch_descriptor();
int scenario_external_import();
int scenario_external_physical_import();
int scenario_ipc_range_open_and_answer();
int scenario_ipc_range_print_handle();

int scenario_the_same_program_twice();

/// Of chapters that use functions which the older loader does not have: null in the program for that one.
[[gnu::weak]] std::vector<Scenario> scenarios_of_current_loader();
std::vector<Scenario> event_ipc_scenarios();
std::vector<Scenario> counter_ipc_scenarios();

}  // namespace datum::test
