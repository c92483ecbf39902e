// One driver with two boards: contexts over both or one of them, memory of each, work on each.
#include <cstring>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class TwoBoards : public ApiTest {
 protected:
  void SetUp() override {
    if (mode() != Mode::two_boards) {
      GTEST_SKIP() << "needs two boards";
    }
    ApiTest::SetUp();
  }

  [[nodiscard]] static ze_device_handle_t first() { return session().devices[0]; }

  [[nodiscard]] static ze_device_handle_t second() { return session().devices[1]; }

  [[nodiscard]] OwnedContext context_of(ze_device_handle_t one) {
    const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    OwnedContext made;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextCreateEx(driver(), &description, 1, &one, made.address()));
    return made;
  }

  /// One copy on a queue of `board`.
  [[nodiscard]] ze_result_t copy_on(ze_device_handle_t board, void* to, const void* from, std::size_t bytes) {
    const OwnedQueue own_queue = create_queue(context(), board);
    const OwnedList list = create_list(context(), board);
    ze_result_t result = zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr);
    if (result == ZE_RESULT_SUCCESS) {
      result = zeCommandListClose(list);
    }
    ze_command_list_handle_t handle = list;
    if (result == ZE_RESULT_SUCCESS) {
      result = zeCommandQueueExecuteCommandLists(own_queue, 1, &handle, nullptr);
    }
    return result == ZE_RESULT_SUCCESS ? zeCommandQueueSynchronize(own_queue, patience_ns) : result;
  }
};

TEST_F(TwoBoards, given_two_boards_when_listed_then_they_have_uuids_and_pci_addresses_of_their_own) {
  ze_device_properties_t properties[2]{};
  ze_pci_ext_properties_t pci[2]{};
  for (std::size_t i = 0; i < 2; ++i) {
    properties[i].stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    pci[i].stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(session().devices[i], &properties[i]));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDevicePciGetPropertiesExt(session().devices[i], &pci[i]));
  }
  EXPECT_NE(0, std::memcmp(&properties[0].uuid, &properties[1].uuid, sizeof properties[0].uuid));
  EXPECT_NE(0, std::memcmp(&pci[0].address, &pci[1].address, sizeof pci[0].address));
}

TEST_F(TwoBoards, given_a_context_of_one_board_when_the_other_is_used_in_it_then_it_is_invalid) {
  const OwnedContext only_first = context_of(first());
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_SUCCESS, allocate_raw(MemoryKind::device, only_first, first(), 64, 0, &pointer));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemFree(only_first, pointer));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            allocate_raw(MemoryKind::device, only_first, second(), 64, 0, &pointer));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            allocate_raw(MemoryKind::shared, only_first, second(), 64, 0, &pointer));
  ze_command_queue_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  ze_command_queue_handle_t made = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandQueueCreate(only_first, second(), &description, &made));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeContextSystemBarrier(only_first, second()));
}

TEST_F(TwoBoards,
       given_host_memory_when_both_boards_use_it_then_the_pointer_is_the_same_and_the_bytes_are_seen) {
  const OwnedMemory host = memory(MemoryKind::host, 8192);
  write_pattern(host.get(), 4096, 1);
  for (const ze_device_handle_t board : session().devices) {
    const OwnedMemory block = allocate(MemoryKind::device, context(), board, 4096);
    std::memset(host.bytes() + 4096, 0, 4096);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(board, block.get(), host.get(), 4096));
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(board, host.bytes() + 4096, block.get(), 4096));
    EXPECT_TRUE(same_bytes(host.bytes(), host.bytes() + 4096, 4096));
  }
}

TEST_F(TwoBoards, given_both_boards_when_asked_about_peers_then_both_answers_agree_and_access_is_claimed) {
  for (const auto& [one, other] : {std::pair{first(), second()}, std::pair{second(), first()}}) {
    ze_bool_t peers = 0;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceCanAccessPeer(one, other, &peers));
    ze_device_p2p_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetP2PProperties(one, other, &properties));
    EXPECT_EQ(1, peers);
    EXPECT_EQ(ze_device_p2p_property_flags_t{ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS}, properties.flags);
  }
}

