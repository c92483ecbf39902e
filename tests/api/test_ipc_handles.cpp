// IPC handles themselves: counting, giving back, forging.
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "tests/support/api_session.hpp"
#include "tests/support/page.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

int descriptor_in(const ze_ipc_mem_handle_t& handle) {
  std::int32_t fd = -1;
  std::memcpy(&fd, handle.data, sizeof fd);
  return fd;
}

class IpcHandles : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    // The first export starts the exporter's thread.
    const OwnedMemory block = memory(MemoryKind::host, page_bytes);
    ze_ipc_mem_handle_t handle{};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), block.get(), &handle));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
  }

  [[nodiscard]] ze_ipc_mem_handle_t get(const void* pointer) const {
    ze_ipc_mem_handle_t handle{};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), pointer, &handle)) << last_error_text();
    return handle;
  }

  ze_result_t open(const ze_ipc_mem_handle_t& handle, void** pointer) const {
    return zeMemOpenIpcHandle(context(), device(), handle, 0, pointer);
  }

  void expect_refused(const ze_ipc_mem_handle_t& handle) const {
    void* pointer = nullptr;
    ASSERT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, open(handle, &pointer));
    ASSERT_EQ(nullptr, pointer);
    ASSERT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemPutIpcHandle(context(), handle));
  }
};

TEST_F(IpcHandles, given_a_handle_put_twice_when_its_number_is_somebody_elses_then_that_file_stays_open) {
  OwnedMemory block = memory(MemoryKind::device, page_bytes);
  const ze_ipc_mem_handle_t handle = get(block.get());
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
  EXPECT_EQ(ZE_RESULT_SUCCESS, block.free());
  const int foreign = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(foreign, 0);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemPutIpcHandle(context(), handle));
  char byte = 0;
  EXPECT_EQ(1, ::pread(foreign, &byte, 1, 0));
  ::close(foreign);
}

TEST_F(IpcHandles,
       given_a_client_that_closes_the_descriptor_when_put_and_freed_then_no_foreign_file_is_closed) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    OwnedMemory block = memory(kind, page_bytes);
    const ze_ipc_mem_handle_t handle = get(block.get());
    ASSERT_EQ(0, ::close(descriptor_in(handle)));
    const int foreign = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(descriptor_in(handle), ::dup2(foreign, descriptor_in(handle)));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
    EXPECT_EQ(ZE_RESULT_SUCCESS, block.free());
    char byte = 0;
    EXPECT_EQ(1, ::pread(descriptor_in(handle), &byte, 1, 0));
    ::close(descriptor_in(handle));
    if (foreign != descriptor_in(handle)) {
      ::close(foreign);
    }
  }
}

TEST_F(IpcHandles, given_few_descriptors_when_handles_are_got_and_put_5000_times_then_none_is_lacking) {
  const OwnedMemory device_block = memory(MemoryKind::device, page_bytes);
  const OwnedMemory host_block = memory(MemoryKind::host, page_bytes);
  rlimit before{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &before));
  rlimit few = before;
  few.rlim_cur = open_descriptors() + 16;
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &few));
  ze_result_t result = ZE_RESULT_SUCCESS;
  for (int round = 0; round < 5000 && result == ZE_RESULT_SUCCESS; ++round) {
    for (const OwnedMemory* block : {&device_block, &host_block}) {
      ze_ipc_mem_handle_t handle{};
      result = zeMemGetIpcHandle(context(), block->get(), &handle);
      result = result == ZE_RESULT_SUCCESS ? zeMemPutIpcHandle(context(), handle) : result;
    }
  }
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &before));
  EXPECT_EQ(ZE_RESULT_SUCCESS, result) << last_error_text();
}

TEST_F(IpcHandles,
       given_5000_handles_of_one_allocation_then_they_share_a_descriptor_and_nothing_is_left_at_the_end) {
  const std::size_t before = open_descriptors();
  OwnedMemory block = memory(MemoryKind::device, page_bytes);
  const ze_ipc_mem_handle_t first = get(block.get());
  for (int count = 1; count < 5000; ++count) {
    const ze_ipc_mem_handle_t handle = get(block.get());
    ASSERT_EQ(0, std::memcmp(first.data, handle.data, sizeof handle.data));
  }
  EXPECT_LE(open_descriptors(), before + 1);
  for (int count = 0; count < 5000; ++count) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), first));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemPutIpcHandle(context(), first));
  EXPECT_EQ(ZE_RESULT_SUCCESS, block.free());
  EXPECT_EQ(before, open_descriptors());
}

