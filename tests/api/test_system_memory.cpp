// System memory as a host allocation: ze_external_memmap_sysmem_ext_desc_t.
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include <datum/base/mapping.hpp>
#include <datum/base/unique_fd.hpp>

#include "tests/support/api_session.hpp"
#include "tests/support/page.hpp"

namespace datum::test {
namespace {

class SystemMemory : public ApiTest {
 protected:
  static Mapping map(std::size_t bytes, int protection = PROT_READ | PROT_WRITE, int file = -1) {
    void* base =
        ::mmap(nullptr, bytes, protection, file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
    EXPECT_NE(MAP_FAILED, base);
    return Mapping(base, bytes);
  }

  static UniqueFd temporary_file(std::size_t bytes) {
    UniqueFd file(::memfd_create("system-memory-test", MFD_CLOEXEC));
    EXPECT_EQ(0, ::ftruncate(file.get(), static_cast<off_t>(bytes)));
    return file;
  }

  /// The bare call; `description_bytes` is what the extension says.
  [[nodiscard]] ze_result_t import_raw(void* memory, std::size_t bytes, std::size_t description_bytes,
                                       void** pointer, ze_host_mem_alloc_flags_t flags = 0,
                                       std::size_t alignment = 0) const {
    const ze_external_memmap_sysmem_ext_desc_t system{ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                                                      nullptr, memory, description_bytes};
    const ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &system, flags};
    return zeMemAllocHost(context(), &description, bytes, alignment, pointer);
  }

  [[nodiscard]] ze_result_t import_code(void* memory, std::size_t bytes,
                                        ze_host_mem_alloc_flags_t flags = 0) const {
    void* pointer = nullptr;
    const ze_result_t code = import_raw(memory, bytes, bytes, &pointer, flags);
    const OwnedMemory released(context(), pointer);
    EXPECT_EQ(code == ZE_RESULT_SUCCESS ? memory : nullptr, pointer);
    return code;
  }

  [[nodiscard]] OwnedMemory import(void* memory, std::size_t bytes,
                                   ze_host_mem_alloc_flags_t flags = 0) const {
    void* pointer = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, import_raw(memory, bytes, bytes, &pointer, flags)) << last_error_text();
    EXPECT_EQ(memory, pointer) << "the address is preserved";
    return OwnedMemory(context(), pointer);
  }

  /// Both ways through the board.
  void expect_board_uses(unsigned char* memory, std::size_t bytes) {
    const Bytes in = pattern(bytes, 11);
    std::memcpy(memory, in.data(), bytes);
    const OwnedMemory on_device = this->memory(MemoryKind::device, bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(on_device.get(), memory, bytes));
    EXPECT_TRUE(same_bytes(in, download(on_device.get(), bytes)));
    const Bytes out = pattern(bytes, 12);
    upload(on_device.get(), out);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(memory, on_device.get(), bytes));
    EXPECT_TRUE(same_bytes(out.data(), memory, bytes));
  }
};

TEST_F(SystemMemory, given_heap_memory_when_imported_then_it_is_a_host_allocation_at_its_own_address) {
  void* heap = std::aligned_alloc(page_bytes, 4 * page_bytes);
  {
    OwnedMemory imported = import(heap, 4 * page_bytes);
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    ze_device_handle_t owner = device();
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeMemGetAllocProperties(context(), imported.bytes() + page_bytes + 5, &properties, &owner));
    EXPECT_EQ(ZE_MEMORY_TYPE_HOST_IMPORTED, properties.type);
    EXPECT_NE(0U, properties.id);
    EXPECT_EQ(nullptr, owner);
    void* base = nullptr;
    std::size_t size = 0;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeMemGetAddressRange(context(), imported.bytes() + 4 * page_bytes - 1, &base, &size));
    EXPECT_EQ(heap, base);
    EXPECT_EQ(4 * page_bytes, size);
    expect_board_uses(imported.bytes(), 4 * page_bytes);
    EXPECT_EQ(ZE_RESULT_SUCCESS, imported.free());
    EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, zeMemGetAddressRange(context(), heap, &base, &size));
  }
  std::memset(heap, 1, 4 * page_bytes);
  expect_board_uses(static_cast<unsigned char*>(heap), 4 * page_bytes);
  std::free(heap);
}

