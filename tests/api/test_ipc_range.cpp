// IPC handles of a row of mapped memory that several physical memory objects lie behind: what they open.
#include <cstring>
#include <string>
#include <vector>

#include "tests/api/ipc_range_test.hpp"

namespace datum::test {
namespace {

class IpcRange : public RangeTest {};

TEST_F(IpcRange, given_several_objects_behind_a_row_when_its_handle_is_opened_then_both_are_the_same_bytes) {
  for (const Place place : places) {
    const Row row = make_row(place);
    const Bytes content = pattern(range_bytes, 1);
    fill(row, content);
    const ze_ipc_mem_handle_t handle = get(row.first.at(), range_bytes);
    EXPECT_TRUE(same_bytes(content, download(row.first.at(), range_bytes)));
    unsigned char* const opened = open(handle);
    ASSERT_NE(nullptr, opened);
    EXPECT_NE(row.first.at(), opened);
    EXPECT_TRUE(same_bytes(content, download(opened, range_bytes))) << "across all seams, in one copy";
    const Bytes written = pattern(range_bytes, 2);
    upload(opened, written);
    EXPECT_TRUE(same_bytes(written, download(row.first.at(), range_bytes)));
    if (place == Place::host) {
      EXPECT_EQ(0, std::memcmp(opened, written.data(), range_bytes)) << "host memory is the CPU's, too";
    }
    close(opened);
    put(handle);
  }
}

TEST_F(IpcRange, given_an_opened_range_when_asked_about_then_it_is_one_allocation_of_the_size_asked_for) {
  for (const Place place : places) {
    const Row row = make_row(place);
    for (const std::size_t bytes : {range_bytes, range_bytes - 100, page}) {
      const ze_ipc_mem_handle_t handle = get(row.first.at(), bytes);
      unsigned char* const opened = open(handle);
      void* base = nullptr;
      std::size_t size = 0;
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), opened + bytes - 1, &base, &size));
      EXPECT_EQ(opened, base);
      EXPECT_EQ(bytes, size);
      ze_memory_allocation_properties_t found{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, nullptr,
                                              ZE_MEMORY_TYPE_UNKNOWN, 0, 0};
      ze_device_handle_t owner = nullptr;
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), opened, &found, &owner));
      const bool host = place == Place::host;
      EXPECT_EQ(host ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE, found.type);
      EXPECT_EQ(host ? nullptr : device(), owner);
      EXPECT_EQ(page, found.pageSize);
      unsigned char* const again = open(handle);
      EXPECT_NE(opened, again) << "each open has addresses of its own";
      close(again);
      close(opened);
      EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, zeMemGetAddressRange(context(), opened, &base, &size));
      put(handle);
    }
  }
}

TEST_F(IpcRange, given_a_part_of_a_row_from_its_middle_then_the_handle_begins_and_ends_there) {
  const Row row = make_row(Place::device);
  const Bytes content = pattern(range_bytes, 3);
  fill(row, content);
  const std::size_t from = page;
  const ze_ipc_mem_handle_t handle = get(row.first.at(from), 4 * page);
  unsigned char* const opened = open(handle);
  const Bytes expected(content.begin() + from, content.begin() + from + 4 * page);
  EXPECT_TRUE(same_bytes(expected, download(opened, 4 * page)));
  EXPECT_NE(ZE_RESULT_SUCCESS, copy_code_apart(opened + 4 * page, opened, page)) << "nothing is behind it";
  close(opened);
  put(handle);
}

TEST_F(IpcRange, given_a_part_that_begins_inside_a_page_then_the_opened_pointer_is_of_that_very_byte) {
  for (const Place place : places) {
    const Row row = make_row(place);
    const Bytes content = pattern(range_bytes, 5);
    fill(row, content);
    for (const std::size_t from : {std::size_t{1}, page - 1, 2 * page + 100}) {
      for (const std::size_t bytes : {std::size_t{1}, page, range_bytes - from}) {
        const ze_ipc_mem_handle_t handle = get(row.first.at() + from, bytes);
        unsigned char* const opened = open(handle);
        ASSERT_NE(nullptr, opened);
        const Bytes expected(content.begin() + static_cast<std::ptrdiff_t>(from),
                             content.begin() + static_cast<std::ptrdiff_t>(from + bytes));
        EXPECT_TRUE(same_bytes(expected, download(opened, bytes))) << from << ", " << bytes;
        void* base = nullptr;
        std::size_t size = 0;
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), opened + bytes - 1, &base, &size));
        EXPECT_EQ(opened, base);
        EXPECT_EQ(bytes, size);
        EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND,
                  zeMemGetAddressRange(context(), opened - 1, &base, &size))
            << "what is before it in the page is none of the allocation";
        EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemCloseIpcHandle(context(), opened - from % page));
        close(opened);
        EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemCloseIpcHandle(context(), opened))
            << "closed already";
        put(handle);
      }
    }
  }
}