TEST_F(IpcHandles, given_no_descriptor_left_when_a_handle_is_got_then_the_code_says_so_and_later_it_works) {
  const OwnedMemory block = memory(MemoryKind::device, page_bytes);
  rlimit before{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &before));
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &none));
  ze_ipc_mem_handle_t handle{};
  const ze_result_t result = zeMemGetIpcHandle(context(), block.get(), &handle);
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &before));
  EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, result);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), get(block.get())));
}

TEST_F(IpcHandles, given_forged_handles_then_they_are_refused_and_nothing_is_opened) {
  const std::size_t before = open_descriptors();
  Random random(test_seed());
  for (int round = 0; round < 10'000; ++round) {
    ze_ipc_mem_handle_t handle{};
    for (char& byte : handle.data) {
      byte = static_cast<char>(random.next());
    }
    if (round % 2 != 0) {
      const auto small = static_cast<std::int32_t>(random.below(64));
      std::memcpy(handle.data, &small, sizeof small);
    }
    expect_refused(handle);
    if (HasFatalFailure()) {
      return;
    }
  }
  EXPECT_EQ(before, open_descriptors());
}

TEST_F(IpcHandles, given_descriptors_of_other_things_then_they_are_refused_and_stay_open) {
  const int plain = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const int folder = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  for (const std::int32_t fd : {plain, folder, socket, -1, 0, 1 << 20}) {
    ze_ipc_mem_handle_t handle{};
    std::memcpy(handle.data, &fd, sizeof fd);
    expect_refused(handle);
  }
  for (const int fd : {plain, folder, socket}) {
    EXPECT_NE(-1, ::fcntl(fd, F_GETFD));
    ::close(fd);
  }
}

TEST_F(IpcHandles, given_a_real_handle_with_any_byte_of_its_hints_changed_then_other_memory_is_never_opened) {
  const OwnedMemory block = memory(MemoryKind::host, page_bytes);
  std::memset(block.get(), 0x11, page_bytes);
  const OwnedMemory secret = memory(MemoryKind::host, page_bytes);
  std::memset(secret.get(), 0x22, page_bytes);
  const ze_ipc_mem_handle_t good = get(block.get());
  const ze_ipc_mem_handle_t other = get(secret.get());
  for (std::size_t index = 0; index < sizeof good.data; ++index) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      ze_ipc_mem_handle_t handle = good;
      handle.data[index] = static_cast<char>(handle.data[index] ^ flip);
      void* pointer = nullptr;
      const ze_result_t result = open(handle, &pointer);
      if (result == ZE_RESULT_SUCCESS) {
        EXPECT_EQ(0x11, *static_cast<unsigned char*>(pointer));
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), pointer));
      } else {
        EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, result) << index;
      }
    }
  }
  // The descriptor of other shared memory in it: what the hints say is opened, by way of the exporter.
  ze_ipc_mem_handle_t mixed = good;
  std::memcpy(mixed.data, other.data, sizeof(std::int32_t));
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, open(mixed, &pointer)) << last_error_text();
  EXPECT_EQ(0x11, *static_cast<unsigned char*>(pointer));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), pointer));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), good));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), other));
}

TEST_F(IpcHandles, given_a_stale_handle_then_it_opens_nothing_not_even_the_next_owners_memory) {
  OwnedMemory block = memory(MemoryKind::host, page_bytes);
  const ze_ipc_mem_handle_t handle = get(block.get());
  EXPECT_EQ(ZE_RESULT_SUCCESS, block.free());
  const OwnedMemory next = memory(MemoryKind::host, page_bytes);
  const ze_ipc_mem_handle_t next_handle = get(next.get());
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, open(handle, &pointer));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle))
      << "freeing first, putting later is legal";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemPutIpcHandle(context(), handle));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), next_handle));
}

