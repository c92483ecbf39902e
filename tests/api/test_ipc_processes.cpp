// Memory that is shared between processes: one program started by the other, forked, or gone.
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/handle_text.hpp"
#include "tests/api/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

constexpr std::size_t bytes_shared = 9000;
constexpr const char* handle_variable = "DATUM_TEST_IPC_HANDLE";
constexpr const char* socket_variable = "DATUM_TEST_IPC_SOCKET";
constexpr const char* kind_variable = "DATUM_TEST_IPC_KIND";

int descriptor_of(const ze_ipc_mem_handle_t& handle) {
  std::int32_t fd = -1;
  std::memcpy(&fd, handle.data, sizeof fd);
  return fd;
}

/// As clients do that send the descriptor alone.
ze_ipc_mem_handle_t only_descriptor(std::int32_t fd) {
  ze_ipc_mem_handle_t handle{};
  std::memcpy(handle.data, &fd, sizeof fd);
  return handle;
}

bool send_descriptor(int socket, int fd) {
  char byte = 'd';
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

int receive_descriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  int fd = -1;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message) != nullptr) {
    std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  }
  return fd;
}

/// Driver, context, queue and copies for a scenario, which has no fixture.
struct Peer {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  OwnedContext context;
  OwnedQueue queue;
  OwnedMemory staging;

  [[nodiscard]] bool start() {
    if (session().result != ZE_RESULT_SUCCESS) {
      return false;
    }
    driver = session().driver;
    device = session().devices.front();
    return make_objects();
  }

  /// In a forked child, whose session is its parent's.
  [[nodiscard]] bool start_anew() {
    std::uint32_t one = 1;
    return zeDriverGet(&one, &driver) == ZE_RESULT_SUCCESS &&
           zeDeviceGet(driver, &one, &device) == ZE_RESULT_SUCCESS && make_objects();
  }

  [[nodiscard]] bool make_objects() {
    context = create_context(driver);
    queue = create_queue(context, device);
    staging = allocate(MemoryKind::host, context, device, bytes_shared);
    return staging.get() != nullptr;
  }

  [[nodiscard]] bool copy(void* to, const void* from) const {
    const OwnedList list = create_list(context, device);
    ze_command_list_handle_t handle = list;
    return zeCommandListAppendMemoryCopy(list, to, from, bytes_shared, nullptr, 0, nullptr) ==
               ZE_RESULT_SUCCESS &&
           zeCommandListClose(list) == ZE_RESULT_SUCCESS &&
           zeCommandQueueExecuteCommandLists(queue, 1, &handle, nullptr) == ZE_RESULT_SUCCESS &&
           zeCommandQueueSynchronize(queue, patience_ns) == ZE_RESULT_SUCCESS;
  }

  [[nodiscard]] bool holds(const void* pointer, std::uint64_t seed) const {
    const Bytes expected = pattern(bytes_shared, seed);
    return copy(staging.get(), pointer) && std::memcmp(staging.get(), expected.data(), bytes_shared) == 0;
  }

  [[nodiscard]] bool fill(void* pointer, std::uint64_t seed) const {
    write_pattern(staging.get(), bytes_shared, seed);
    return copy(pointer, staging.get());
  }
};

class IpcProcesses : public ApiTest {
 protected:
  [[nodiscard]] ze_ipc_mem_handle_t get(const void* pointer) const {
    ze_ipc_mem_handle_t handle{};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), pointer, &handle)) << last_error_text();
    return handle;
  }

  [[nodiscard]] static ChildOutcome run_importer(const char* scenario, const ze_ipc_mem_handle_t& handle,
                                                 const std::string& kind = {}) {
    return run_scenario_in_child(scenario, {{handle_variable, as_text(handle)}, {kind_variable, kind}},
                                 std::chrono::seconds(60));
  }

  /// Starts an exporter that sends a descriptor and ends as `scenario` says; the descriptor, or -1.
  [[nodiscard]] static int descriptor_of_dead_exporter(const char* scenario, const std::string& kind) {
    int ends[2]{};
    EXPECT_EQ(0, ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    const ChildOutcome child =
        run_scenario_in_child(scenario, {{socket_variable, std::to_string(ends[1])}, {kind_variable, kind}},
                              std::chrono::seconds(60));
    EXPECT_FALSE(child.timed_out);
    EXPECT_TRUE(child.exit_status == 0 || child.signal == SIGKILL) << child.describe();
    ::close(ends[1]);
    const int fd = receive_descriptor(ends[0]);
    ::close(ends[0]);
    return fd;
  }
};

