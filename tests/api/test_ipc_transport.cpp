// What may happen to a handle and its descriptor on the way: cut short, fetched by the kernel, resized.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/api/handle_text.hpp"
#include "tests/api/ipc_range_test.hpp"
#include "tests/api/scenarios.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

constexpr const char* transport_variable = "DATUM_TEST_TRANSPORT_HANDLE";
constexpr const char* process_variable = "DATUM_TEST_TRANSPORT_PROCESS";
constexpr int not_allowed = 77;

class IpcTransport : public RangeTest {
 protected:
  [[nodiscard]] ze_ipc_mem_handle_t handle_of(const void* pointer) const {
    ze_ipc_mem_handle_t handle{};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), pointer, &handle)) << last_error_text();
    return handle;
  }
};

TEST_F(IpcTransport, given_a_handle_cut_short_when_opened_then_it_is_that_memory_or_nothing) {
  const OwnedMemory block = memory(MemoryKind::host, 2 * page);
  std::memset(block.get(), 0x11, 2 * page);
  const OwnedMemory other = memory(MemoryKind::host, 2 * page);
  std::memset(other.get(), 0x22, 2 * page);
  const ze_ipc_mem_handle_t whole = handle_of(block.get());
  const ze_ipc_mem_handle_t of_other = handle_of(other.get());
  const std::size_t before = open_descriptors();
  for (std::size_t kept = 0; kept <= sizeof whole.data; ++kept) {
    for (const bool with_other_number : {false, true}) {
      ze_ipc_mem_handle_t handle{};
      std::memcpy(handle.data, whole.data, kept);
      if (with_other_number && kept > sizeof(std::int32_t)) {
        std::memcpy(handle.data, of_other.data, sizeof(std::int32_t));
      }
      void* pointer = nullptr;
      const ze_result_t result = zeMemOpenIpcHandle(context(), device(), handle, 0, &pointer);
      if (result == ZE_RESULT_SUCCESS) {
        EXPECT_EQ(0x11, *static_cast<unsigned char*>(pointer)) << kept;
        close(pointer);
      } else {
        EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, result) << kept;
        EXPECT_EQ(nullptr, pointer);
        EXPECT_TRUE(kept != sizeof(std::int32_t) && kept != sizeof whole.data) << kept;
      }
    }
  }
  EXPECT_EQ(before, open_descriptors());
  put(whole);
  put(of_other);
}

TEST_F(IpcTransport, given_the_descriptor_of_a_handle_when_somebody_resizes_the_file_then_that_is_refused) {
  const OwnedMemory on_device = memory(MemoryKind::device, 3 * page);
  const OwnedMemory small = memory(MemoryKind::host, 3 * page);
  const OwnedMemory large = memory(MemoryKind::host, 3U << 20U);
  const OwnedPhysical in_host_memory = physical(3 * page, in_host);
  const OwnedPhysical on_board = physical(3 * page);
  const OwnedReservation range = reserve(6 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 3 * page, in_host_memory));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(3 * page), 3 * page, on_board));
  const Row row = make_row(Place::both);
  const std::initializer_list<ze_ipc_mem_handle_t> handles = {
      handle_of(on_device.get()), handle_of(small.get()),        handle_of(large.get()),
      handle_of(range.at()),      handle_of(range.at(3 * page)), get(row.first.at(), range_bytes)};
  for (const ze_ipc_mem_handle_t& handle : handles) {
    const int fd = descriptor_of(handle);
    const off_t bytes = ::lseek(fd, 0, SEEK_END);
    ASSERT_GT(bytes, 0);
    for (const off_t wanted :
         {off_t{0}, bytes - static_cast<off_t>(page), bytes + static_cast<off_t>(page)}) {
      EXPECT_EQ(-1, ::ftruncate(fd, wanted));
      EXPECT_EQ(EPERM, errno);
    }
    EXPECT_EQ(-1, ::fallocate(fd, 0, bytes, page)) << "it does not grow either";
    EXPECT_EQ(-1, ::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE)) << "nobody can keep the others from writing";
    EXPECT_EQ(bytes, ::lseek(fd, 0, SEEK_END));
    void* pointer = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), device(), handle, 0, &pointer));
    upload(pointer, pattern(3 * page, 1));
    EXPECT_TRUE(same_bytes(pattern(3 * page, 1), download(pointer, 3 * page)));
    close(pointer);
    put(handle);
  }
}

TEST_F(IpcTransport, given_a_program_that_fetches_the_descriptor_from_the_exporter_then_it_opens_the_memory) {
  for (const bool rest_kept : {false, true}) {
    const OwnedMemory block = memory(MemoryKind::device, 2 * page);
    upload(block.get(), pattern(2 * page, 1));
    const ze_ipc_mem_handle_t handle = handle_of(block.get());
    const ChildOutcome child = run_scenario_in_child(
        "ipc_fetch_descriptor",
        {{transport_variable, as_text(rest_kept ? handle : only_descriptor(descriptor_of(handle)))},
         {process_variable, std::to_string(::getpid())}});
    if (!child.timed_out && child.exit_status == not_allowed) {
      GTEST_SKIP() << "this process may not reach into others";
    }
    EXPECT_TRUE(child.succeeded()) << child.describe();
    EXPECT_TRUE(same_bytes(pattern(2 * page, 2), download(block.get(), 2 * page)));
    put(handle);
  }
}

}  // namespace

/// As MPI libraries do: the number becomes a descriptor of this process's, which is closed before the memory.
int scenario_ipc_fetch_descriptor() {
  ze_ipc_mem_handle_t handle = from_text<ze_ipc_mem_handle_t>(environment(transport_variable));
  const auto process =
      static_cast<int>(::syscall(SYS_pidfd_open, std::stoi(environment(process_variable)), 0));
  const auto fd =
      process < 0 ? -1
                  : static_cast<std::int32_t>(::syscall(SYS_pidfd_getfd, process, descriptor_of(handle), 0));
  if (fd < 0) {
    return errno == EPERM || errno == ENOSYS ? not_allowed : 1;
  }
  std::memcpy(handle.data, &fd, sizeof fd);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  const OwnedMemory host = allocate(MemoryKind::host, context, device, 2 * page);
  const OwnedList list = create_immediate_list(context, device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const auto copy = [&](void* to, const void* from) {
    return zeCommandListAppendMemoryCopy(list, to, from, 2 * page, nullptr, 0, nullptr);
  };
  void* opened = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context, device, handle, 0, &opened));
  SCENARIO_EXPECT(0, ::close(fd));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, copy(host.get(), opened));
  SCENARIO_REQUIRE(same_bytes(pattern(2 * page, 1).data(), host.get(), 2 * page));
  write_pattern(host.get(), 2 * page, 2);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, copy(opened, host.get()));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context, opened));
  return 0;
}

}  // namespace datum::test
