// What happens around the life of the process: second initialisation, fork, exit in every state.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <pthread.h>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "tests/api/process_world.hpp"
#include "tests/api/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

class ProcessLife : public ::testing::TestWithParam<const char*> {};

TEST_P(ProcessLife, given_a_process_of_its_own_when_the_scenario_runs_then_it_ends_well_and_soon) {
  if (under_validation() && std::string(GetParam()) == "static_destructor_uses_the_api") {
    GTEST_SKIP() << "the validation layer's own statics are gone by then";
  }
  if (mode() != Mode::single && std::string(GetParam()) == "fork_while_threads_work") {
    GTEST_SKIP() << "the loader's own locks may be held at the fork, and nobody frees them in the child";
  }
#if defined(__SANITIZE_THREAD__)
  if (std::string(GetParam()).rfind("first_thread_ends", 0) == 0) {
    GTEST_SKIP() << "ThreadSanitizer's own thread is one that the driver cannot tell from the application's";
  }
#endif
  // Most of these processes end with objects alive, which is what they are for and no leak.
  const std::string options = environment("ASAN_OPTIONS") + ":detect_leaks=0";
  const ChildOutcome outcome = run_scenario_in_child(GetParam(), {{"ASAN_OPTIONS", options}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, ProcessLife,
    ::testing::Values("init_and_copy", "fork_then_use_parents_handles", "fork_then_initialise_again",
                      "exit_with_objects_alive", "exit_with_work_in_flight", "exit_while_a_thread_waits",
                      "static_destructor_uses_the_api", "atexit_uses_the_api", "first_thread_ends_alone",
                      "first_thread_ends_and_atexit_uses_the_api", "first_thread_ends_with_work_in_flight",
                      "first_thread_ends_with_memory_exported", "thread_works_on_after_the_first",
                      "waits_without_descriptors", "descriptors_are_closed_by_others",
                      "standard_streams_are_closed", "no_file_can_be_made", "signals_all_the_time",
                      "quick_exit_uses_the_api", "quick_exit_with_work_in_flight",
                      "another_thread_exits_with_work_in_flight", "vfork_then_exec",
                      "fork_then_exec_inherits_nothing", "fork_while_threads_work"),
    [](const auto& instance) { return std::string(instance.param); });

/// The first thread has ended; the process goes on because of others.
bool first_thread_has_ended() {
  std::FILE* file = std::fopen("/proc/self/stat", "re");
  char state = '?';
  const bool read = file != nullptr && std::fscanf(file, "%*d %*s %c", &state) == 1;
  if (file != nullptr) {
    std::fclose(file);
  }
  return read && state == 'Z';
}

/// Whether every thread of the process but the caller's and the first blocks SIGTERM and SIGALRM.
bool other_threads_take_no_signals() {
  DIR* threads = ::opendir("/proc/self/task");
  bool none = threads != nullptr;
  while (const dirent* entry = none ? ::readdir(threads) : nullptr) {
    const std::string id = entry->d_name;
    if (id[0] == '.' || id == std::to_string(::getpid())) {
      continue;
    }
    std::ifstream status("/proc/self/task/" + id + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigBlk:")) {
        const std::uint64_t blocked = std::stoull(line.substr(8), nullptr, 16);
        none = none && (blocked >> (SIGTERM - 1U) & 1U) != 0 && (blocked >> (SIGALRM - 1U) & 1U) != 0;
      }
    }
  }
  if (threads != nullptr) {
    ::closedir(threads);
  }
  return none;
}

World world_of_the_exit_handler;
bool exit_handler_succeeded = false;

void use_the_api_at_exit() {
  exit_handler_succeeded = round_trip(world_of_the_exit_handler) == ZE_RESULT_SUCCESS;
  destroy_world(world_of_the_exit_handler);
  if (!exit_handler_succeeded) {
    ::_exit(3);
  }
}

/// An application's static object that cleans up after main: its calls still reach the driver.
struct StaticUser {
  World world;
  bool active = false;

  ~StaticUser() {
    if (active) {
      const ze_result_t result = round_trip(world);
      destroy_world(world);
      if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_ERROR_UNINITIALIZED) {
        ::_exit(4);
      }
    }
  }
};

StaticUser static_user;

}  // namespace

int scenario_init_and_copy() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  destroy_world(world);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeInit(0));
  return 0;
}

int scenario_fork_then_use_parents_handles() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  const int status = in_forked_child(
      [&] {
        ze_command_list_handle_t handle = world.list;
        // Host memory is still there and holds the parent's bytes.
        SCENARIO_REQUIRE(std::memcmp(world.host, static_cast<unsigned char*>(world.host) + 4096, 4096) == 0);
        void* pointer = nullptr;
        SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED,
                        allocate_raw(MemoryKind::host, world.context, nullptr, 64, 0, &pointer));
        SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED,
                        zeCommandQueueExecuteCommandLists(world.queue, 1, &handle, nullptr));
        SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, zeCommandQueueSynchronize(world.queue, UINT64_MAX));
        SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, zeMemFree(world.context, world.host));
        return 0;
      },
      std::chrono::seconds(60));
  SCENARIO_EXPECT(0, status);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  destroy_world(world);
  return 0;
}