TEST_F(IpcHandles, given_a_handle_when_turned_into_its_descriptor_and_back_then_it_opens) {
  const Bytes content = pattern(page_bytes, 6);
  const OwnedMemory block = memory(MemoryKind::host, page_bytes);
  std::memcpy(block.get(), content.data(), page_bytes);
  const ze_ipc_mem_handle_t handle = get(block.get());
  std::uint64_t fd = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetFileDescriptorFromIpcHandleExp(context(), handle, &fd));
  EXPECT_EQ(static_cast<std::uint64_t>(descriptor_in(handle)), fd);
  ze_ipc_mem_handle_t again{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandleFromFileDescriptorExp(context(), fd, &again));
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, open(again, &pointer));
  EXPECT_EQ(0, std::memcmp(pointer, content.data(), page_bytes));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), pointer));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), again));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
  for (const std::uint64_t wrong : {~std::uint64_t{0}, std::uint64_t{1} << 32U, std::uint64_t{0}}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeMemGetIpcHandleFromFileDescriptorExp(context(), wrong, &again));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemGetIpcHandleFromFileDescriptorExp(context(), fd, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemGetFileDescriptorFromIpcHandleExp(context(), handle, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemGetFileDescriptorFromIpcHandleExp(context(), ze_ipc_mem_handle_t{}, &fd));
}

TEST_F(IpcHandles, given_contexts_and_devices_that_are_none_then_every_function_says_so) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  const OwnedMemory block = memory(MemoryKind::host, page_bytes);
  ze_ipc_mem_handle_t handle = get(block.get());
  void* pointer = nullptr;
  std::uint64_t fd = 0;
  for (ze_context_handle_t wrong : {ze_context_handle_t{}, reinterpret_cast<ze_context_handle_t>(device())}) {
    constexpr ze_result_t refused = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    EXPECT_EQ(refused, zeMemGetIpcHandle(wrong, block.get(), &handle));
    EXPECT_EQ(refused, zeMemGetIpcHandleWithProperties(wrong, block.get(), nullptr, &handle));
    EXPECT_EQ(refused, zeMemOpenIpcHandle(wrong, device(), handle, 0, &pointer));
    EXPECT_EQ(refused,
              zeMemOpenIpcHandle(context(),
                                 reinterpret_cast<ze_device_handle_t>(wrong == nullptr ? nullptr : context()),
                                 handle, 0, &pointer));
    EXPECT_EQ(refused, zeMemCloseIpcHandle(wrong, block.get()));
    EXPECT_EQ(refused, zeMemPutIpcHandle(wrong, handle));
    EXPECT_EQ(refused, zeMemGetIpcHandleFromFileDescriptorExp(wrong, 0, &handle));
    EXPECT_EQ(refused, zeMemGetFileDescriptorFromIpcHandleExp(wrong, handle, &fd));
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
}

TEST_F(IpcHandles, given_threads_that_get_open_close_and_put_then_all_succeeds_and_nothing_is_left) {
  const std::size_t before = open_descriptors();
  {
    const OwnedMemory one = memory(MemoryKind::device, page_bytes);
    const OwnedMemory other = memory(MemoryKind::host, page_bytes);
    std::atomic<int> failures = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&] {
        for (int round = 0; round < by_board(200, 10); ++round) {
          const OwnedMemory own = memory(round % 2 == 0 ? MemoryKind::host : MemoryKind::device, page_bytes);
          for (const void* block : {one.get(), other.get(), own.get()}) {
            ze_ipc_mem_handle_t handle{};
            void* pointer = nullptr;
            const bool good = zeMemGetIpcHandle(context(), block, &handle) == ZE_RESULT_SUCCESS &&
                              open(handle, &pointer) == ZE_RESULT_SUCCESS &&
                              zeMemCloseIpcHandle(context(), pointer) == ZE_RESULT_SUCCESS &&
                              zeMemPutIpcHandle(context(), handle) == ZE_RESULT_SUCCESS;
            failures += good ? 0 : 1;
          }
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(0, failures);
  }
  EXPECT_EQ(before, open_descriptors());
}

}  // namespace
}  // namespace datum::test
