// Counter-based events, since API 1.15: they follow the last command that signals them, and are never reset.
#include <cstring>
#include <vector>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class CounterEvent : public ApiTest {
 protected:
  static ze_event_counter_based_desc_t description(ze_event_counter_based_flags_t flags) {
    ze_event_counter_based_desc_t made{};
    made.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
    made.flags = flags;
    made.signal = made.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    return made;
  }

  [[nodiscard]] OwnedEvent create(ze_event_counter_based_flags_t flags = 0) const {
    const ze_event_counter_based_desc_t desc = description(flags);
    OwnedEvent event;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventCounterBasedCreate(context(), device(), &desc, event.address()))
        << last_error_text();
    return event;
  }

  [[nodiscard]] OwnedList immediate(ze_command_queue_flags_t flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER) const {
    return create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, flags);
  }
};

TEST_F(CounterEvent, given_copies_that_signal_it_in_turn_when_waited_for_then_it_follows_the_last_one) {
  const OwnedEvent done = create();
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  const OwnedMemory from = memory(MemoryKind::host, 1000);
  const OwnedMemory to = memory(MemoryKind::shared, 1000);
  const OwnedList list = immediate();
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(done)) << "nothing is to be waited for yet";
  for (std::uint64_t round = 0; round < 4; ++round) {
    ze_event_handle_t wait_for = gate;
    write_pattern(from.get(), 1000, round);
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 1000, done, 1, &wait_for));
    EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(done)) << "round " << round;
    EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 1'000'000));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(done, patience_ns));
    EXPECT_TRUE(same_bytes(from.get(), to.get(), 1000)) << "round " << round;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(gate));
  }
}

TEST_F(CounterEvent, given_one_list_that_waits_for_another_when_it_signals_then_the_bytes_are_there) {
  const OwnedEvent between = create();
  const OwnedMemory from = memory(MemoryKind::host, 3000);
  const OwnedMemory middle = memory(MemoryKind::device, 3000);
  const OwnedMemory to = memory(MemoryKind::shared, 3000);
  const OwnedList first = immediate();
  const OwnedList second = immediate(0);
  for (std::uint64_t round = 0; round < by_board<std::uint64_t>(20, 2); ++round) {
    write_pattern(from.get(), 3000, round);
    ze_event_handle_t wait_for = between;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(first, middle.get(), from.get(), 3000, between, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(second, to.get(), middle.get(), 3000, nullptr, 1, &wait_for));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(second, patience_ns));
    ASSERT_TRUE(same_bytes(from.get(), to.get(), 3000)) << "round " << round;
  }
}

TEST_F(CounterEvent,
       given_a_waiting_command_when_the_event_moves_on_to_another_list_then_it_waits_for_the_old_point) {
  const OwnedEvent event = create();
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const OwnedEvent gate = create_event(pool, 0);
  const OwnedEvent done = create_event(pool, 1);
  ze_event_handle_t wait_for_gate = gate;
  ze_event_handle_t wait_for_event = event;
  OwnedList first = immediate();
  const OwnedList other = immediate();
  const OwnedList waiting = immediate(0);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(first, event, 1, &wait_for_gate));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(waiting, done, 1, &wait_for_event));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(other, event, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(event, patience_ns)) << "it follows the other list now";
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 3'000'000));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(done, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(waiting, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(first, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, first.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(event));
}

TEST_F(CounterEvent,
       given_a_regular_in_order_list_when_executed_again_then_the_event_follows_each_execution) {
  const OwnedEvent event = create(ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE);
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::device, 64);
  const OwnedList list = create_list(context(), device(), ZE_COMMAND_LIST_FLAG_IN_ORDER);
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 64, event, 0, nullptr));
  ze_event_handle_t wait_for = event;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  std::uint64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(event));
    std::uint64_t value = 0;
    std::uint64_t address = 0;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventCounterBasedGetDeviceAddress(event, &value, &address));
    EXPECT_GT(value, last);
    last = value;
  }
}

TEST_F(CounterEvent, given_its_device_address_when_signalled_then_the_counter_there_has_reached_the_value) {
  const OwnedEvent event = create();
  std::uint64_t value = 1;
  std::uint64_t address = 1;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventCounterBasedGetDeviceAddress(event, &value, &address));
  EXPECT_EQ(0U, value);
  EXPECT_EQ(0U, address) << "it follows nothing yet";
  const OwnedList list = immediate();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, event));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventCounterBasedGetDeviceAddress(event, &value, &address));
  EXPECT_EQ(1U, value);
  std::uint64_t counter = 0;
  std::memcpy(&counter, reinterpret_cast<const void*>(address), sizeof counter);
  EXPECT_GE(counter, value);
}

