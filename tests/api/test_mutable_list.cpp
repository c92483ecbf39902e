// Command lists whose events are changed after they were recorded.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class MutableList : public ApiTest {
 protected:
  [[nodiscard]] OwnedList create_mutable() const {
    ze_mutable_command_list_exp_desc_t extension{};
    extension.stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC;
    ze_command_list_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
    description.pNext = &extension;
    OwnedList list;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListCreate(context(), device(), &description, list.address()));
    return list;
  }

  static ze_result_t name_next(ze_command_list_handle_t list, std::uint64_t& id,
                               ze_mutable_command_exp_flags_t flags = 0) {
    const ze_mutable_command_id_exp_desc_t description{ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC, nullptr,
                                                       flags};
    return zeCommandListGetNextCommandIdExp(list, &description, &id);
  }
};

TEST_F(MutableList, given_the_device_when_asked_then_it_offers_to_change_events_and_nothing_else) {
  ze_mutable_command_list_exp_properties_t offered{};
  offered.stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES;
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  properties.pNext = &offered;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
  EXPECT_EQ(ze_mutable_command_exp_flags_t{ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT |
                                           ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS},
            offered.mutableCommandFlags);
}

TEST_F(MutableList,
       given_named_copies_when_their_events_are_changed_then_the_next_execution_uses_the_new_ones) {
  const OwnedEventPool pool = create_event_pool(context(), 4);
  const OwnedEvent old_gate = create_event(pool, 0);
  const OwnedEvent new_gate = create_event(pool, 1);
  const OwnedEvent old_done = create_event(pool, 2);
  const OwnedEvent new_done = create_event(pool, 3);
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::device, 64);
  const OwnedList list = create_mutable();
  ze_bool_t is_mutable = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListIsMutableExp(list, &is_mutable));
  EXPECT_EQ(1, is_mutable);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
  std::uint64_t id = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, name_next(list, id));
  ze_event_handle_t wait_for = old_gate;
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 64, old_done, 1, &wait_for));
  std::uint64_t second = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, name_next(list, second, ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT));
  EXPECT_NE(id, second);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));

  ze_event_handle_t changed = new_gate;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 1, &changed));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListUpdateMutableCommandSignalEventExp(list, id, new_done));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &handle, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(old_gate));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue(), 3'000'000));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(new_gate));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(new_done));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(old_done));

  // No events at all: by a null array, by a null in the array, and by a null signal.
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(new_gate));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(new_done));
  if (null_arrays_reach_the_driver()) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 0, nullptr));
  } else {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(new_gate));
  }
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListUpdateMutableCommandSignalEventExp(list, id, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(new_done));
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  if (under_validation()) {
    GTEST_SKIP() << "the layer refuses a null event in the array";
  }
  ze_event_handle_t none = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 1, &none));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list));
}

TEST_F(MutableList, given_bad_arguments_when_a_command_is_named_or_changed_then_each_has_its_code) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent event = create_event(pool);
  ze_event_handle_t one = event;
  const OwnedList plain = create_list(context(), device());
  const OwnedList list = create_mutable();
  std::uint64_t id = 0;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, name_next(plain, id)) << "not mutable";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, name_next(list, id, 0x100));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
            name_next(list, id, ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS));
  ASSERT_EQ(ZE_RESULT_SUCCESS, name_next(list, id));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListUpdateMutableCommandSignalEventExp(list, id, event))
      << "nothing was appended yet";
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, nullptr, 1, &one));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, name_next(list, id)) << "closed";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListUpdateMutableCommandSignalEventExp(list, id + 7, event));
  ze_event_handle_t two[] = {event, event};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 2, two));
  const ze_mutable_commands_exp_desc_t nothing{ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, nullptr, 0};
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListUpdateMutableCommandsExp(list, &nothing));
  ze_mutable_group_count_exp_desc_t groups{};
  groups.stype = ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC;
  const ze_mutable_commands_exp_desc_t kernel{ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, &groups, 0};
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeCommandListUpdateMutableCommandsExp(list, &kernel));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListReset(list));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListUpdateMutableCommandSignalEventExp(list, id, event))
      << "names end with the commands";
}

}  // namespace
}  // namespace datum::test
