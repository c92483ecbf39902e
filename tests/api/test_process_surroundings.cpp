// Scenarios of ProcessLife: what a process may do to itself, and what its surroundings may be like.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/api/process_world.hpp"
#include "tests/api/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/process_resources.hpp"

extern char** environ;

namespace datum::test {
namespace {

constexpr const char* descriptors_variable = "DATUM_TEST_DESCRIPTORS";

/// Copies, and opens memory that it exports itself.
ze_result_t copy_and_share(const World& world) {
  ze_result_t result = round_trip(world);
  ze_ipc_mem_handle_t handle{};
  if (result == ZE_RESULT_SUCCESS) {
    result = zeMemGetIpcHandle(world.context, world.on_device, &handle);
  }
  void* opened = nullptr;
  if (result == ZE_RESULT_SUCCESS) {
    result = zeMemOpenIpcHandle(world.context, session().devices.front(), handle, 0, &opened);
  }
  return result == ZE_RESULT_SUCCESS ? zeMemCloseIpcHandle(world.context, opened) : result;
}

/// The whole life of a program; the first code that is not SUCCESS.
ze_result_t live() {
  if (session().result != ZE_RESULT_SUCCESS) {
    return session().result;
  }
  const World world = make_world();
  const ze_result_t result = copy_and_share(world);
  destroy_world(world);
  return result;
}

/// Whether any of the standard descriptors is open.
bool a_standard_descriptor_is_open() {
  return std::ranges::any_of(std::array{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
                             [](int stream) { return ::fcntl(stream, F_GETFD) >= 0; });
}

/// From here on no file can be made anywhere, as if every file system were full.
bool fill_all_file_systems() {
  constexpr auto full = static_cast<std::uint32_t>(SECCOMP_RET_ERRNO) | static_cast<std::uint32_t>(ENOSPC);
  constexpr unsigned flags_of_openat = 2;
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mknod, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_creat, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               offsetof(seccomp_data, args) + flags_of_openat * sizeof(std::uint64_t)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, full),
  };
  const sock_fprog program{sizeof steps / sizeof *steps, steps};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

volatile std::sig_atomic_t signals_taken = 0;

/// A signal every millisecond, whose handler makes system calls end early.
bool begin_signals() {
  struct sigaction action {};

  action.sa_handler = [](int) { signals_taken = signals_taken + 1; };
  const itimerval often{{0, 1000}, {0, 1000}};
  return ::sigaction(SIGALRM, &action, nullptr) == 0 && ::setitimer(ITIMER_REAL, &often, nullptr) == 0;
}

World world_at_quick_exit;
bool worked_at_quick_exit = false;

void work_at_quick_exit() { worked_at_quick_exit = round_trip(world_at_quick_exit) == ZE_RESULT_SUCCESS; }

void judge_quick_exit() { ::_exit(worked_at_quick_exit ? 0 : 3); }

/// For the child of a fork: becomes this program with another scenario.
int become(const std::string& scenario) {
  std::string program = "/proc/self/exe";
  std::string argument = "--scenario=" + scenario;
  std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
  ::execve(program.c_str(), arguments.data(), environ);
  return 127;
}

/// Works in a context of its own until it is told to end.
void work_until(const std::atomic<bool>& end, std::atomic<ze_result_t>& worst) {
  while (!end.load()) {
    const World world = make_world();
    if (const ze_result_t result = round_trip(world); result != ZE_RESULT_SUCCESS) {
      worst.store(result);
    }
    destroy_world(world);
  }
}

/// In the child of a fork: the parent's driver answers, whatever its threads were at.
int use_parents_driver(const World& world) {
  void* pointer = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED,
                  allocate_raw(MemoryKind::host, world.context, nullptr, 64, 0, &pointer));
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, zeMemFree(world.context, world.host));
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, zeCommandQueueSynchronize(world.queue, UINT64_MAX));
  return 0;
}

}  // namespace

