// Memory shared between processes where the kernel grants little, and openings that end at different times.
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/field/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

constexpr std::size_t shared_bytes = 9000;
constexpr const char* handle_variable = "DATUM_TEST_FIELD_HANDLE";
constexpr const char* errno_variable = "DATUM_TEST_FIELD_ERRNO";

std::string as_text(const ze_ipc_mem_handle_t& handle) {
  std::string text;
  for (const char byte : handle.data) {
    text += std::to_string(static_cast<int>(static_cast<unsigned char>(byte))) + " ";
  }
  return text;
}

ze_ipc_mem_handle_t from_text(const std::string& text) {
  ze_ipc_mem_handle_t handle{};
  const char* at = text.c_str();
  for (char& byte : handle.data) {
    char* end = nullptr;
    byte = static_cast<char>(std::strtoul(at, &end, 10));
    at = end;
  }
  return handle;
}

/// From here on the calls that reach into other processes fail with `number`, in all threads to come.
bool refuse_calls_for_other_processes(int number) {
  const auto answer = static_cast<std::uint32_t>(SECCOMP_RET_ERRNO) | static_cast<std::uint32_t>(number);
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_getfd, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, answer),
  };
  const sock_fprog program{sizeof steps / sizeof *steps, steps};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

class FieldIpc : public ApiTest {
 protected:
  [[nodiscard]] ze_ipc_mem_handle_t handle_of(const void* pointer) const {
    ze_ipc_mem_handle_t handle{};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), pointer, &handle)) << last_error_text();
    return handle;
  }

  [[nodiscard]] unsigned char* open(const ze_ipc_mem_handle_t& handle) const {
    void* pointer = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), device(), handle, 0, &pointer))
        << last_error_text();
    return static_cast<unsigned char*>(pointer);
  }

  /// A program that may not use those calls opens what this one exports.
  void check_open_when_calls_fail_with(int number) {
    const OwnedMemory block = memory(MemoryKind::host, shared_bytes);
    write_pattern(block.get(), shared_bytes, 41);
    const std::string options = environment("ASAN_OPTIONS") + ":detect_leaks=0";  // its search uses ptrace
    const ChildOutcome outcome = run_scenario_in_child("opens_without_calls_for_other_processes",
                                                       {{handle_variable, as_text(handle_of(block.get()))},
                                                        {errno_variable, std::to_string(number)},
                                                        {"ASAN_OPTIONS", options}});
    EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
    EXPECT_TRUE(same_bytes(pattern(shared_bytes, 42).data(), block.get(), shared_bytes));
  }
};

TEST_F(FieldIpc, IP_05_given_no_permission_to_reach_into_other_processes_when_opened_by_value_then_it_works) {
  check_open_when_calls_fail_with(EPERM);
}

TEST_F(FieldIpc, IP_06_given_a_kernel_without_descriptors_of_processes_when_opened_by_value_then_it_works) {
  check_open_when_calls_fail_with(ENOSYS);
}

TEST_F(FieldIpc, IP_07_given_work_that_uses_one_opening_when_another_is_closed_then_the_work_ends_right) {
  const std::size_t bytes = by_board<std::size_t>(1U << 20U, 20'000);
  const OwnedMemory block = memory(MemoryKind::device, bytes);
  const OwnedMemory target = memory(MemoryKind::host, bytes);
  upload(block.get(), pattern(bytes, 43));
  const ze_ipc_mem_handle_t handle = handle_of(block.get());
  unsigned char* first = open(handle);
  unsigned char* second = open(handle);
  ASSERT_NE(first, second);
  const OwnedEventPool pool = create_event_pool(context(), 1);
  OwnedEvent gate = create_event(pool);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, target.get(), second, bytes, nullptr, 1, gate.address()));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t closed = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &closed, nullptr));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), first));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
  EXPECT_TRUE(same_bytes(pattern(bytes, 43).data(), target.get(), bytes));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), second));
  unsigned char* third = open(handle);
  EXPECT_TRUE(same_bytes(pattern(bytes, 43), download(third, bytes)));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), third));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
}

TEST_F(FieldIpc, IP_11_given_another_user_when_the_bytes_are_opened_then_nothing_is_handed_out) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can become another user";
  }
  const OwnedMemory block = memory(MemoryKind::host, shared_bytes);
  // The search for leaks attaches to the process, which one that has changed its user forbids.
  const std::string options = environment("ASAN_OPTIONS") + ":detect_leaks=0";
  const ChildOutcome outcome =
      run_scenario_in_child("opens_as_another_user",
                            {{handle_variable, as_text(handle_of(block.get()))}, {"ASAN_OPTIONS", options}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

}  // namespace

int scenario_opens_as_another_user() {
  constexpr uid_t nobody = 65534;
  const ze_ipc_mem_handle_t handle = from_text(environment(handle_variable));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const OwnedContext context = create_context(session().driver);
  const ze_device_handle_t device = session().devices.front();
  void* pointer = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context, device, handle, 0, &pointer));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context, pointer));
  SCENARIO_EXPECT(0, ::seteuid(nobody));
  pointer = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemOpenIpcHandle(context, device, handle, 0, &pointer));
  SCENARIO_REQUIRE(pointer == nullptr);
  return 0;
}

int scenario_opens_without_calls_for_other_processes() {
  SCENARIO_REQUIRE(refuse_calls_for_other_processes(std::stoi(environment(errno_variable))));
  errno = 0;
  SCENARIO_REQUIRE(::syscall(SYS_pidfd_open, ::getpid(), 0) < 0 &&
                   errno == std::stoi(environment(errno_variable)));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const OwnedContext context = create_context(session().driver);
  void* pointer = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS,
                  zeMemOpenIpcHandle(context, session().devices.front(),
                                     from_text(environment(handle_variable)), 0, &pointer));
  SCENARIO_REQUIRE(same_bytes(pattern(shared_bytes, 41).data(), pointer, shared_bytes));
  write_pattern(pointer, shared_bytes, 42);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context, pointer));
  return 0;
}

}  // namespace datum::test