TEST_F(CounterEvent,
       given_a_list_that_is_not_in_order_or_a_host_that_would_change_it_when_tried_then_it_is_refused) {
  const OwnedEvent event = create();
  const OwnedList list = immediate(0);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeCommandListAppendSignalEvent(list, event));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
            zeCommandListAppendBarrier(list, event, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
            zeCommandListAppendEventReset(immediate(), event));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventHostSignal(event));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventHostReset(event));
  ze_event_pool_handle_t pool = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventGetEventPool(event, &pool)) << "it has none";
}

TEST_F(CounterEvent, given_descriptors_when_created_then_each_has_its_code) {
  const auto code = [&](const ze_event_counter_based_desc_t& desc) {
    OwnedEvent made;
    return zeEventCounterBasedCreate(context(), device(), &desc, made.address());
  };
  for (const ze_event_counter_based_flags_t flags :
       {0x0U, 0x1U, 0x2U, 0x4U, 0x7U, 0x8U, 0xfU, 0x10U, 0x20U, 0x28U}) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, code(description(flags))) << "flags " << flags;
  }
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
            code(description(ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, code(description(0x30)))
      << "the device's or the host's time";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, code(description(0x80)));
  ze_event_counter_based_desc_t scopes = description(0);
  scopes.wait = 8;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, code(scopes));
  std::uint64_t word = 0;
  ze_event_counter_based_external_sync_allocation_desc_t external{};
  external.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC;
  external.deviceAddress = external.hostAddress = &word;
  external.completionValue = 1;
  ze_event_counter_based_desc_t kept_outside = description(0);
  kept_outside.pNext = &external;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, code(kept_outside));
  std::uint64_t most = 0;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeDeviceGetCounterBasedEventMaxValue(device(), &most));
  ze_device_event_properties_t offered{};
  offered.stype = ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES;
  offered.flags = 0xff;
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  properties.pNext = &offered;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
  EXPECT_EQ(ze_device_event_properties_flags_t{ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_IPC},
            offered.flags)
      << "what is refused above is not offered";
}

TEST_F(CounterEvent, given_its_flags_when_asked_for_then_they_are_those_of_its_creation) {
  const OwnedEvent event =
      create(ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE);
  ze_event_counter_based_flags_t flags = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventGetCounterBasedFlags(event, &flags));
  EXPECT_EQ(ze_event_counter_based_flags_t{5}, flags);
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent plain = create_event(pool);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventGetCounterBasedFlags(plain, &flags));
  EXPECT_EQ(0U, flags);
  std::uint64_t value = 0;
  std::uint64_t address = 0;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventCounterBasedGetDeviceAddress(plain, &value, &address));
}

TEST_F(CounterEvent, given_a_pool_of_them_when_used_then_its_events_count) {
  ze_event_pool_counter_based_exp_desc_t counting{};
  counting.stype = ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC;
  ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, &counting, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
  OwnedEventPool pool;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCreate(context(), &desc, 0, nullptr, pool.address()));
  const OwnedEvent event = create_event(pool);
  const OwnedList list = immediate();
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, event));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(event, patience_ns));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventHostReset(event));
  counting.flags = 4;
  ze_event_pool_handle_t refused = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeEventPoolCreate(context(), &desc, 0, nullptr, &refused));
}

TEST_F(CounterEvent,
       given_work_that_fails_when_waited_for_then_earlier_points_hold_and_later_ones_are_unknown) {
  const ze_host_mem_alloc_desc_t read_only{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr,
                                           ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY};
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(context(), &read_only, 4096, 0, &pointer));
  const OwnedMemory guarded(context(), pointer);
  const OwnedMemory source = memory(MemoryKind::device, 64);
  const OwnedEvent good = create();
  const OwnedEvent bad = create();
  const OwnedList list = immediate();
  const OwnedList dependant = immediate();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, good));
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, guarded.get(), source.get(), 64, bad, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeEventHostSynchronize(bad, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(good, patience_ns));
  ze_event_handle_t wait_for = bad;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(dependant, 1, &wait_for));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandListHostSynchronize(dependant, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetStatus(device()));
}

TEST_F(CounterEvent,
       given_a_context_with_a_counter_based_event_when_destroyed_then_it_is_in_use_until_the_event_is_gone) {
  OwnedContext other = create_context(driver());
  const ze_event_counter_based_desc_t desc = description(0);
  OwnedEvent event;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventCounterBasedCreate(other, device(), &desc, event.address()));
  if (!under_validation()) {
    EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeContextDestroy(other));
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, event.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, other.destroy());
}

}  // namespace
}  // namespace datum::test