int scenario_standard_streams_are_closed() {
  const int kept = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 100);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::close(stream);
  }
  World world;
  const ze_result_t initialised = session().result;
  ze_result_t worked = initialised;
  if (initialised == ZE_RESULT_SUCCESS) {
    world = make_world();
    worked = copy_and_share(world);
  }
  // What the program prints now must not end in a file of the driver's.
  const bool taken = a_standard_descriptor_is_open();
  ::dup2(kept, STDERR_FILENO);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, initialised);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, worked);
  SCENARIO_REQUIRE(!taken);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  destroy_world(world);
  return 0;
}

int scenario_no_file_can_be_made() {
  SCENARIO_REQUIRE(fill_all_file_systems());
  SCENARIO_REQUIRE(::open("/dev/shm/datum-test", O_RDWR | O_CREAT, 0600) < 0 && errno == ENOSPC);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, live());
  return 0;
}

int scenario_signals_all_the_time() {
  SCENARIO_REQUIRE(begin_signals());
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  do {
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, live());
  } while (std::chrono::steady_clock::now() < end);
  SCENARIO_REQUIRE(signals_taken > 0);
  return 0;
}

int scenario_quick_exit_uses_the_api() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  world_at_quick_exit = make_world();
  // The last one that is registered runs first.
  SCENARIO_REQUIRE(std::at_quick_exit(judge_quick_exit) == 0);
  SCENARIO_REQUIRE(std::at_quick_exit(work_at_quick_exit) == 0);
  std::quick_exit(4);
}

int scenario_quick_exit_with_work_in_flight() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  static_cast<void>(start_endless_work(world));
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(world.queue, 1'000'000));
  std::quick_exit(0);
}

int scenario_another_thread_exits_with_work_in_flight() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  static_cast<void>(start_endless_work(world));
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::exit(0);
  }).detach();
  zeCommandQueueSynchronize(world.queue, UINT64_MAX);
  return 3;
}

int scenario_vfork_then_exec() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  std::string program = "/proc/self/exe";
  std::string argument = "--scenario=init_and_copy";
  std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
  const pid_t child = ::vfork();
  if (child == 0) {
    ::execve(program.c_str(), arguments.data(), environ);
    ::_exit(127);
  }
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  int status = -1;
  SCENARIO_REQUIRE(::waitpid(child, &status, 0) == child);
  SCENARIO_EXPECT(0, status);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  destroy_world(world);
  return 0;
}

int scenario_fork_then_exec_inherits_nothing() {
  ::setenv(descriptors_variable, std::to_string(open_descriptors()).c_str(), 1);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, copy_and_share(world));
  SCENARIO_EXPECT(
      0, in_forked_child([] { return become("has_no_more_descriptors"); }, std::chrono::seconds(60)));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  destroy_world(world);
  return 0;
}

/// The program that `fork_then_exec_inherits_nothing` becomes: the parent's driver left nothing open in it.
int scenario_has_no_more_descriptors() {
  SCENARIO_EXPECT(std::atoi(std::getenv(descriptors_variable)), open_descriptors());
  return scenario_init_and_copy();
}

int scenario_fork_while_threads_work() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world = make_world();
  std::atomic<bool> end{false};
  std::atomic<ze_result_t> worst{ZE_RESULT_SUCCESS};
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([&] { work_until(end, worst); });
  }
  int status = 0;
  auto quickest = std::chrono::steady_clock::duration::max();
  for (int fork = 0; fork < 30 && status == 0; ++fork) {
    const auto begun = std::chrono::steady_clock::now();
    status = in_forked_child([&] { return use_parents_driver(world); }, std::chrono::seconds(60));
    quickest = std::min(quickest, std::chrono::steady_clock::now() - begun);
  }
  end.store(true);
  for (std::thread& thread : threads) {
    thread.join();
  }
  SCENARIO_EXPECT(0, status);
  SCENARIO_REQUIRE(quickest < std::chrono::seconds(1));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, worst.load());
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, round_trip(world));
  destroy_world(world);
  return 0;
}

}  // namespace datum::test
