// Lists appended to an immediate list, cloned lists, and appends with parameters.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class ListOfLists : public ApiTest {
 protected:
  [[nodiscard]] OwnedList immediate(ze_command_queue_flags_t flags = 0) const {
    return create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, flags);
  }

  /// A closed list that copies `bytes`.
  [[nodiscard]] OwnedList copying(void* to, const void* from, std::size_t bytes,
                                  ze_command_list_flags_t flags = 0) const {
    OwnedList list = create_list(context(), device(), flags);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    return list;
  }
};

TEST_F(ListOfLists,
       given_closed_lists_when_appended_in_order_then_each_begins_when_the_one_before_has_ended) {
  const OwnedMemory first = memory(MemoryKind::host, 3000);
  const OwnedMemory second = memory(MemoryKind::device, 3000);
  const OwnedMemory third = memory(MemoryKind::shared, 3000);
  const OwnedList one = copying(second.get(), first.get(), 3000);
  const OwnedList two = copying(third.get(), second.get(), 3000, ZE_COMMAND_LIST_FLAG_IN_ORDER);
  const OwnedList now = immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  for (std::uint64_t round = 0; round < 5; ++round) {
    write_pattern(first.get(), 3000, round);
    ze_command_list_handle_t a = one;
    ze_command_list_handle_t b = two;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListImmediateAppendCommandListsExp(now, 1, &a, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListImmediateAppendCommandListsWithParameters(now, 1, &b, nullptr,
                                                                                        nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(now, patience_ns));
    ASSERT_TRUE(same_bytes(first.get(), third.get(), 3000)) << "round " << round;
  }
}

TEST_F(ListOfLists,
       given_events_around_appended_lists_when_the_gate_opens_then_the_signal_follows_the_last_list) {
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const OwnedEvent gate = create_event(pool, 0);
  const OwnedEvent done = create_event(pool, 1);
  ze_event_handle_t wait_for = gate;
  const OwnedMemory from = memory(MemoryKind::host, 2000);
  const OwnedMemory a = memory(MemoryKind::shared, 2000);
  const OwnedMemory b = memory(MemoryKind::shared, 2000);
  write_pattern(from.get(), 2000, 1);
  const OwnedList one = copying(a.get(), from.get(), 2000);
  const OwnedList two = copying(b.get(), from.get(), 2000);
  ze_command_list_handle_t lists[] = {one, two};
  const OwnedList now = immediate();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListImmediateAppendCommandListsWithParameters(now, 2, lists, nullptr,
                                                                                      done, 1, &wait_for));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 3'000'000));
  write_pattern(from.get(), 2000, 2);  // read when executed, not when appended
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(done, patience_ns));
  EXPECT_TRUE(same_bytes(from.get(), a.get(), 2000));
  EXPECT_TRUE(same_bytes(from.get(), b.get(), 2000));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(now, patience_ns));
}

TEST_F(ListOfLists, given_no_lists_when_appended_then_the_event_is_signalled_all_the_same) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent done = create_event(pool);
  ze_command_list_handle_t none[1] = {nullptr};
  const OwnedList now = immediate();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListImmediateAppendCommandListsExp(now, 0, none, done, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(done, patience_ns));
}

TEST_F(ListOfLists,
       given_lists_that_cannot_be_appended_when_appended_then_each_has_its_code_and_nothing_runs) {
  const OwnedMemory from = memory(MemoryKind::host, 100);
  const OwnedMemory to = memory(MemoryKind::shared, 100);
  write_pattern(from.get(), 100, 3);
  const Bytes before(to.bytes(), to.bytes() + 100);
  const OwnedList good = copying(to.get(), from.get(), 100);
  const OwnedList open = create_list(context(), device());
  const OwnedList other = immediate();
  const OwnedList now = immediate();
  const auto append = [](ze_command_list_handle_t on, ze_command_list_handle_t a,
                         ze_command_list_handle_t b) {
    ze_command_list_handle_t lists[] = {a, b};
    return zeCommandListImmediateAppendCommandListsExp(on, 2, lists, nullptr, 0, nullptr);
  };
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, append(now, good, open));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, append(now, good, other));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, append(good, good, good)) << "not an immediate list";
  ze_command_list_handle_t handle = good;
  if (null_arrays_reach_the_driver() && !under_validation()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
              zeCommandListImmediateAppendCommandListsExp(now, 1, nullptr, nullptr, 0, nullptr));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeCommandListImmediateAppendCommandListsExp(now, 1, &handle, nullptr, 1, nullptr));
  }
  ze_base_desc_t unknown{};
  unknown.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeCommandListImmediateAppendCommandListsWithParameters(
                                                     now, 1, &handle, &unknown, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(now, 0));
  EXPECT_TRUE(same_bytes(before.data(), to.get(), 100));
}

