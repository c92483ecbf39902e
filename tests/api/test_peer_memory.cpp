// Memory of one board that commands of another use: opened, imported, mapped, filled.
#include <cstring>

#include "tests/api/external_memory_test.hpp"
#include "tests/api/ipc_range_test.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

class PeerMemory : public RangeTest {
 protected:
  void SetUp() override {
    if (mode() != Mode::two_boards) {
      GTEST_SKIP() << "needs two boards";
    }
    RangeTest::SetUp();
  }

  [[nodiscard]] static ze_device_handle_t board(std::size_t index) { return session().devices[index]; }

  [[nodiscard]] OwnedList list_on(std::size_t index) const {
    return create_immediate_list(context(), board(index), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  }

  [[nodiscard]] ze_result_t copy_on(std::size_t index, void* to, const void* from, std::size_t bytes) const {
    return zeCommandListAppendMemoryCopy(list_on(index), to, from, bytes, nullptr, 0, nullptr);
  }

  /// Each board writes at `one` and the other finds it at `other`: two pointers to the same bytes.
  void expect_both_boards_use(void* one, void* other, std::size_t bytes) const {
    const OwnedMemory host = memory(MemoryKind::host, 2 * bytes);
    for (const std::size_t writer : {0U, 1U}) {
      write_pattern(host.get(), bytes, 10 + writer);
      std::memset(host.bytes() + bytes, 0, bytes);
      EXPECT_EQ(ZE_RESULT_SUCCESS, copy_on(writer, one, host.get(), bytes)) << last_error_text();
      EXPECT_EQ(ZE_RESULT_SUCCESS, copy_on(1 - writer, host.bytes() + bytes, other, bytes))
          << last_error_text();
      EXPECT_TRUE(same_bytes(host.bytes(), host.bytes() + bytes, bytes)) << "written by " << writer;
    }
  }
};

TEST_F(PeerMemory, given_memory_opened_on_one_board_when_the_other_uses_it_then_both_see_the_bytes) {
  for (const std::size_t opener : {0U, 1U}) {
    const OwnedMemory block = allocate(MemoryKind::device, context(), board(0), 3 * page + 5);
    ze_ipc_mem_handle_t handle{};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), block.get(), &handle));
    void* opened = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), board(opener), handle, 0, &opened));
    expect_both_boards_use(opened, block.get(), 3 * page + 5);
    close(opened);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_on(1 - opener, block.get(), opened, page));
    put(handle);
  }
}

TEST_F(PeerMemory, given_a_descriptor_imported_on_one_board_when_the_other_uses_it_then_both_see_the_bytes) {
  const ze_external_memory_export_desc_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                opaque_fd};
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            allocate_with(MemoryKind::device, context(), board(0), &wanted, 5000, &pointer));
  const OwnedMemory block(context(), pointer);
  ze_external_memory_export_fd_t asked{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, opaque_fd, -1};
  ze_memory_allocation_properties_t properties{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, &asked,
                                               ZE_MEMORY_TYPE_UNKNOWN, 0, 0};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), pointer, &properties, nullptr));
  void* imported = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            import_raw(MemoryKind::device, context(), board(1), asked.fd, 5000, &imported));
  const OwnedMemory taken(context(), imported);
  expect_both_boards_use(imported, pointer, 5000);
}

TEST_F(PeerMemory, given_mapped_memory_of_one_board_when_the_other_uses_it_then_it_does_so_wherever_it_is) {
  const OwnedPhysical object = physical(4 * page);
  const OwnedReservation first = reserve(4 * page);
  const OwnedReservation second = reserve(4 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(first.at(), 4 * page, object));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(second.at(page), 2 * page, object, 2 * page));
  expect_both_boards_use(first.at(2 * page), second.at(page), 2 * page);
  // A place that is mapped afterwards, and one that is no longer.
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(second.at(page), 2 * page));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(second.at(), page, object, page));
  expect_both_boards_use(second.at(), first.at(page), page);
  const OwnedMemory host = memory(MemoryKind::host, page);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_on(1, second.at(page), host.get(), page));
}

TEST_F(PeerMemory, given_mapped_memory_that_both_use_when_access_is_taken_away_then_neither_may_write) {
  const OwnedPhysical object = physical(2 * page);
  const OwnedReservation range = reserve(2 * page);
  const OwnedMemory host = memory(MemoryKind::host, page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 2 * page, object));
  expect_both_boards_use(range.at(), range.at(), 2 * page);
  write_pattern(host.get(), page, 3);
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(1, range.at(page), host.get(), page));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemSetAccessAttribute(context(), range.at(page), page, read_only));
  for (const std::size_t index : {0U, 1U}) {
    EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, copy_on(index, range.at(page), range.at(), page)) << index;
    EXPECT_EQ(ZE_RESULT_SUCCESS, copy_on(index, range.at(), host.get(), page)) << "the other page";
    EXPECT_EQ(ZE_RESULT_SUCCESS, copy_on(index, host.get(), range.at(page), page));
    EXPECT_TRUE(same_bytes(pattern(page, 3).data(), host.get(), page));
  }
}