TEST_F(SystemMemory, given_stack_static_and_file_memory_when_imported_then_the_board_uses_it) {
  alignas(65536) static unsigned char in_program[2 * 65536];
  {
    const OwnedMemory imported = import(in_program, page_bytes);
    expect_board_uses(in_program, page_bytes);
  }
  alignas(4096) unsigned char on_stack[2 * 4096];
  const OwnedMemory from_stack = import(on_stack, sizeof on_stack);
  expect_board_uses(on_stack, sizeof on_stack);
  const UniqueFd file = temporary_file(3 * page_bytes);
  const Mapping mapped = map(3 * page_bytes, PROT_READ | PROT_WRITE, file.get());
  const OwnedMemory imported = import(mapped.data(), 3 * page_bytes);
  expect_board_uses(imported.bytes(), 3 * page_bytes);
  Bytes in_file(3 * page_bytes);
  ASSERT_EQ(static_cast<ssize_t>(in_file.size()), ::pread(file.get(), in_file.data(), in_file.size(), 0));
  EXPECT_TRUE(same_bytes(in_file.data(), mapped.data(), in_file.size()));
}

TEST_F(SystemMemory, given_memory_that_is_not_whole_pages_when_imported_then_address_and_size_are_named) {
  const Mapping memory = map(4 * page_bytes);
  auto* first = reinterpret_cast<unsigned char*>(memory.data());
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, import_code(first + 1, page_bytes));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, import_code(first + page_bytes / 2, page_bytes));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, import_code(first, page_bytes - 1));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, import_code(first, page_bytes + 1));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, import_code(first, 0));
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_raw(first, page_bytes, 2 * page_bytes, &pointer))
      << "two sizes";
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
            import_raw(first + page_bytes, page_bytes, page_bytes, &pointer, 0, std::size_t{1} << 30U))
      << "an alignment that the memory does not have";
  EXPECT_EQ(nullptr, pointer);
  EXPECT_EQ(ZE_RESULT_SUCCESS, import_code(first, 4 * page_bytes)) << "and nothing is left of the failures";
}

TEST_F(SystemMemory, given_what_cannot_be_mapped_when_imported_then_it_is_an_invalid_argument) {
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_code(nullptr, page_bytes));
  const Mapping no_access = map(page_bytes, PROT_NONE);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_code(no_access.data(), page_bytes));
  Mapping gone = map(4 * page_bytes);
  auto* first = reinterpret_cast<unsigned char*>(gone.data());
  ASSERT_EQ(0, ::munmap(first + 2 * page_bytes, page_bytes));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_code(first, 4 * page_bytes)) << "a hole";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_code(first + 2 * page_bytes, page_bytes))
      << "nothing there";
  const UniqueFd file = temporary_file(page_bytes);
  const Mapping beyond = map(4 * page_bytes, PROT_READ | PROT_WRITE, file.get());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_code(beyond.data(), 4 * page_bytes))
      << "behind the file's end";
  EXPECT_EQ(ZE_RESULT_SUCCESS, import_code(beyond.data(), page_bytes));
}

TEST_F(SystemMemory, given_a_range_that_meets_an_allocation_when_imported_then_it_is_refused) {
  const Mapping memory = map(8 * page_bytes);
  auto* first = reinterpret_cast<unsigned char*>(memory.data());
  OwnedMemory middle = import(first + 2 * page_bytes, 3 * page_bytes);
  for (const auto& [from, pages] :
       {std::pair<std::size_t, std::size_t>{2, 3}, {1, 2}, {4, 2}, {3, 1}, {0, 8}}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_code(first + from * page_bytes, pages * page_bytes))
        << from;
  }
  expect_board_uses(middle.bytes(), 3 * page_bytes);
  EXPECT_EQ(ZE_RESULT_SUCCESS, import_code(first, 2 * page_bytes)) << "a neighbour";
  EXPECT_EQ(ZE_RESULT_SUCCESS, import_code(first + 5 * page_bytes, page_bytes));
  const OwnedContext other = create_context(driver());
  void* pointer = nullptr;
  const ze_external_memmap_sysmem_ext_desc_t system{ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                                                    nullptr, first + 2 * page_bytes, page_bytes};
  const ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &system, 0};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemAllocHost(other, &description, page_bytes, 0, &pointer));
  EXPECT_EQ(ZE_RESULT_SUCCESS, middle.free());
  EXPECT_EQ(ZE_RESULT_SUCCESS, import_code(first, 8 * page_bytes));
  for (const MemoryKind kind : all_memory_kinds) {
    const OwnedMemory block = this->memory(kind, 2 * page_bytes, page_bytes);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_code(block.get(), page_bytes)) << name_of(kind);
  }
}