TEST_F(IpcProcesses,
       given_the_64_bytes_sent_by_value_when_a_program_opens_them_then_it_reads_and_writes_the_memory) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    const OwnedMemory block = memory(kind, bytes_shared);
    upload(block.get(), pattern(bytes_shared, 1));
    const ze_ipc_mem_handle_t handle = get(block.get());
    const ChildOutcome child = run_importer("ipc_open_and_answer", handle, name_of(kind));
    EXPECT_TRUE(child.succeeded()) << name_of(kind) << ": " << child.describe();
    EXPECT_TRUE(same_bytes(pattern(bytes_shared, 2), download(block.get(), bytes_shared))) << name_of(kind);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
  }
}

TEST_F(IpcProcesses, given_only_the_descriptor_when_a_program_opens_it_and_closes_it_at_once_then_all_works) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    const OwnedMemory block = memory(kind, bytes_shared);
    upload(block.get(), pattern(bytes_shared, 1));
    const ze_ipc_mem_handle_t handle = get(block.get());
    const int inherited = ::fcntl(descriptor_of(handle), F_DUPFD, 200);
    ASSERT_GE(inherited, 200);
    const ChildOutcome child =
        run_importer("ipc_open_descriptor_and_answer", only_descriptor(inherited), name_of(kind));
    ::close(inherited);
    EXPECT_TRUE(child.succeeded()) << name_of(kind) << ": " << child.describe();
    EXPECT_TRUE(same_bytes(pattern(bytes_shared, 2), download(block.get(), bytes_shared))) << name_of(kind);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
  }
}

TEST_F(IpcProcesses, given_the_number_replaced_and_the_rest_kept_when_a_program_opens_it_then_all_works) {
  const OwnedMemory block = memory(MemoryKind::device, bytes_shared);
  upload(block.get(), pattern(bytes_shared, 1));
  ze_ipc_mem_handle_t handle = get(block.get());
  const std::int32_t inherited = ::fcntl(descriptor_of(handle), F_DUPFD, 200);
  std::memcpy(handle.data, &inherited, sizeof inherited);
  const ChildOutcome child =
      run_importer("ipc_open_descriptor_and_answer", handle, name_of(MemoryKind::device));
  ::close(inherited);
  EXPECT_TRUE(child.succeeded()) << child.describe();
  EXPECT_TRUE(same_bytes(pattern(bytes_shared, 2), download(block.get(), bytes_shared)));
}

TEST_F(IpcProcesses,
       given_a_forked_child_with_a_driver_of_its_own_when_it_opens_the_bytes_then_it_shares_the_memory) {
  const ChildOutcome child = run_scenario_in_child("ipc_fork", {}, std::chrono::seconds(60));
  EXPECT_TRUE(child.succeeded()) << child.describe();
}

TEST_F(IpcProcesses, given_an_exporter_that_exited_or_was_killed_then_the_importer_has_its_bytes) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    for (const char* scenario : {"ipc_export_and_exit", "ipc_export_and_be_killed"}) {
      const int fd = descriptor_of_dead_exporter(scenario, name_of(kind));
      ASSERT_GE(fd, 0) << scenario;
      void* opened = nullptr;
      ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), device(), only_descriptor(fd), 0, &opened))
          << last_error_text();
      ::close(fd);
      EXPECT_TRUE(same_bytes(pattern(bytes_shared, 1), download(opened, bytes_shared)));
      upload(opened, pattern(bytes_shared, 3));
      EXPECT_TRUE(same_bytes(pattern(bytes_shared, 3), download(opened, bytes_shared)));
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), opened));
    }
  }
}

