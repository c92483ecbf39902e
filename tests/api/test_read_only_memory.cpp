// Memory that boards may only read, of each kind and wherever it goes: a write fails and not a byte is
// changed.
#include <cstring>

#include "tests/api/external_memory_test.hpp"
#include "tests/support/page.hpp"

namespace datum::test {
namespace {

class ReadOnlyMemory : public ExternalTest {
 protected:
  static constexpr ze_host_mem_alloc_flags_t read_only = ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY;

  [[nodiscard]] OwnedMemory shared_memory(std::size_t bytes, ze_device_handle_t on) const {
    const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, read_only};
    void* pointer = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemAllocShared(context(), &on_device, &on_host, bytes, 0, on, &pointer));
    return {context(), pointer};
  }

  [[nodiscard]] OwnedMemory host_memory(std::size_t bytes, const void* next = nullptr) const {
    const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, next, read_only};
    void* pointer = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(context(), &on_host, bytes, 0, &pointer))
        << last_error_text();
    return {context(), pointer};
  }

  /// On a queue of its own, which a refused command costs.
  [[nodiscard]] ze_result_t write_code(void* to, const void* from, std::size_t bytes) const {
    const OwnedQueue apart = create_queue(context(), device());
    const OwnedList list = create_list(context(), device());
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ze_command_list_handle_t handle = list;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(apart, 1, &handle, nullptr));
    return zeCommandQueueSynchronize(apart, patience_ns);
  }

  /// The board reads `bytes` at `pointer`, and whatever it tries to write there fails.
  void expect_only_read(void* pointer, std::size_t bytes) {
    const Bytes content = pattern(bytes, 3);
    std::memcpy(pointer, content.data(), bytes);
    EXPECT_TRUE(same_bytes(content, download(pointer, bytes)));
    const OwnedMemory source = memory(MemoryKind::device, bytes);
    upload(source.get(), pattern(bytes, 4));
    EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, write_code(pointer, source.get(), bytes));
    EXPECT_NE(std::string::npos, last_error_text().find("write")) << last_error_text();
    EXPECT_TRUE(same_bytes(content.data(), pointer, bytes)) << "not a byte was written";
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetStatus(device()));
  }
};

TEST_F(ReadOnlyMemory, given_shared_memory_with_or_without_a_device_when_the_board_writes_then_it_fails) {
  for (const ze_device_handle_t on : {device(), ze_device_handle_t{}}) {
    for (const std::size_t bytes : {std::size_t{100}, 5 * page_bytes, std::size_t{3} << 20U}) {
      const OwnedMemory block = shared_memory(bytes, on);
      expect_only_read(block.get(), bytes < page_bytes ? bytes : page_bytes);
    }
  }
}

TEST_F(ReadOnlyMemory, given_shared_memory_when_asked_for_read_only_and_write_combined_then_it_is_refused) {
  const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  const ze_host_mem_alloc_desc_t both{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr,
                                      read_only | ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED};
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION,
            zeMemAllocShared(context(), &on_device, &both, page_bytes, 0, device(), &pointer));
  EXPECT_EQ(nullptr, pointer);
  EXPECT_NE(std::string::npos, last_error_text().find("exclude each other")) << last_error_text();
}

TEST_F(ReadOnlyMemory, given_read_only_host_memory_when_its_handle_is_opened_then_there_it_is_read_only_too) {
  for (const std::size_t bytes : {page_bytes, std::size_t{3} << 20U}) {
    const OwnedMemory block = host_memory(bytes);
    ze_ipc_mem_handle_t handle{};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), block.get(), &handle));
    expect_only_read(block.get(), page_bytes);
    void* opened = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), device(), handle, 0, &opened));
    expect_only_read(opened, page_bytes);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), opened));
    ze_ipc_mem_handle_t only_descriptor{};
    std::memcpy(only_descriptor.data, handle.data, sizeof(std::int32_t));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), device(), only_descriptor, 0, &opened));
    const OwnedMemory source = memory(MemoryKind::host, page_bytes);
    EXPECT_EQ(ZE_RESULT_SUCCESS, write_code(opened, source.get(), page_bytes))
        << "a descriptor says nothing of it";
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), opened));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
  }
}

TEST_F(ReadOnlyMemory, given_memory_exported_and_imported_then_each_side_is_as_it_was_asked_for) {
  const ze_external_memory_export_desc_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                opaque_fd};
  const OwnedMemory block = host_memory(page_bytes, &wanted);
  expect_only_read(block.get(), page_bytes);
  const int fd = descriptor_of(block.get());
  const OwnedMemory writable = imported(MemoryKind::host, fd, page_bytes);
  const OwnedMemory source = memory(MemoryKind::host, page_bytes);
  EXPECT_EQ(ZE_RESULT_SUCCESS, write_code(writable.get(), source.get(), page_bytes));
  const ze_external_memory_import_fd_t from{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr, opaque_fd,
                                            fd};
  const OwnedMemory guarded = host_memory(page_bytes, &from);
  expect_only_read(guarded.get(), page_bytes);
}

}  // namespace
}  // namespace datum::test
