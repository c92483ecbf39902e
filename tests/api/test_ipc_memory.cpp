// Memory that is shared through IPC handles, opened in the process that exported it.
#include <cstring>
#include <fstream>
#include <sys/mman.h>

#include "tests/support/api_session.hpp"
#include "tests/support/page.hpp"

namespace datum::test {
namespace {

class IpcMemory : public ApiTest {
 protected:
  [[nodiscard]] ze_ipc_mem_handle_t get(const void* pointer) const {
    ze_ipc_mem_handle_t handle{};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), pointer, &handle)) << last_error_text();
    return handle;
  }

  [[nodiscard]] void* open(const ze_ipc_mem_handle_t& handle, ze_ipc_memory_flags_t flags = 0) const {
    void* pointer = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), device(), handle, flags, &pointer))
        << last_error_text();
    return pointer;
  }

  void close(const void* pointer) const {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), pointer)) << last_error_text();
  }

  void put(const ze_ipc_mem_handle_t& handle) const {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle)) << last_error_text();
  }

  [[nodiscard]] ze_memory_allocation_properties_t properties(const void* pointer,
                                                             ze_device_handle_t* owner = nullptr) const {
    ze_memory_allocation_properties_t found{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, nullptr,
                                            ZE_MEMORY_TYPE_UNKNOWN, 0, 0};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), pointer, &found, owner));
    return found;
  }
};

/// Whether the CPU has any access to the page_bytes of `pointer`.
bool cpu_may_access(const void* pointer) {
  std::ifstream maps("/proc/self/maps");
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t end = 0;
    char rights[5]{};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &first, &end, rights) == 3 && address >= first &&
        address < end) {
      return rights[0] != '-' || rights[1] != '-';
    }
  }
  return false;
}

TEST_F(IpcMemory, given_device_memory_when_opened_then_both_pointers_are_the_same_bytes) {
  const std::size_t bytes = by_board<std::size_t>(3'000'001, 9000);
  const Bytes before = pattern(bytes, 1);
  const OwnedMemory block = memory(MemoryKind::device, bytes);
  upload(block.get(), before);
  const ze_ipc_mem_handle_t handle = get(block.get());
  EXPECT_TRUE(same_bytes(before, download(block.get(), bytes)))
      << "exporting moves the pages and keeps the bytes";
  void* opened = open(handle);
  ASSERT_NE(nullptr, opened);
  EXPECT_NE(block.get(), opened);
  EXPECT_TRUE(same_bytes(before, download(opened, bytes)));
  const Bytes after = pattern(bytes, 2);
  upload(opened, after);
  EXPECT_TRUE(same_bytes(after, download(block.get(), bytes)));
  const Bytes last = pattern(bytes, 3);
  upload(block.get(), last);
  EXPECT_TRUE(same_bytes(last, download(opened, bytes)));
  close(opened);
  put(handle);
}