TEST_F(IpcProcesses, given_a_handle_of_a_program_that_ended_then_it_is_refused_at_once) {
  const ChildOutcome child = run_scenario_in_child("ipc_print_handle", {}, std::chrono::seconds(60));
  ASSERT_TRUE(child.succeeded()) << child.describe();
  ASSERT_GE(child.output.size(), 128U);
  const ze_ipc_mem_handle_t handle = from_text<ze_ipc_mem_handle_t>(child.output.substr(0, 128));
  void* opened = nullptr;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemOpenIpcHandle(context(), device(), handle, 0, &opened));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemPutIpcHandle(context(), handle));
}

TEST_F(IpcProcesses,
       given_a_program_that_got_the_bytes_by_value_when_it_wants_the_descriptor_then_it_maps_it) {
  const OwnedMemory block = memory(MemoryKind::device, bytes_shared);
  upload(block.get(), pattern(bytes_shared, 1));
  const ChildOutcome child = run_importer("ipc_map_descriptor", get(block.get()));
  EXPECT_TRUE(child.succeeded()) << child.describe();
  EXPECT_TRUE(same_bytes(pattern(bytes_shared, 2), download(block.get(), bytes_shared)));
}

/// Opens what the environment names, checks it, answers in it. `close_first`: as clients do that need the
/// descriptor no longer.
int open_and_answer(bool close_first) {
  const ze_ipc_mem_handle_t handle = from_text<ze_ipc_mem_handle_t>(environment(handle_variable));
  Peer peer;
  SCENARIO_REQUIRE(peer.start());
  void* opened = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(peer.context, peer.device, handle, 0, &opened));
  if (close_first) {
    SCENARIO_REQUIRE(::close(descriptor_of(handle)) == 0);
  }
  ze_memory_allocation_properties_t properties{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, nullptr,
                                               ZE_MEMORY_TYPE_UNKNOWN, 0, 0};
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(peer.context, opened, &properties, nullptr));
  const bool host = environment(kind_variable) == name_of(MemoryKind::host);
  SCENARIO_EXPECT(host ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE, properties.type);
  SCENARIO_REQUIRE(peer.holds(opened, 1));
  SCENARIO_REQUIRE(peer.fill(opened, 2));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(peer.context, opened));
  return 0;
}

/// Exports memory of the kind in the environment and sends its descriptor.
int export_and_send(Peer& peer, OwnedMemory& block) {
  SCENARIO_REQUIRE(peer.start());
  const bool host = environment(kind_variable) == name_of(MemoryKind::host);
  block = allocate(host ? MemoryKind::host : MemoryKind::device, peer.context, peer.device, bytes_shared);
  SCENARIO_REQUIRE(peer.fill(block.get(), 1));
  ze_ipc_mem_handle_t handle{};
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(peer.context, block.get(), &handle));
  SCENARIO_REQUIRE(send_descriptor(std::stoi(environment(socket_variable)), descriptor_of(handle)));
  return 0;
}

int scenario_ipc_open_and_answer() { return open_and_answer(false); }

int scenario_ipc_open_descriptor_and_answer() { return open_and_answer(true); }

int scenario_ipc_export_and_exit() {
  Peer peer;
  OwnedMemory block;
  const int status = export_and_send(peer, block);
  static_cast<void>(block.release());  // alive at exit
  return status;
}

int scenario_ipc_export_and_be_killed() {
  Peer peer;
  OwnedMemory block;
  if (const int status = export_and_send(peer, block); status != 0) {
    return status;
  }
  ::kill(::getpid(), SIGKILL);
  return 1;
}