TEST_F(ListOfLists, given_a_cloneable_list_when_cloned_then_the_clone_does_the_same_and_lives_on_its_own) {
  const OwnedMemory from = memory(MemoryKind::host, 500);
  const OwnedMemory to = memory(MemoryKind::shared, 500);
  OwnedList source = copying(to.get(), from.get(), 500, ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE);
  OwnedList clone;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListCreateCloneExp(source, clone.address()));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(clone)) << "it is closed, and closing it again is no error";
  write_pattern(from.get(), 500, 4);
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(clone));
  EXPECT_TRUE(same_bytes(from.get(), to.get(), 500));
  // The source's next life is not the clone's.
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListReset(source));
  write_pattern(from.get(), 500, 5);
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(clone));
  EXPECT_TRUE(same_bytes(from.get(), to.get(), 500));
  ze_command_list_flags_t flags = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListGetFlags(clone, &flags));
  EXPECT_EQ(ze_command_list_flags_t{ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE}, flags);
  ASSERT_EQ(ZE_RESULT_SUCCESS, clone.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, source.destroy());
}

TEST_F(ListOfLists, given_lists_that_cannot_be_cloned_when_cloned_then_they_are_refused) {
  ze_command_list_handle_t clone = nullptr;
  const OwnedList plain = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(plain));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListCreateCloneExp(plain, &clone));
  const OwnedList open = create_list(context(), device(), ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListCreateCloneExp(open, &clone)) << "not closed";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeCommandListCreateCloneExp(open, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListCreateCloneExp(immediate(), &clone));
  EXPECT_EQ(nullptr, clone);
}

TEST_F(ListOfLists, given_appends_with_parameters_when_executed_then_they_do_what_the_plain_ones_do) {
  const OwnedMemory from = memory(MemoryKind::host, 1000);
  const OwnedMemory to = memory(MemoryKind::shared, 1000);
  write_pattern(from.get(), 1000, 6);
  const std::uint32_t word = 0x01020304;
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              EXPECT_EQ(ZE_RESULT_SUCCESS,
                        zeCommandListAppendMemoryCopyWithParameters(list, to.get(), from.get(), 500, nullptr,
                                                                    nullptr, 0, nullptr));
              EXPECT_EQ(ZE_RESULT_SUCCESS,
                        zeCommandListAppendMemoryFillWithParameters(list, to.bytes() + 500, &word, 4, 500,
                                                                    nullptr, nullptr, 0, nullptr));
            }));
  EXPECT_TRUE(same_bytes(from.get(), to.get(), 500));
  for (std::size_t at = 500; at < 1000; ++at) {
    ASSERT_EQ(4 - at % 4, to.bytes()[at]) << at;
  }
}

TEST_F(ListOfLists,
       given_an_unknown_extension_when_appended_with_parameters_then_the_feature_is_unsupported) {
  const OwnedMemory block = memory(MemoryKind::host, 64);
  const OwnedList list = create_list(context(), device());
  ze_base_desc_t unknown{};
  unknown.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  const unsigned char zero = 0;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeCommandListAppendMemoryCopyWithParameters(list, block.get(), block.bytes() + 32, 8, &unknown,
                                                        nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeCommandListAppendMemoryFillWithParameters(list, block.get(), &zero, 1, 8, &unknown, nullptr, 0,
                                                        nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryCopyWithParameters(list, nullptr, block.get(), 8, nullptr, nullptr, 0,
                                                        nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, zeCommandListAppendMemoryFillWithParameters(
                                              list, block.get(), &zero, 3, 9, nullptr, nullptr, 0, nullptr));
}

}  // namespace
}  // namespace datum::test
