// Questions to objects about themselves, since API 1.7 to 1.17.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class ObjectQueries : public ApiTest {};

TEST_F(ObjectQueries, given_a_root_device_when_asked_for_its_root_then_there_is_none_above_it) {
  ze_device_handle_t root = reinterpret_cast<ze_device_handle_t>(0x1234);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetRootDevice(device(), &root));
  EXPECT_EQ(nullptr, root);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetRootDevice(device(), nullptr));
}

TEST_F(ObjectQueries, given_a_queue_when_asked_then_it_tells_what_it_was_made_with) {
  ze_command_queue_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  description.flags = ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY;
  description.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  description.priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;
  OwnedQueue one;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueCreate(context(), device(), &description, one.address()));
  std::uint32_t number = 99;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueGetOrdinal(one, &number));
  EXPECT_EQ(0U, number);
  number = 99;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueGetIndex(one, &number));
  EXPECT_EQ(0U, number);
  ze_command_queue_flags_t flags = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueGetFlags(one, &flags));
  EXPECT_EQ(ze_command_queue_flags_t{ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY}, flags);
  ze_command_queue_mode_t queue_mode{};
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueGetMode(one, &queue_mode));
  EXPECT_EQ(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, queue_mode);
  ze_command_queue_priority_t priority{};
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueGetPriority(one, &priority));
  EXPECT_EQ(ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH, priority);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeCommandQueueGetOrdinal(one, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeCommandQueueGetMode(one, nullptr));
}

TEST_F(ObjectQueries,
       given_a_regular_list_when_asked_then_it_tells_where_it_belongs_and_that_it_is_no_immediate_one) {
  const OwnedList list = create_list(context(), device(), ZE_COMMAND_LIST_FLAG_IN_ORDER);
  ze_device_handle_t its_device = nullptr;
  ze_context_handle_t its_context = nullptr;
  std::uint32_t ordinal = 99;
  ze_bool_t immediate = 1;
  ze_command_list_flags_t flags = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListGetDeviceHandle(list, &its_device));
  EXPECT_EQ(device(), its_device);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListGetContextHandle(list, &its_context));
  EXPECT_EQ(context(), its_context);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListGetOrdinal(list, &ordinal));
  EXPECT_EQ(0U, ordinal);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListIsImmediate(list, &immediate));
  EXPECT_EQ(0, immediate);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListGetFlags(list, &flags));
  EXPECT_EQ(ze_command_list_flags_t{ZE_COMMAND_LIST_FLAG_IN_ORDER}, flags);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListImmediateGetIndex(list, &ordinal));
  ze_command_queue_mode_t list_mode{};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListImmediateGetMode(list, &list_mode));
}

TEST_F(ObjectQueries, given_an_immediate_list_when_asked_then_it_tells_what_it_was_made_with) {
  const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                               ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  ze_bool_t immediate = 0;
  std::uint32_t index = 99;
  ze_command_queue_flags_t flags = 0;
  ze_command_queue_mode_t list_mode{};
  ze_command_queue_priority_t priority{};
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListIsImmediate(list, &immediate));
  EXPECT_NE(0, immediate);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListImmediateGetIndex(list, &index));
  EXPECT_EQ(0U, index);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListImmediateGetFlags(list, &flags));
  EXPECT_EQ(ze_command_queue_flags_t{ZE_COMMAND_QUEUE_FLAG_IN_ORDER}, flags);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListImmediateGetMode(list, &list_mode));
  EXPECT_EQ(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, list_mode);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListImmediateGetPriority(list, &priority));
  EXPECT_EQ(ZE_COMMAND_QUEUE_PRIORITY_NORMAL, priority);
}

TEST_F(ObjectQueries, given_an_event_and_its_pool_when_asked_then_they_tell_what_they_were_made_with) {
  const OwnedEventPool pool =
      create_event_pool(context(), 2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const OwnedEvent event = create_event(pool);
  ze_context_handle_t its_context = nullptr;
  ze_event_pool_flags_t flags = 0;
  ze_event_pool_handle_t its_pool = nullptr;
  ze_event_scope_flags_t scope = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolGetContextHandle(pool, &its_context));
  EXPECT_EQ(context(), its_context);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolGetFlags(pool, &flags));
  EXPECT_EQ(ze_event_pool_flags_t{ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP},
            flags);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventGetEventPool(event, &its_pool));
  EXPECT_EQ(pool.get(), its_pool);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventGetSignalScope(event, &scope));
  EXPECT_EQ(ze_event_scope_flags_t{ZE_EVENT_SCOPE_FLAG_HOST}, scope);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventGetWaitScope(event, &scope));
  EXPECT_EQ(ze_event_scope_flags_t{ZE_EVENT_SCOPE_FLAG_HOST}, scope);
}

}  // namespace
}  // namespace datum::test
