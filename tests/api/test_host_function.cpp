// Functions of the application that a command list calls, since API 1.17.
#include <atomic>
#include <thread>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class HostFunction : public ApiTest {
 protected:
  [[nodiscard]] OwnedList in_order_list() const {
    return create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                 ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  }
};

void count_up(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

struct Stamp {
  const unsigned char* from = nullptr;
  unsigned char* to = nullptr;
};

/// Changes memory between two copies.
void move_on(void* stamp) {
  const auto* of = static_cast<const Stamp*>(stamp);
  *of->to = static_cast<unsigned char>(*of->from + 1);
}

TEST_F(HostFunction, given_copies_before_and_behind_when_called_then_it_sees_the_one_and_feeds_the_other) {
  const OwnedMemory first = memory(MemoryKind::host, 64);
  const OwnedMemory middle = memory(MemoryKind::shared, 64);
  const OwnedMemory last = memory(MemoryKind::host, 64);
  Stamp stamp{middle.bytes(), middle.bytes() + 1};
  for (unsigned char round = 0; round < 20; ++round) {
    first.bytes()[0] = round;
    ASSERT_EQ(
        ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
          EXPECT_EQ(ZE_RESULT_SUCCESS,
                    zeCommandListAppendMemoryCopy(list, middle.get(), first.get(), 1, nullptr, 0, nullptr));
          EXPECT_EQ(ZE_RESULT_SUCCESS,
                    zeCommandListAppendHostFunction(list, move_on, &stamp, nullptr, nullptr, 0, nullptr));
          EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, last.get(), middle.bytes() + 1, 1,
                                                                     nullptr, 0, nullptr));
        }));
    ASSERT_EQ(round + 1, last.bytes()[0]);
  }
}

TEST_F(HostFunction, given_a_closed_list_when_executed_several_times_then_it_is_called_each_time) {
  std::atomic<int> calls{0};
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendHostFunction(list, count_up, &calls, nullptr, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  EXPECT_EQ(0, calls.load()) << "not when it is appended";
  for (int round = 1; round <= 5; ++round) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list));
    EXPECT_EQ(round, calls.load());
  }
}

TEST_F(HostFunction,
       given_wait_and_signal_events_when_the_gate_opens_then_it_is_called_and_the_signal_follows) {
  std::atomic<int> calls{0};
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const OwnedEvent gate = create_event(pool, 0);
  const OwnedEvent done = create_event(pool, 1);
  ze_event_handle_t wait_for = gate;
  const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendHostFunction(list, count_up, &calls, nullptr, done, 1, &wait_for));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 5'000'000));
  EXPECT_EQ(0, calls.load());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(done, patience_ns));
  EXPECT_EQ(1, calls.load());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
}

TEST_F(HostFunction, given_a_function_that_waits_when_appended_then_the_call_does_not_block) {
  struct Gate {
    std::atomic<bool> entered{false};
    std::atomic<bool> open{false};
  } gate;

  const auto pass = [](void* argument) {
    auto* of = static_cast<Gate*>(argument);
    of->entered = true;
    while (!of->open) {
      std::this_thread::yield();
    }
  };
  const OwnedList list = in_order_list();
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendHostFunction(list, pass, &gate, nullptr, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandListHostSynchronize(list, 1'000'000));
  // Another queue goes on meanwhile.
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::device, 64);
  EXPECT_EQ(ZE_RESULT_SUCCESS, copy(to.get(), from.get(), 64));
  gate.open = true;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  EXPECT_TRUE(gate.entered.load());
}

TEST_F(HostFunction, given_hundreds_of_calls_on_several_lists_when_done_then_none_is_lost_or_doubled) {
  constexpr int each = 100;
  std::atomic<int> calls{0};
  std::vector<OwnedList> lists;
  for (int index = 0; index < 4; ++index) {
    lists.push_back(in_order_list());
  }
  const int rounds = by_board(each, 5);
  for (int round = 0; round < rounds; ++round) {
    for (const OwnedList& list : lists) {
      ASSERT_EQ(ZE_RESULT_SUCCESS,
                zeCommandListAppendHostFunction(list, count_up, &calls, nullptr, nullptr, 0, nullptr));
    }
  }
  for (const OwnedList& list : lists) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  }
  EXPECT_EQ(rounds * 4, calls.load());
}

TEST_F(HostFunction, given_bad_arguments_when_appended_then_each_has_its_code_and_the_list_goes_on) {
  std::atomic<int> calls{0};
  const OwnedList list = create_list(context(), device());
  ze_base_desc_t unknown{};
  unknown.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListAppendHostFunction(list, nullptr, nullptr, nullptr, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeCommandListAppendHostFunction(list, count_up, &calls, &unknown, nullptr, 0, nullptr));
  if (null_arrays_reach_the_driver()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE,
              zeCommandListAppendHostFunction(list, count_up, &calls, nullptr, nullptr, 1, nullptr));
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendHostFunction(list, count_up, &calls, nullptr, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  EXPECT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list));
  EXPECT_EQ(1, calls.load());
}

}  // namespace
}  // namespace datum::test