TEST_F(SystemMemory, given_read_only_memory_when_imported_then_only_as_read_only_and_the_board_holds_to_it) {
  const UniqueFd file = temporary_file(2 * page_bytes);
  const Bytes bytes = pattern(2 * page_bytes, 21);
  ASSERT_EQ(static_cast<ssize_t>(bytes.size()), ::pwrite(file.get(), bytes.data(), bytes.size(), 0));
  const Mapping mapped = map(2 * page_bytes, PROT_READ, file.get());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_code(mapped.data(), 2 * page_bytes));
  OwnedMemory imported = import(mapped.data(), 2 * page_bytes, ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY);
  EXPECT_TRUE(same_bytes(bytes, download(imported.get(), 2 * page_bytes)));
  const OwnedMemory source = memory(MemoryKind::device, 2 * page_bytes);
  upload(source.get(), Bytes(2 * page_bytes, 0xaa));
  {
    OwnedQueue victim = create_queue(context(), device());
    OwnedList list = create_list(context(), device());
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, imported.get(), source.get(),
                                                               2 * page_bytes, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ze_command_list_handle_t handle = list;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(victim, 1, &handle, nullptr));
    EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim, patience_ns));
  }
  EXPECT_TRUE(same_bytes(bytes.data(), imported.get(), 2 * page_bytes)) << "not a byte was written";
  EXPECT_EQ(ZE_RESULT_SUCCESS, imported.free());
}

TEST_F(SystemMemory, given_writable_memory_imported_read_only_when_the_board_writes_then_that_is_refused) {
  const Mapping mapped = map(2 * page_bytes);
  std::memset(mapped.data(), 3, 2 * page_bytes);
  const OwnedMemory imported = import(mapped.data(), 2 * page_bytes, ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY);
  const OwnedMemory source = memory(MemoryKind::device, page_bytes);
  OwnedQueue victim = create_queue(context(), device());
  OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, imported.get(), source.get(), page_bytes,
                                                             nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(victim, 1, &handle, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim, patience_ns));
  EXPECT_TRUE(same_bytes(Bytes(2 * page_bytes, 3).data(), imported.get(), 2 * page_bytes));
  // Nor through a copy that begins before the import and runs into it.
  const Mapping larger = map(4 * page_bytes);
  auto* first = reinterpret_cast<unsigned char*>(larger.data());
  std::memset(first, 4, 4 * page_bytes);
  const OwnedMemory behind =
      import(first + 2 * page_bytes, 2 * page_bytes, ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY);
  EXPECT_NE(ZE_RESULT_SUCCESS, copy_code(first + page_bytes, source.get(), 2 * page_bytes));
  EXPECT_TRUE(same_bytes(Bytes(2 * page_bytes, 4).data(), behind.get(), 2 * page_bytes));
}

TEST_F(SystemMemory,
       given_imports_amid_other_memory_when_copies_begin_and_end_anywhere_then_all_of_it_is_used) {
  constexpr std::size_t pages = 24;
  const Mapping whole = map(pages * page_bytes);
  auto* const bytes = reinterpret_cast<unsigned char*>(whole.data());
  const OwnedMemory first = import(bytes + 4 * page_bytes, 8 * page_bytes);
  const OwnedMemory second = import(bytes + 12 * page_bytes, 4 * page_bytes);
  const OwnedMemory on_board = memory(MemoryKind::device, pages * page_bytes);
  unsigned seed = 7;
  // From the first import to behind it, over both, before it into it, over everything.
  for (const auto& [begin, count] : {std::pair{9U, 8U}, {5U, 15U}, {2U, 4U}, {0U, 24U}, {13U, 5U}}) {
    SCOPED_TRACE("pages from " + std::to_string(begin) + ", so many: " + std::to_string(count));
    write_pattern(bytes, pages * page_bytes, ++seed);
    const Bytes before(bytes, bytes + pages * page_bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(on_board.get(), bytes + begin * page_bytes, count * page_bytes));
    std::memset(bytes + begin * page_bytes, 0, count * page_bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(bytes + begin * page_bytes, on_board.get(), count * page_bytes));
    EXPECT_TRUE(same_bytes(before.data(), bytes, before.size()));
  }
}