TEST_F(IpcMemory, given_host_memory_small_and_large_when_opened_then_cpu_and_board_see_the_same_bytes) {
  for (const std::size_t bytes :
       {std::size_t{100}, 3 * page_bytes, std::size_t{700'000}, std::size_t{3'000'000}}) {
    if (on_rtl() && bytes > 100'000) {
      continue;
    }
    const OwnedMemory before = memory(MemoryKind::host, page_bytes);
    const OwnedMemory block = memory(MemoryKind::host, bytes);
    const OwnedMemory after = memory(MemoryKind::host, page_bytes);
    std::memset(before.get(), 1, page_bytes);
    std::memset(after.get(), 2, page_bytes);
    const Bytes content = pattern(bytes, 1);
    std::memcpy(block.get(), content.data(), bytes);
    const ze_ipc_mem_handle_t handle = get(block.get());
    EXPECT_EQ(0, std::memcmp(block.get(), content.data(), bytes)) << bytes;
    auto* opened = static_cast<unsigned char*>(open(handle));
    ASSERT_NE(nullptr, opened);
    EXPECT_EQ(0, std::memcmp(opened, content.data(), bytes)) << bytes;
    opened[bytes - 1] ^= 0xff;
    block.bytes()[0] ^= 0xff;
    EXPECT_EQ(opened[bytes - 1], block.bytes()[bytes - 1]);
    EXPECT_EQ(opened[0], block.bytes()[0]);
    // The board, by either address.
    const Bytes other = pattern(bytes, 2);
    upload(block.get(), other);
    EXPECT_TRUE(same_bytes(other, download(opened, bytes))) << bytes;
    upload(opened, content);
    EXPECT_EQ(0, std::memcmp(block.get(), content.data(), bytes)) << bytes;
    EXPECT_EQ(before.bytes()[page_bytes - 1], 1);
    EXPECT_EQ(after.bytes()[0], 2);
    close(opened);
    put(handle);
  }
}

TEST_F(IpcMemory,
       given_opened_memory_when_asked_about_then_it_is_what_was_exported_with_an_identity_of_its_own) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    const OwnedMemory block = memory(kind, 5000);
    const ze_ipc_mem_handle_t handle = get(block.get());
    auto* opened = static_cast<std::byte*>(open(handle));
    ASSERT_NE(nullptr, opened);
    ze_device_handle_t owner = nullptr;
    const auto found = properties(opened + 100, &owner);
    EXPECT_EQ(type_of(kind), found.type);
    EXPECT_EQ(kind == MemoryKind::device ? device() : nullptr, owner);
    EXPECT_NE(properties(block.get()).id, found.id);
    EXPECT_EQ(page_bytes, found.pageSize);
    void* base = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), opened + 4999, &base, &size));
    EXPECT_EQ(opened, base);
    EXPECT_EQ(5000U, size);
    EXPECT_EQ(kind == MemoryKind::host, cpu_may_access(opened)) << "device memory has no mapping for the CPU";
    close(opened);
    EXPECT_EQ(ZE_MEMORY_TYPE_UNKNOWN, properties(opened).type);
    EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, zeMemGetAddressRange(context(), opened, &base, &size));
    put(handle);
  }
}

TEST_F(IpcMemory,
       given_one_handle_when_opened_several_times_then_pointers_are_unique_and_live_their_own_lives) {
  const Bytes content = pattern(2 * page_bytes, 1);
  const OwnedMemory block = memory(MemoryKind::device, content.size());
  upload(block.get(), content);
  const ze_ipc_mem_handle_t handle = get(block.get());
  void* first = open(handle);
  void* second = open(handle, ZE_IPC_MEMORY_FLAG_BIAS_UNCACHED);
  EXPECT_NE(first, second);
  close(first);
  EXPECT_TRUE(same_bytes(content, download(second, content.size())));
  void* third = open(handle, ZE_IPC_MEMORY_FLAG_BIAS_CACHED);
  close(second);
  EXPECT_TRUE(same_bytes(content, download(third, content.size())));
  close(third);
  put(handle);
}

TEST_F(IpcMemory, given_an_exporter_that_frees_then_the_importer_keeps_the_bytes_and_sees_no_later_ones) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    const std::size_t bytes = by_board<std::size_t>(200'000, 3 * page_bytes);
    const Bytes content = pattern(bytes, 1);
    OwnedMemory block = memory(kind, bytes);
    upload(block.get(), content);
    void* opened = open(get(block.get()));
    ASSERT_NE(nullptr, opened);
    EXPECT_EQ(ZE_RESULT_SUCCESS, block.free());
    EXPECT_TRUE(same_bytes(content, download(opened, bytes)));
    std::vector<OwnedMemory> next;
    for (int index = 0; index < 8; ++index) {
      next.push_back(memory(kind, bytes));
      upload(next.back().get(), Bytes(bytes, 0xee));
    }
    EXPECT_TRUE(same_bytes(content, download(opened, bytes)));
    upload(opened, pattern(bytes, 2));
    for (const OwnedMemory& one : next) {
      EXPECT_TRUE(same_bytes(Bytes(bytes, 0xee), download(one.get(), bytes)));
    }
    close(opened);
  }
}