int scenario_fork_then_initialise_again() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  const int status = in_forked_child(
      [&] {
        // The loader keeps the answer of the parent's zeInit; zeDriverGet reaches the driver and begins a
        // life of the child's own.
        std::uint32_t count = 1;
        ze_driver_handle_t driver = nullptr;
        ze_result_t result = zeDriverGet(&count, &driver);
        if (result == ZE_RESULT_ERROR_UNINITIALIZED) {
          result = zeInit(0) == ZE_RESULT_SUCCESS ? zeDriverGet(&count, &driver) : result;
        }
        if (result != ZE_RESULT_SUCCESS) {
          SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, result);  // a clean refusal is an answer, too
          return 0;
        }
        ze_device_handle_t device = nullptr;
        count = 1;
        SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeDeviceGet(driver, &count, &device));
        const OwnedContext context = create_context(driver);
        const OwnedMemory block = allocate(MemoryKind::shared, context, device, 4096);
        SCENARIO_REQUIRE(block.get() != nullptr);
        std::memset(block.get(), 1, 4096);
        return 0;
      },
      std::chrono::seconds(60));
  SCENARIO_EXPECT(0, status);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  return 0;
}

int scenario_exit_with_objects_alive() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(make_world()));
  return 0;
}

int scenario_exit_with_work_in_flight() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  static_cast<void>(start_endless_work(world));
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(world.queue, 1'000'000));
  return 0;
}

int scenario_exit_while_a_thread_waits() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  const ze_event_handle_t gate = start_endless_work(world);
  std::thread([world] { zeCommandQueueSynchronize(world.queue, UINT64_MAX); }).detach();
  std::thread([gate] { zeEventHostSynchronize(gate, UINT64_MAX); }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return 0;
}

int scenario_first_thread_ends_alone() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(make_world()));
  // Nothing is left but the threads of the driver and its boards: the process ends with status 0.
  ::pthread_exit(nullptr);
}

int scenario_first_thread_ends_and_atexit_uses_the_api() {
  const int status = scenario_atexit_uses_the_api();
  if (status != 0) {
    return status;
  }
  ::pthread_exit(nullptr);
}

int scenario_first_thread_ends_with_work_in_flight() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  static_cast<void>(start_endless_work(world));
  SCENARIO_REQUIRE(other_threads_take_no_signals());
  ::pthread_exit(nullptr);
}

int scenario_first_thread_ends_with_memory_exported() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  ze_ipc_mem_handle_t handle{};
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(world.context, world.on_device, &handle));
  // The thread that hands the memory to other processes is the driver's, too.
  SCENARIO_REQUIRE(other_threads_take_no_signals());
  ::pthread_exit(nullptr);
}

int scenario_thread_works_on_after_the_first() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  std::thread([world] {
    while (!first_thread_has_ended()) {
      std::this_thread::yield();
    }
    // Longer than the driver's threads take to see that nobody is left.
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1600);
    ze_result_t result = ZE_RESULT_SUCCESS;
    while (result == ZE_RESULT_SUCCESS && std::chrono::steady_clock::now() < end) {
      result = round_trip(world);
    }
    std::exit(result == ZE_RESULT_SUCCESS ? 0 : 1);
  }).detach();
  ::pthread_exit(nullptr);
}

int scenario_waits_without_descriptors() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  const ze_event_handle_t gate = start_endless_work(world);
  const int next = ::dup(STDERR_FILENO);
  ::close(next);
  const rlimit no_more{static_cast<rlim_t>(next), static_cast<rlim_t>(next)};
  SCENARIO_REQUIRE(::setrlimit(RLIMIT_NOFILE, &no_more) == 0);
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(world.queue, 1'000'000));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(world.queue, patience_ns));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  return 0;
}

int scenario_descriptors_are_closed_by_others() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  const ze_event_handle_t gate = start_endless_work(world);
  for (int descriptor = STDERR_FILENO + 1; descriptor < 1024; ++descriptor) {
    ::close(descriptor);
  }
  // What the waits answer is open, since the driver's means are gone; that they end is not.
  SCENARIO_REQUIRE(zeEventHostSynchronize(gate, 20'000'000) != ZE_RESULT_SUCCESS);
  SCENARIO_REQUIRE(zeCommandQueueSynchronize(world.queue, 20'000'000) != ZE_RESULT_SUCCESS);
  return 0;
}

int scenario_static_destructor_uses_the_api() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  static_user.world = make_world();
  static_user.active = true;
  return 0;
}

int scenario_atexit_uses_the_api() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  world_of_the_exit_handler = make_world();
  SCENARIO_REQUIRE(std::atexit(use_the_api_at_exit) == 0);
  return 0;
}

}  // namespace datum::test