TEST_F(SystemMemory, given_memory_unmapped_before_its_release_when_released_then_nothing_breaks) {
  Mapping mapped = map(2 * page_bytes);
  void* first = mapped.data();
  OwnedMemory imported = import(first, 2 * page_bytes);
  mapped = Mapping{};
  const OwnedMemory target = memory(MemoryKind::device, page_bytes);
  OwnedQueue victim = create_queue(context(), device());
  OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, target.get(), imported.get(), page_bytes,
                                                             nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(victim, 1, &handle, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, imported.free());
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetStatus(device()));
  const OwnedMemory block = memory(MemoryKind::device, 100);
  upload(block.get(), pattern(100, 1));
  EXPECT_TRUE(same_bytes(pattern(100, 1), download(block.get(), 100)));
}

TEST_F(SystemMemory,
       given_an_imported_file_that_is_cut_short_when_copied_then_the_copy_fails_and_no_signal_comes) {
  const UniqueFd file = temporary_file(4 * page_bytes);
  const Mapping mapped = map(4 * page_bytes, PROT_READ | PROT_WRITE, file.get());
  OwnedMemory imported = import(mapped.data(), 4 * page_bytes);
  ASSERT_EQ(0, ::ftruncate(file.get(), static_cast<off_t>(page_bytes)));
  const OwnedMemory other = memory(MemoryKind::device, 4 * page_bytes);
  for (const bool write : {false, true}) {
    OwnedQueue victim = create_queue(context(), device());
    OwnedList list = create_list(context(), device());
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, write ? imported.get() : other.get(),
                                                               write ? other.get() : imported.get(),
                                                               4 * page_bytes, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ze_command_list_handle_t handle = list;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(victim, 1, &handle, nullptr));
    EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim, patience_ns)) << write;
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, imported.free());
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextGetStatus(context()));
}

TEST_F(SystemMemory,
       given_a_context_with_imports_when_destroyed_then_the_memory_stays_and_can_be_imported_again) {
  const Mapping mapped = map(2 * page_bytes);
  const ze_external_memmap_sysmem_ext_desc_t system{ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                                                    nullptr, mapped.data(), 2 * page_bytes};
  const ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &system, 0};
  for (int round = 0; round < 3; ++round) {
    OwnedContext other = create_context(driver());
    void* pointer = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(other, &description, 2 * page_bytes, 0, &pointer)) << round;
    std::memset(pointer, round, 2 * page_bytes);
    EXPECT_EQ(ZE_RESULT_SUCCESS, other.destroy());
    EXPECT_TRUE(
        same_bytes(Bytes(2 * page_bytes, static_cast<unsigned char>(round)).data(), pointer, 2 * page_bytes));
  }
}

TEST_F(SystemMemory, given_a_copy_in_flight_when_the_import_is_freed_with_a_policy_then_the_copy_is_right) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  const Mapping mapped = map(2 * page_bytes);
  std::memset(mapped.data(), 9, 2 * page_bytes);
  OwnedMemory imported = import(mapped.data(), 2 * page_bytes);
  const OwnedMemory target = memory(MemoryKind::shared, 2 * page_bytes);
  OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ze_event_handle_t waits = gate;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, target.get(), imported.get(),
                                                             2 * page_bytes, nullptr, 1, &waits));
  const ze_memory_free_ext_desc_t deferring{ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, nullptr,
                                            ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemFreeExt(context(), &deferring, imported.release()));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns)) << last_error_text();
  EXPECT_TRUE(same_bytes(Bytes(2 * page_bytes, 9).data(), target.get(), 2 * page_bytes));
  EXPECT_EQ(ZE_RESULT_SUCCESS, list.destroy());
}

}  // namespace
}  // namespace datum::test