TEST_F(IpcMemory, given_pages_that_hold_another_contexts_bytes_when_exported_unused_then_they_were_cleared) {
  const std::size_t bytes = by_board<std::size_t>(1 << 20, 4 * page_bytes);
  {
    const OwnedContext other = create_context(driver());
    const OwnedMemory dirty = allocate(MemoryKind::device, other, device(), bytes);
    const OwnedQueue other_queue = create_queue(other, device());
    const OwnedList list = create_list(other, device());
    const std::uint8_t secret = 0x5e;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryFill(list, dirty.get(), &secret, 1, bytes, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ze_command_list_handle_t handle = list;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(other_queue, 1, &handle, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(other_queue, patience_ns));
  }
  const OwnedMemory block = memory(MemoryKind::device, bytes);
  const ze_ipc_mem_handle_t handle = get(block.get());
  std::int32_t fd = -1;
  std::memcpy(&fd, handle.data, sizeof fd);
  void* view = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(MAP_FAILED, view);
  EXPECT_TRUE(same_bytes(
      Bytes(bytes, 0), Bytes(static_cast<unsigned char*>(view), static_cast<unsigned char*>(view) + bytes)));
  ::munmap(view, bytes);
  put(handle);
}

TEST_F(IpcMemory,
       given_a_client_that_maps_the_descriptor_itself_then_it_sees_the_allocation_from_its_first_byte) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    const Bytes content = pattern(3 * page_bytes, 1);
    const OwnedMemory block = memory(kind, content.size());
    upload(block.get(), content);
    const ze_ipc_mem_handle_t handle = get(block.get());
    std::int32_t fd = -1;
    std::memcpy(&fd, handle.data, sizeof fd);
    void* view = ::mmap(nullptr, content.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ASSERT_NE(MAP_FAILED, view);
    EXPECT_EQ(0, std::memcmp(view, content.data(), content.size()));
    const Bytes written = pattern(content.size(), 2);
    std::memcpy(view, written.data(), written.size());
    EXPECT_TRUE(same_bytes(written, download(block.get(), written.size())));
    ::munmap(view, content.size());
    put(handle);
  }
}

TEST_F(IpcMemory, given_what_cannot_be_exported_then_the_code_says_so_and_nothing_is_written) {
  ze_ipc_mem_handle_t handle{};
  std::memset(handle.data, 0x77, sizeof handle.data - 1);  // the validation layer takes it for a C string
  const ze_ipc_mem_handle_t untouched = handle;
  const OwnedMemory block = memory(MemoryKind::device, 3 * page_bytes);
  const OwnedMemory host = memory(MemoryKind::host, 3 * page_bytes);
  const OwnedMemory shared = memory(MemoryKind::shared, page_bytes);
  const OwnedMemory onchip = memory(MemoryKind::onchip, page_bytes);
  int local = 0;
  for (const void* pointer :
       {static_cast<const void*>(block.bytes() + page_bytes), static_cast<const void*>(block.bytes() + 1),
        static_cast<const void*>(host.bytes() + page_bytes), static_cast<const void*>(shared.get()),
        static_cast<const void*>(&local)}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetIpcHandle(context(), pointer, &handle));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeMemGetIpcHandle(context(), onchip.get(), &handle));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeMemGetIpcHandle(context(), nullptr, &handle));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeMemGetIpcHandle(context(), block.get(), nullptr));
  const OwnedContext other = create_context(driver());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetIpcHandle(other, block.get(), &handle));
  EXPECT_EQ(0, std::memcmp(untouched.data, handle.data, sizeof handle.data));
  void* opened = open(get(block.get()));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetIpcHandle(context(), opened, &handle));
  close(opened);
}

TEST_F(IpcMemory, given_types_of_handle_when_asked_for_then_the_default_is_made_and_a_fabric_is_refused) {
  const OwnedMemory block = memory(MemoryKind::device, page_bytes);
  ze_ipc_mem_handle_type_ext_desc_t type{ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, nullptr,
                                         ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT};
  ze_ipc_mem_handle_t handle{};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemGetIpcHandleWithProperties(context(), nullptr, nullptr, &handle));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemGetIpcHandleWithProperties(context(), block.get(), nullptr, nullptr));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandleWithProperties(context(), block.get(), nullptr, &handle));
  put(handle);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandleWithProperties(context(), block.get(), &type, &handle));
  close(open(handle));
  put(handle);
  type.typeFlags = ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeMemGetIpcHandleWithProperties(context(), block.get(), &type, &handle));
  type.typeFlags = 4;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemGetIpcHandleWithProperties(context(), block.get(), &type, &handle));
}