TEST_F(TwoBoards, given_memory_of_both_boards_when_either_copies_then_bytes_go_straight_in_both_directions) {
  const std::size_t bytes = 300'001;
  const OwnedMemory host = memory(MemoryKind::host, 2 * bytes);
  for (const ze_device_handle_t worker : {first(), second()}) {
    const OwnedMemory here = allocate(MemoryKind::device, context(), first(), bytes);
    const OwnedMemory there = allocate(MemoryKind::device, context(), second(), bytes);
    write_pattern(host.get(), bytes, 1);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(first(), here.get(), host.get(), bytes));
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(worker, there.get(), here.get(), bytes)) << last_error_text();
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(second(), host.bytes() + bytes, there.get(), bytes));
    EXPECT_TRUE(same_bytes(host.bytes(), host.bytes() + bytes, bytes));
    write_pattern(host.get(), bytes, 2);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(second(), there.get(), host.get(), bytes));
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(worker, here.get(), there.get(), bytes));
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(first(), host.bytes() + bytes, here.get(), bytes));
    EXPECT_TRUE(same_bytes(host.bytes(), host.bytes() + bytes, bytes));
  }
}

TEST_F(TwoBoards, given_shared_pages_that_are_freed_then_neither_board_meets_the_next_owners_bytes_by_them) {
  const std::size_t bytes = 64 * 4096;
  const OwnedMemory host = memory(MemoryKind::host, bytes);
  for (int round = 0; round < 20; ++round) {
    const OwnedMemory here = allocate(MemoryKind::device, context(), first(), bytes);
    const OwnedMemory there = allocate(MemoryKind::device, context(), second(), bytes);
    write_pattern(host.get(), bytes, static_cast<std::uint64_t>(round));
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(first(), here.get(), host.get(), bytes));
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(second(), there.get(), here.get(), bytes));
    std::memset(host.get(), 0, bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(first(), host.get(), there.get(), bytes));
    EXPECT_TRUE(same_bytes(pattern(bytes, static_cast<std::uint64_t>(round)),
                           Bytes(host.bytes(), host.bytes() + bytes)));
  }
}

TEST_F(TwoBoards,
       given_memory_that_a_peer_uses_when_exported_and_opened_on_the_other_board_then_all_see_the_bytes) {
  const OwnedMemory here = allocate(MemoryKind::device, context(), first(), 4096);
  const OwnedMemory host = memory(MemoryKind::host, 8192);
  write_pattern(host.get(), 4096, 5);
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(second(), here.get(), host.get(), 4096));
  ze_ipc_mem_handle_t handle{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), here.get(), &handle));
  void* opened = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), second(), handle, 0, &opened));
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(second(), host.bytes() + 4096, opened, 4096));
  EXPECT_TRUE(same_bytes(host.bytes(), host.bytes() + 4096, 4096));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), opened));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
}

TEST_F(TwoBoards, given_events_when_one_board_waits_for_the_other_then_it_goes_on_when_that_is_done) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent done = create_event(pool);
  ze_event_handle_t wait_for = done;
  const OwnedMemory host = memory(MemoryKind::host, 12'288);
  write_pattern(host.get(), 4096, 3);
  const OwnedQueue first_queue = create_queue(context(), first());
  const OwnedQueue second_queue = create_queue(context(), second());
  const OwnedList first_list = create_list(context(), first());
  const OwnedList second_list = create_list(context(), second());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(second_list, host.bytes() + 8192, host.bytes() + 4096, 4096,
                                          nullptr, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(first_list, host.bytes() + 4096, host.bytes(),
                                                             4096, done, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(first_list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(second_list));
  ze_command_list_handle_t handle = second_list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(second_queue, 1, &handle, nullptr));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(second_queue, 5'000'000));
  handle = first_list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(first_queue, 1, &handle, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(second_queue, patience_ns));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(first_queue, patience_ns));
  EXPECT_TRUE(same_bytes(host.bytes(), host.bytes() + 8192, 4096));
}

TEST_F(TwoBoards,
       given_each_boards_limit_when_that_much_is_allocated_on_each_then_neither_counts_against_the_other) {
  for (const ze_device_handle_t board : session().devices) {
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(board, &properties));
    const auto bytes = static_cast<std::size_t>(properties.maxMemAllocSize);
    const OwnedMemory one = allocate(MemoryKind::device, context(), board, bytes);
    EXPECT_NE(nullptr, one.get());
  }
}

}  // namespace
}  // namespace datum::test
