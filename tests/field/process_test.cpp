// Processes that are killed, and management functions in every order of initialisation.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <level_zero/zes_api.h>

#include <datum/base/unique_fd.hpp>

#include "tests/field/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

constexpr std::size_t bytes_used = 40'000;
constexpr int processes_at_once = 10;
constexpr const char* meeting_variable = "DATUM_TEST_FIELD_MEETING";

class FieldLife : public ApiTest {};

/// Allocates, copies there and back, shares and frees. False: the bytes are wrong, or a call failed.
bool works() {
  if (session().result != ZE_RESULT_SUCCESS) {
    return false;
  }
  const ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  const OwnedList list = create_immediate_list(context, device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const OwnedMemory host = allocate(MemoryKind::host, context, device, 2 * bytes_used);
  const OwnedMemory block = allocate(MemoryKind::device, context, device, bytes_used);
  ze_ipc_mem_handle_t handle{};
  if (host.get() == nullptr || zeMemGetIpcHandle(context, block.get(), &handle) != ZE_RESULT_SUCCESS) {
    return false;
  }
  write_pattern(host.get(), bytes_used, 51);
  return zeCommandListAppendMemoryCopy(list, block.get(), host.get(), bytes_used, nullptr, 0, nullptr) ==
             ZE_RESULT_SUCCESS &&
         zeCommandListAppendMemoryCopy(list, host.bytes() + bytes_used, block.get(), bytes_used, nullptr, 0,
                                       nullptr) == ZE_RESULT_SUCCESS &&
         same_bytes(host.get(), host.bytes() + bytes_used, bytes_used);
}

TEST_F(FieldLife, SM_07_given_processes_killed_at_any_moment_then_the_next_and_a_living_one_work) {
  Random random(test_seed());
  const OwnedMemory block = memory(MemoryKind::device, bytes_used);
  upload(block.get(), pattern(bytes_used, 52));
  for (int round = 0; round < by_board(10, 3); ++round) {
    const std::chrono::milliseconds moment(random.between(1, 600));
    const ChildOutcome killed = run_scenario_in_child("works_until_killed", {}, moment);
    ASSERT_TRUE(killed.timed_out) << killed.describe();
    const ChildOutcome next = run_scenario_in_child("works_once");
    ASSERT_TRUE(next.succeeded()) << "killed after " << moment.count() << " ms: " << next.describe();
  }
  EXPECT_TRUE(same_bytes(pattern(bytes_used, 52), download(block.get(), bytes_used)));
}

TEST_F(FieldLife, SM_06_given_ten_processes_at_once_then_each_has_a_board_while_all_others_have_theirs) {
  const UniqueFd file(::memfd_create("meeting", 0));  // the children inherit it
  ASSERT_EQ(0, ::ftruncate(file.get(), sizeof(std::atomic<int>)));
  std::vector<std::future<ChildOutcome>> children;
  for (int number = 0; number < processes_at_once; ++number) {
    children.push_back(std::async(std::launch::async, [&file] {
      return run_scenario_in_child("works_beside_others", {{meeting_variable, std::to_string(file.get())}});
    }));
  }
  for (std::future<ChildOutcome>& child : children) {
    const ChildOutcome outcome = child.get();
    EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  }
}

TEST_F(FieldLife, LD_06_given_any_order_of_initialisation_when_management_is_asked_then_nothing_crashes) {
  for (const char* scenario :
       {"management_without_initialisation", "management_before_the_core", "management_after_the_core"}) {
    for (const std::string& enabled : {unset_variable, std::string("0"), std::string("1")}) {
      const ChildOutcome outcome = run_scenario_in_child(scenario, {{"ZES_ENABLE_SYSMAN", enabled}});
      EXPECT_TRUE(outcome.succeeded()) << scenario << ": " << outcome.describe();
    }
  }
}

/// Asks about every device of the core by its own handle. An answer has to be right.
bool management_answers_or_refuses() {
  for (const ze_device_handle_t core : session().devices) {
    zes_device_properties_t found{};
    found.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    ze_device_properties_t expected{};
    expected.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    if (zeDeviceGetProperties(core, &expected) != ZE_RESULT_SUCCESS) {
      return false;
    }
    const ze_result_t result = zesDeviceGetProperties(reinterpret_cast<zes_device_handle_t>(core), &found);
    if (result == ZE_RESULT_SUCCESS
            ? found.core.vendorId != expected.vendorId
            : result != ZE_RESULT_ERROR_UNINITIALIZED && result != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE &&
                  result != ZE_RESULT_ERROR_INVALID_NULL_HANDLE) {
      return false;
    }
  }
  return true;
}

}  // namespace

int scenario_works_until_killed() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also when the test that was to kill it has gone
  while (works()) {
  }
  return 1;
}

int scenario_works_once() {
  SCENARIO_REQUIRE(works());
  return 0;
}

/// Has a board, and keeps it until as many processes have one as there are to be.
int scenario_works_beside_others() {
  SCENARIO_REQUIRE(works());
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED,
                              std::atoi(std::getenv(meeting_variable)), 0);
  SCENARIO_REQUIRE(shared != MAP_FAILED);
  auto& with_board = *static_cast<std::atomic<int>*>(shared);
  with_board.fetch_add(1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (with_board.load() < processes_at_once && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  SCENARIO_EXPECT(processes_at_once, with_board.load());
  SCENARIO_REQUIRE(works());
  return 0;
}

int scenario_management_without_initialisation() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  SCENARIO_REQUIRE(management_answers_or_refuses());
  SCENARIO_REQUIRE(works());
  return 0;
}

int scenario_management_before_the_core() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zesInit(0));
  std::uint32_t drivers = 0;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zesDriverGet(&drivers, nullptr));
  SCENARIO_REQUIRE(drivers == 1);
  return scenario_management_without_initialisation();
}

int scenario_management_after_the_core() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zesInit(0));
  std::uint32_t drivers = 0;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zesDriverGet(&drivers, nullptr));
  SCENARIO_REQUIRE(drivers == 1);
  return scenario_management_without_initialisation();
}

}  // namespace datum::test