TEST_F(PeerMemory,
       given_a_row_of_objects_of_several_places_when_either_board_copies_it_then_every_byte_comes) {
  const Row row = make_row(Place::both);
  ze_physical_mem_desc_t wanted{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, page};
  ze_physical_mem_handle_t handle = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemCreate(context(), board(1), &wanted, &handle));
  const OwnedPhysical of_second(context(), handle);
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(row.first.at(2 * page), page));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(row.first.at(2 * page), page, of_second));
  expect_both_boards_use(row.first.at(), row.first.at(), 6 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(row.first.at(2 * page), page));
}

TEST_F(PeerMemory, given_a_handle_of_a_range_opened_on_one_board_when_the_other_uses_it_then_both_see_it) {
  for (const Place place : {Place::device, Place::both}) {
    const Row row = make_row(place);
    const ze_ipc_mem_handle_t handle = get(row.first.at(), 6 * page);
    void* opened = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), board(1), handle, 0, &opened));
    expect_both_boards_use(opened, row.first.at(), 6 * page);
    close(opened);
    put(handle);
  }
}

TEST_F(PeerMemory,
       given_an_imported_object_that_is_mapped_when_either_board_uses_it_then_both_see_the_bytes) {
  const ze_external_memory_export_desc_t to_export{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                   opaque_fd};
  ze_physical_mem_desc_t wanted{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, &to_export, 0, 2 * page};
  ze_physical_mem_handle_t handle = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemCreate(context(), board(0), &wanted, &handle));
  const OwnedPhysical made(context(), handle);
  ze_external_memory_export_fd_t asked{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, opaque_fd, -1};
  ze_physical_mem_properties_t properties{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, &asked, 0, 0};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemGetProperties(context(), made, &properties));
  const ze_external_memory_import_fd_t to_import{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr,
                                                 opaque_fd, asked.fd};
  wanted.pNext = &to_import;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemCreate(context(), board(1), &wanted, &handle));
  const OwnedPhysical taken(context(), handle);
  const OwnedReservation range = reserve(4 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 2 * page, made));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(2 * page), 2 * page, taken));
  expect_both_boards_use(range.at(), range.at(2 * page), 2 * page);
}

TEST_F(PeerMemory, given_a_fill_and_a_region_copy_in_the_peers_memory_then_exactly_their_bytes_change) {
  const OwnedMemory block = allocate(MemoryKind::device, context(), board(0), 4 * page);
  const OwnedMemory host = memory(MemoryKind::host, 4 * page);
  const std::uint32_t zero = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryFill(list_on(1), block.get(), &zero, sizeof zero,
                                                             4 * page, nullptr, 0, nullptr));
  const std::uint32_t value = 0x11223344;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryFill(list_on(1), block.bytes() + page, &value,
                                                             sizeof value, 64, nullptr, 0, nullptr));
  const ze_copy_region_t from{0, 0, 0, 16, 4, 1};
  const ze_copy_region_t to{8, 1, 0, 16, 4, 1};
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopyRegion(list_on(1), block.bytes() + 2 * page, &to, 100, 0,
                                                block.bytes() + page, &from, 16, 0, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(0, host.get(), block.get(), 4 * page));
  Bytes expected(4 * page, 0);
  for (std::size_t index = 0; index < 64; ++index) {
    const auto byte = static_cast<unsigned char>(value >> 8 * (index % 4));
    expected[page + index] = byte;
    expected[2 * page + (1 + index / 16) * 100 + 8 + index % 16] = byte;
  }
  EXPECT_TRUE(same_bytes(expected.data(), host.get(), expected.size()));
}

TEST_F(PeerMemory, given_objects_that_both_used_when_destroyed_then_nothing_of_them_is_left) {
  const auto use = [&] {
    const OwnedPhysical object = physical(2 * page);
    const OwnedReservation range = reserve(2 * page);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 2 * page, object));
    expect_both_boards_use(range.at(), range.at(), 2 * page);
  };
  const auto usable = [&] {
    ze_device_usablemem_size_ext_properties_t found{};
    found.stype = ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES;
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    properties.pNext = &found;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(board(0), &properties));
    return found.currUsableMemSize;
  };
  use();  // what a first export starts is there
  const std::size_t descriptors = open_descriptors();
  const std::uint64_t bytes = usable();
  for (int round = 0; round < 20; ++round) {
    use();
  }
  EXPECT_EQ(descriptors, open_descriptors());
  EXPECT_GE(usable(), bytes);
}

}  // namespace
}  // namespace datum::test