TEST_F(IpcRange, given_a_handle_when_the_row_changes_then_it_opens_what_was_mapped_when_it_was_made) {
  Row row = make_row(Place::device);
  const Bytes content = pattern(range_bytes, 4);
  fill(row, content);
  const ze_ipc_mem_handle_t handle = get(row.first.at(), range_bytes);
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(row.first.at(2 * page), page));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(row.first.at(2 * page), page, row.objects[3]));
  unsigned char* const before = open(handle);
  EXPECT_TRUE(same_bytes(content, download(before, range_bytes)));
  // Also when the objects are gone: the handle keeps what it stands for until it is put.
  ASSERT_EQ(ZE_RESULT_SUCCESS, row.first.free());
  ASSERT_EQ(ZE_RESULT_SUCCESS, row.second.free());
  for (OwnedPhysical& object : row.objects) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, object.destroy());
  }
  EXPECT_TRUE(same_bytes(content, download(before, range_bytes)));
  unsigned char* const after = open(handle);
  EXPECT_TRUE(same_bytes(content, download(after, range_bytes)));
  close(before);
  put(handle);
  EXPECT_TRUE(same_bytes(content, download(after, range_bytes))) << "what is open stays";
  void* nothing = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemOpenIpcHandle(context(), device(), handle, 0, &nothing));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemPutIpcHandle(context(), handle)) << "it was put already";
  close(after);
}

TEST_F(IpcRange, given_ranges_that_cannot_be_then_each_has_its_code_and_nothing_is_written) {
  const Row row = make_row(Place::device);
  ze_ipc_mem_handle_t handle{};
  std::memset(handle.data, 0x77, sizeof handle.data - 1);
  const ze_ipc_mem_handle_t untouched = handle;
  const auto code = [&](const void* base, std::size_t bytes) {
    return get_range(context(), base, bytes, handle);
  };
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, code(nullptr, page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, code(row.first.at(), 0));
  EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, code(row.first.at(), range_bytes + 1)) << "not reserved";
  EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, code(row.first.at(), SIZE_MAX));
  EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, code(row.first.at(), SIZE_MAX - page));
  EXPECT_NE(std::string::npos, last_error_text().find("nothing is mapped")) << last_error_text();
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(row.first.at(page), page));
  EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, code(row.first.at(), range_bytes)) << "a hole";
  EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, code(row.first.at(page), page));
  for (const MemoryKind kind : all_memory_kinds) {
    const OwnedMemory block = memory(kind, 2 * page);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, code(block.get(), page)) << name_of(kind);
  }
  const OwnedContext other = create_context(driver());
  EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, get_range(other, row.first.at(2 * page), page, handle))
      << "it is mapped in another context";
  ze_ipc_phys_mem_handle_range_ext_desc_t range{ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC, nullptr,
                                                page};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemGetIpcHandleWithProperties(context(), row.first.at(), &range, nullptr));
  EXPECT_EQ(0, std::memcmp(untouched.data, handle.data, sizeof handle.data));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemGetIpcHandleWithProperties(context(), row.second.at(page), nullptr, &handle))
      << "without the structure a handle is of one object, at whose mapping's first byte it begins";
}

TEST_F(IpcRange, given_a_type_of_handle_beside_the_range_then_both_count) {
  const Row row = make_row(Place::device);
  ze_ipc_mem_handle_type_ext_desc_t type{ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, nullptr,
                                         ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT};
  ze_ipc_mem_handle_t handle{};
  EXPECT_EQ(ZE_RESULT_SUCCESS, get_range(context(), row.first.at(), range_bytes, handle, &type));
  close(open(handle));
  put(handle);
  type.typeFlags = ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            get_range(context(), row.first.at(), range_bytes, handle, &type));
  ze_ipc_phys_mem_handle_range_ext_desc_t range{ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC, nullptr,
                                                range_bytes};
  type = {ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, &range, 0};
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandleWithProperties(context(), row.first.at(), &type, &handle));
  close(open(handle));
  put(handle);
}

TEST_F(IpcRange, given_an_opened_range_when_released_wrongly_then_it_is_refused_and_lives_on) {
  const Row row = make_row(Place::both);
  const Bytes content = pattern(range_bytes, 5);
  fill(row, content);
  const ze_ipc_mem_handle_t handle = get(row.first.at(), range_bytes);
  unsigned char* const opened = open(handle);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemCloseIpcHandle(context(), opened + page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemCloseIpcHandle(context(), row.first.at()));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context(), opened));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeVirtualMemFree(context(), opened, range_bytes));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeVirtualMemUnmap(context(), opened, page));
  ze_ipc_mem_handle_t again{};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, get_range(context(), opened, page, again))
      << "opened memory is not shared again";
  EXPECT_TRUE(same_bytes(content, download(opened, range_bytes)));
  close(opened);
  put(handle);
}

}  // namespace
}  // namespace datum::test