TEST_F(IpcMemory, given_types_of_handle_when_allocating_then_the_default_is_made_and_a_fabric_is_refused) {
  ze_ipc_mem_handle_type_ext_desc_t type{ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, nullptr, 0};
  const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, &type, 0, 0};
  const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &type, 0};
  const auto allocate_both = [&](ze_ipc_mem_handle_type_flags_t flags) {
    type.typeFlags = flags;
    void* pointers[2]{};
    const ze_result_t results[] = {
        zeMemAllocDevice(context(), &on_device, page_bytes, 0, device(), &pointers[0]),
        zeMemAllocHost(context(), &on_host, page_bytes, 0, &pointers[1])};
    EXPECT_EQ(results[0], results[1]);
    for (std::size_t index = 0; index < 2; ++index) {
      if (results[index] == ZE_RESULT_SUCCESS) {
        close(open(get(pointers[index])));
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemFree(context(), pointers[index]));
      }
    }
    return results[0];
  };
  EXPECT_EQ(ZE_RESULT_SUCCESS, allocate_both(0));
  EXPECT_EQ(ZE_RESULT_SUCCESS, allocate_both(ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
            allocate_both(ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, allocate_both(4));
}

TEST_F(IpcMemory, given_the_wrong_release_when_called_then_it_is_invalid_and_both_live_on) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    const Bytes content = pattern(2 * page_bytes, 4);
    const OwnedMemory block = memory(kind, content.size());
    upload(block.get(), content);
    auto* opened = static_cast<std::byte*>(open(get(block.get())));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context(), opened));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemCloseIpcHandle(context(), block.get()));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemCloseIpcHandle(context(), opened + page_bytes));
    const OwnedContext other = create_context(driver());
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemCloseIpcHandle(other, opened));
    EXPECT_TRUE(same_bytes(content, download(opened, content.size())));
    EXPECT_TRUE(same_bytes(content, download(block.get(), content.size())));
    close(opened);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemCloseIpcHandle(context(), opened));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeMemCloseIpcHandle(context(), nullptr));
}

TEST_F(IpcMemory, given_wrong_arguments_of_open_then_each_has_its_code) {
  const OwnedMemory block = memory(MemoryKind::device, page_bytes);
  const ze_ipc_mem_handle_t handle = get(block.get());
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION,
            zeMemOpenIpcHandle(context(), device(), handle, 4, &pointer));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemOpenIpcHandle(context(), device(), handle, 0, nullptr));
  EXPECT_EQ(nullptr, pointer);
  put(handle);
}

TEST_F(IpcMemory, given_read_only_host_memory_when_exported_then_the_boards_writes_are_still_refused) {
  ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr,
                                       ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY};
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(context(), &description, page_bytes, 0, &pointer));
  const OwnedMemory block(context(), pointer);
  std::memset(pointer, 9, page_bytes);
  put(get(pointer));
  const OwnedMemory source = memory(MemoryKind::host, page_bytes);
  EXPECT_NE(ZE_RESULT_SUCCESS, copy_code(pointer, source.get(), page_bytes));
  EXPECT_EQ(9, block.bytes()[0]);
}

TEST_F(IpcMemory, given_memory_opened_and_left_open_when_its_context_ends_then_all_of_it_is_given_back) {
  const OwnedMemory block = memory(MemoryKind::host, 3 * page_bytes);
  const ze_ipc_mem_handle_t handle = get(block.get());
  OwnedContext other = create_context(driver());
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(other, device(), handle, 0, &pointer));
  ASSERT_TRUE(cpu_may_access(pointer));
  EXPECT_EQ(ZE_RESULT_SUCCESS, other.destroy());
  EXPECT_FALSE(cpu_may_access(pointer));
  put(handle);
}

}  // namespace
}  // namespace datum::test
