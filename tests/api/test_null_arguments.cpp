// Questions to queues, lists, pools and events with a null handle, or with no place for the answer.
#include <functional>
#include <vector>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

struct Question {
  const char* name;
  std::function<ze_result_t()> without_handle;   ///< empty: not asked
  std::function<ze_result_t()> without_pointer;  ///< empty: not asked
};

/// A function that writes one value of an object.
template <class Handle, class Value>
Question question(const char* name, ze_result_t (*function)(Handle, Value*), Handle good) {
  return {name,
          [function] {
            Value value{};
            return function(nullptr, &value);
          },
          [function, good] { return function(good, nullptr); }};
}

class NullArguments : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    list_ = create_list(context(), device());
    immediate_ = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    pool_ = create_event_pool(context(), 1,
                              ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    event_ = create_event(pool_);
  }

  void TearDown() override {
    EXPECT_EQ(ZE_RESULT_SUCCESS, event_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, pool_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, immediate_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, list_.destroy());
    ApiTest::TearDown();
  }

  [[nodiscard]] std::vector<Question> about_queues() {
    return {question("zeCommandQueueGetOrdinal", zeCommandQueueGetOrdinal, queue()),
            question("zeCommandQueueGetIndex", zeCommandQueueGetIndex, queue()),
            question("zeCommandQueueGetFlags", zeCommandQueueGetFlags, queue()),
            question("zeCommandQueueGetMode", zeCommandQueueGetMode, queue()),
            question("zeCommandQueueGetPriority", zeCommandQueueGetPriority, queue())};
  }

  [[nodiscard]] std::vector<Question> about_lists() const {
    ze_command_list_handle_t list = list_;
    ze_command_list_handle_t immediate = immediate_;
    return {question("zeCommandListGetDeviceHandle", zeCommandListGetDeviceHandle, list),
            question("zeCommandListGetContextHandle", zeCommandListGetContextHandle, list),
            question("zeCommandListGetOrdinal", zeCommandListGetOrdinal, list),
            question("zeCommandListIsImmediate", zeCommandListIsImmediate, list),
            question("zeCommandListGetFlags", zeCommandListGetFlags, list),
            question("zeCommandListIsMutableExp", zeCommandListIsMutableExp, list),
            question("zeCommandListImmediateGetIndex", zeCommandListImmediateGetIndex, immediate),
            question("zeCommandListImmediateGetFlags", zeCommandListImmediateGetFlags, immediate),
            question("zeCommandListImmediateGetMode", zeCommandListImmediateGetMode, immediate),
            question("zeCommandListImmediateGetPriority", zeCommandListImmediateGetPriority, immediate),
            question("zeCommandListCreateCloneExp", zeCommandListCreateCloneExp, list),
            {"zeCommandListHostSynchronize", [] { return zeCommandListHostSynchronize(nullptr, 0); }, {}}};
  }

  [[nodiscard]] std::vector<Question> about_events() const {
    ze_event_pool_handle_t pool = pool_;
    ze_event_handle_t event = event_;
    return {question("zeEventPoolGetContextHandle", zeEventPoolGetContextHandle, pool),
            question("zeEventPoolGetFlags", zeEventPoolGetFlags, pool),
            question("zeEventGetEventPool", zeEventGetEventPool, event),
            question("zeEventGetSignalScope", zeEventGetSignalScope, event),
            question("zeEventGetWaitScope", zeEventGetWaitScope, event),
            question("zeEventGetCounterBasedFlags", zeEventGetCounterBasedFlags, event)};
  }

  /// Functions with more arguments than the handle and the place for the answer.
  [[nodiscard]] std::vector<Question> about_times() const {
    ze_event_handle_t event = event_;
    ze_device_handle_t on = device();
    return {{"zeEventQueryKernelTimestampsExt",
             [on] {
               std::uint32_t count = 0;
               return zeEventQueryKernelTimestampsExt(nullptr, on, &count, nullptr);
             },
             [=] { return zeEventQueryKernelTimestampsExt(event, on, nullptr, nullptr); }},
            {"zeEventQueryKernelTimestampsExt (device)",
             [event] {
               std::uint32_t count = 0;
               return zeEventQueryKernelTimestampsExt(event, nullptr, &count, nullptr);
             },
             {}},
            {"zeEventQueryTimestampsExp",
             [on] {
               std::uint32_t count = 0;
               return zeEventQueryTimestampsExp(nullptr, on, &count, nullptr);
             },
             [=] { return zeEventQueryTimestampsExp(event, on, nullptr, nullptr); }},
            {"zeEventQueryTimestampsExp (device)",
             [event] {
               std::uint32_t count = 0;
               return zeEventQueryTimestampsExp(event, nullptr, &count, nullptr);
             },
             {}}};
  }

  [[nodiscard]] std::vector<Question> about_counters() const {
    ze_event_handle_t event = event_;
    ze_context_handle_t of = context();
    ze_device_handle_t on = device();
    static const ze_event_counter_based_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC, nullptr, 0, 0,
                                                    0};
    const auto create = [](ze_context_handle_t from, ze_device_handle_t with) {
      OwnedEvent made;
      return zeEventCounterBasedCreate(from, with, &desc, made.address());
    };
    return {{"zeEventCounterBasedCreate", [=] { return create(nullptr, on); },
             [=] { return zeEventCounterBasedCreate(of, on, &desc, nullptr); }},
            {"zeEventCounterBasedCreate (device, descriptor)", [=] { return create(of, nullptr); },
             [=] {
               OwnedEvent made;
               return zeEventCounterBasedCreate(of, on, nullptr, made.address());
             }},
            {"zeEventCounterBasedGetDeviceAddress",
             [] {
               std::uint64_t value = 0;
               return zeEventCounterBasedGetDeviceAddress(nullptr, &value, &value);
             },
             [event] {
               std::uint64_t value = 0;
               return zeEventCounterBasedGetDeviceAddress(event, &value, nullptr);
             }},
            {"zeEventCounterBasedGetDeviceAddress (value)", {}, [event] {
               std::uint64_t address = 0;
               return zeEventCounterBasedGetDeviceAddress(event, nullptr, &address);
             }}};
  }

  [[nodiscard]] std::vector<Question> about_changes() const {
    ze_command_list_handle_t list = list_;
    static const ze_mutable_commands_exp_desc_t nothing{ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, nullptr,
                                                        0};
    return {{"zeCommandListUpdateMutableCommandsExp",
             [] { return zeCommandListUpdateMutableCommandsExp(nullptr, &nothing); },
             [list] { return zeCommandListUpdateMutableCommandsExp(list, nullptr); }},
            {"zeCommandListUpdateMutableCommandSignalEventExp",
             [] { return zeCommandListUpdateMutableCommandSignalEventExp(nullptr, 0, nullptr); },
             {}},
            {"zeCommandListUpdateMutableCommandWaitEventsExp",
             [] { return zeCommandListUpdateMutableCommandWaitEventsExp(nullptr, 0, 0, nullptr); },
             {}}};
  }

  [[nodiscard]] std::vector<Question> all() {
    std::vector<Question> questions = about_queues();
    for (const std::vector<Question>& more :
         {about_lists(), about_events(), about_times(), about_counters(), about_changes()}) {
      questions.insert(questions.end(), more.begin(), more.end());
    }
    return questions;
  }

  OwnedList list_;
  OwnedList immediate_;
  OwnedEventPool pool_;
  OwnedEvent event_;
};

TEST_F(NullArguments, given_a_null_handle_when_an_object_is_asked_about_itself_then_it_is_named) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  for (const Question& one : all()) {
    if (one.without_handle) {
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, one.without_handle()) << one.name;
    }
  }
}

TEST_F(NullArguments, given_no_place_for_the_answer_when_an_object_is_asked_about_itself_then_it_is_named) {
  for (const Question& one : all()) {
    if (one.without_pointer) {
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, one.without_pointer()) << one.name;
    }
  }
}

TEST_F(NullArguments, given_no_lists_or_no_immediate_list_when_lists_are_appended_then_it_is_named) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list_));
  ze_command_list_handle_t one = list_;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            zeCommandListImmediateAppendCommandListsExp(nullptr, 1, &one, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListImmediateAppendCommandListsExp(immediate_, 1, nullptr, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeCommandListImmediateAppendCommandListsWithParameters(
                                                     nullptr, 1, &one, nullptr, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeCommandListImmediateAppendCommandListsWithParameters(
                                                      immediate_, 1, nullptr, nullptr, nullptr, 0, nullptr));
}

}  // namespace
}  // namespace datum::test