int scenario_ipc_print_handle() {
  Peer peer;
  SCENARIO_REQUIRE(peer.start());
  ze_ipc_mem_handle_t handle{};
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(peer.context, peer.staging.get(), &handle));
  std::printf("%s\n", as_text(handle).c_str());
  return 0;
}

int scenario_ipc_map_descriptor() {
  const ze_ipc_mem_handle_t handle = from_text<ze_ipc_mem_handle_t>(environment(handle_variable));
  Peer peer;
  SCENARIO_REQUIRE(peer.start());
  std::uint64_t fd = 0;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemGetFileDescriptorFromIpcHandleExp(peer.context, handle, &fd));
  void* view = ::mmap(nullptr, bytes_shared, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(fd), 0);
  SCENARIO_REQUIRE(view != MAP_FAILED);
  const Bytes expected = pattern(bytes_shared, 1);
  SCENARIO_REQUIRE(std::memcmp(view, expected.data(), bytes_shared) == 0);
  write_pattern(view, bytes_shared, 2);
  return 0;
}

/// The child has a board of its own; the parent goes on to answer for its memory, and the child does not.
int scenario_ipc_fork() {
  Peer parent;
  SCENARIO_REQUIRE(parent.start());
  const OwnedMemory block = allocate(MemoryKind::device, parent.context, parent.device, bytes_shared);
  SCENARIO_REQUIRE(parent.fill(block.get(), 1));
  ze_ipc_mem_handle_t handle{};
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(parent.context, block.get(), &handle));
  // Sixty bytes by value and a number that means nothing: the parent is asked. It asks itself first, so that
  // its answering thread has started: AddressSanitizer holds a lock meanwhile, which a fork would copy.
  const std::int32_t none = -1;
  std::memcpy(handle.data, &none, sizeof none);
  void* own = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(parent.context, parent.device, handle, 0, &own));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(parent.context, own));
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit([&] {
      Peer peer;
      SCENARIO_REQUIRE(peer.start_anew());
      void* opened = nullptr;
      SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(peer.context, peer.device, handle, 0, &opened));
      SCENARIO_REQUIRE(peer.holds(opened, 1));
      SCENARIO_REQUIRE(peer.fill(opened, 2));
      SCENARIO_EXPECT(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemPutIpcHandle(peer.context, handle));
      SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(peer.context, opened));
      return 0;
    }());
  }
  int status = 0;
  SCENARIO_REQUIRE(::waitpid(child, &status, 0) == child);
  SCENARIO_REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  SCENARIO_REQUIRE(parent.holds(block.get(), 2));
  return 0;
}

}  // namespace

std::vector<Scenario> scenarios_of_current_loader() {
  std::vector<Scenario> all = event_ipc_scenarios();
  const std::vector<Scenario> counters = counter_ipc_scenarios();
  all.insert(all.end(), counters.begin(), counters.end());
  const std::initializer_list<Scenario> memory = {
      {"ipc_open_and_answer", scenario_ipc_open_and_answer},
      {"ipc_open_descriptor_and_answer", scenario_ipc_open_descriptor_and_answer},
      {"ipc_export_and_exit", scenario_ipc_export_and_exit},
      {"ipc_export_and_be_killed", scenario_ipc_export_and_be_killed},
      {"ipc_print_handle", scenario_ipc_print_handle},
      {"ipc_map_descriptor", scenario_ipc_map_descriptor},
      {"ipc_fork", scenario_ipc_fork},
      {"ipc_range_open_and_answer", scenario_ipc_range_open_and_answer},
      {"ipc_range_print_handle", scenario_ipc_range_print_handle},
      {"ipc_fetch_descriptor", scenario_ipc_fetch_descriptor},
      {"memory_without_kernel_calls", scenario_memory_without_kernel_calls},
      {"external_import", scenario_external_import},
      {"external_physical_import", scenario_external_physical_import},
      {"the_same_program_twice", scenario_the_same_program_twice}};
  all.insert(all.end(), memory);
  return all;
}

}  // namespace datum::test
