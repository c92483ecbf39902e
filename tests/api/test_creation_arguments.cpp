// What queues, lists and counter-based events can be created with, and when they are too busy to be
// destroyed.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class CreationArguments : public ApiTest {
 protected:
  [[nodiscard]] static ze_command_queue_desc_t queue_description() {
    ze_command_queue_desc_t made{};
    made.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    made.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    return made;
  }

  [[nodiscard]] ze_result_t counter_event_code(ze_event_counter_based_flags_t flags,
                                               ze_event_scope_flags_t signal,
                                               ze_event_scope_flags_t wait) const {
    ze_event_counter_based_desc_t desc{};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
    desc.flags = flags;
    desc.signal = signal;
    desc.wait = wait;
    OwnedEvent made;
    return zeEventCounterBasedCreate(context(), device(), &desc, made.address());
  }
};

TEST_F(CreationArguments,
       given_every_flag_and_priority_when_queues_and_immediate_lists_are_made_then_they_copy) {
  const OwnedMemory from = memory(MemoryKind::host, 512);
  const OwnedMemory to = memory(MemoryKind::host, 512);
  std::uint64_t seed = 0;
  for (const ze_command_queue_flags_t flags :
       {ze_command_queue_flags_t{0}, ze_command_queue_flags_t{ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY},
        ze_command_queue_flags_t{ZE_COMMAND_QUEUE_FLAG_IN_ORDER},
        ze_command_queue_flags_t{ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT}}) {
    for (const ze_command_queue_priority_t priority :
         {ZE_COMMAND_QUEUE_PRIORITY_NORMAL, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW,
          ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH}) {
      ze_command_queue_desc_t desc = queue_description();
      desc.flags = flags;
      desc.priority = priority;
      OwnedQueue one;
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueCreate(context(), device(), &desc, one.address()))
          << "flags " << flags << ", priority " << priority;
      OwnedList list;
      ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListCreateImmediate(context(), device(), &desc, list.address()))
          << "flags " << flags << ", priority " << priority;
      if (under_validation()) {
        // The lifetime checker takes an immediate list for a closed one until it is reset.
        ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListReset(list));
      }
      write_pattern(from.get(), 512, ++seed);
      ASSERT_EQ(ZE_RESULT_SUCCESS,
                zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 512, nullptr, 0, nullptr));
      ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
      EXPECT_TRUE(same_bytes(from.get(), to.get(), 512)) << "flags " << flags << ", priority " << priority;
    }
  }
}

TEST_F(CreationArguments, given_null_pointers_when_an_immediate_list_is_made_then_each_is_named) {
  const ze_command_queue_desc_t desc = queue_description();
  OwnedList list;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListCreateImmediate(context(), device(), nullptr, list.address()));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListCreateImmediate(context(), device(), &desc, nullptr));
  EXPECT_EQ(nullptr, list.get());
}

TEST_F(CreationArguments, given_the_reserved_flag_when_a_mutable_list_is_made_then_it_is_mutable) {
  ze_mutable_command_list_exp_desc_t extension{};
  extension.stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC;
  extension.flags = ZE_MUTABLE_COMMAND_LIST_EXP_FLAG_RESERVED;
  ze_command_list_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
  desc.pNext = &extension;
  OwnedList list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListCreate(context(), device(), &desc, list.address()));
  ze_bool_t is_mutable = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListIsMutableExp(list, &is_mutable));
  EXPECT_NE(0, is_mutable);
}

TEST_F(CreationArguments, given_each_scope_when_a_counter_based_event_is_made_then_it_is_taken) {
  for (const ze_event_scope_flags_t scope :
       {ze_event_scope_flags_t{0}, ze_event_scope_flags_t{ZE_EVENT_SCOPE_FLAG_SUBDEVICE},
        ze_event_scope_flags_t{ZE_EVENT_SCOPE_FLAG_DEVICE},
        ze_event_scope_flags_t{ZE_EVENT_SCOPE_FLAG_HOST}}) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, counter_event_code(0, scope, 0)) << "signal scope " << scope;
    EXPECT_EQ(ZE_RESULT_SUCCESS, counter_event_code(0, 0, scope)) << "wait scope " << scope;
  }
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
            counter_event_code(ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL, 0, 0));
}

TEST_F(CreationArguments,
       given_the_kinds_of_lists_when_a_pool_of_counter_based_events_is_made_then_each_is_taken) {
  for (const ze_event_pool_counter_based_exp_flags_t flags :
       {ze_event_pool_counter_based_exp_flags_t{ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE},
        ze_event_pool_counter_based_exp_flags_t{ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE}}) {
    ze_event_pool_counter_based_exp_desc_t counting{};
    counting.stype = ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC;
    counting.flags = flags;
    const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, &counting,
                                    ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    OwnedEventPool pool;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCreate(context(), &desc, 0, nullptr, pool.address()))
        << "flags " << flags;
    const OwnedEvent event = create_event(pool);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventHostSignal(event)) << "it counts";
  }
}

TEST_F(CreationArguments,
       given_work_that_waits_when_its_queue_or_list_is_destroyed_then_it_is_in_use_until_done) {
  if (on_rtl()) {
    GTEST_SKIP() << "work on a simulated board is given seconds to end";
  }
  if (under_validation()) {
    GTEST_SKIP() << "the layer forgets a handle whether or not it was destroyed";
  }
  OwnedEventPool pool = create_event_pool(context(), 1);
  OwnedEvent gate = create_event(pool);
  ze_event_handle_t wait_for = gate;
  OwnedQueue busy = create_queue(context(), device());
  OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, nullptr, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t one = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(busy, 1, &one, nullptr));
  OwnedList immediate = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(immediate, nullptr, 1, &wait_for));
  EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeCommandQueueDestroy(busy));
  EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeCommandListDestroy(immediate));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(busy, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(immediate, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, busy.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, immediate.destroy());
}

TEST_F(CreationArguments,
       given_a_descriptor_of_another_type_when_a_counter_based_event_is_made_then_it_is_invalid) {
  ze_event_counter_based_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  OwnedEvent made;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeEventCounterBasedCreate(context(), device(), &desc, made.address()));
  EXPECT_EQ(nullptr, made.get());
}

}  // namespace
}  // namespace datum::test
