// Counter-based events that other processes wait for, each process with a board of its own.
#include <chrono>
#include <csignal>
#include <future>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/handle_text.hpp"
#include "tests/api/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/counter_event.hpp"

namespace datum::test {
namespace {

constexpr const char* counter_variable = "DATUM_TEST_COUNTER_HANDLE";
constexpr const char* counter_pool_variable = "DATUM_TEST_ANSWER_POOL";
constexpr ze_event_counter_based_flags_t shared_counter_flags =
    ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_IPC;

OwnedList in_order_list(ze_context_handle_t context, ze_device_handle_t device) {
  return create_immediate_list(context, device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                               ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
}

class CounterIpcProcesses : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    pool_ = create_event_pool(context(), 2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC);
    ready_ = create_event(pool_, 0);
    gate_ = create_event(pool_, 1);
    event_ = create_counter_event(context(), device(), shared_counter_flags);
    list_ = in_order_list(context(), device());
  }

  void TearDown() override {
    EXPECT_EQ(ZE_RESULT_SUCCESS, list_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, event_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, ready_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, gate_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, pool_.destroy());
    ApiTest::TearDown();
  }

  /// Begins the scenario with the handles of the event as it is now, and of the pool, by value.
  [[nodiscard]] std::future<ChildOutcome> begin(const char* scenario) const {
    ze_ipc_event_pool_handle_t pool{};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolGetIpcHandle(pool_, &pool)) << last_error_text();
    return std::async(std::launch::async, [scenario, event = as_text(ipc_handle_of(event_)),
                                           answers = as_text(pool)] {
      return run_scenario_in_child(scenario, {{counter_variable, event}, {counter_pool_variable, answers}},
                                   std::chrono::seconds(60));
    });
  }

  OwnedEventPool pool_;
  OwnedEvent ready_;  ///< signalled by the other process
  OwnedEvent gate_;
  OwnedEvent event_;
  OwnedList list_;
};

TEST_F(CounterIpcProcesses, given_a_signal_on_its_way_when_it_comes_then_the_other_process_goes_on) {
  for (const char* scenario : {"counter_ipc_host_waits", "counter_ipc_board_waits"}) {
    ze_event_handle_t awaited = gate_;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list_, event_, 1, &awaited));
    std::future<ChildOutcome> child = begin(scenario);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(ready_, patience_ns)) << scenario;
    ASSERT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(event_));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate_));
    const ChildOutcome outcome = child.get();
    EXPECT_TRUE(outcome.succeeded()) << scenario << ": " << outcome.describe();
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(event_, patience_ns));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(ready_));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(gate_));
  }
}

TEST_F(CounterIpcProcesses,
       given_an_event_that_is_used_again_when_opened_elsewhere_then_it_is_the_old_point) {
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list_, event_));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list_, patience_ns));
  std::future<ChildOutcome> child = begin("counter_ipc_is_reached");
  ze_event_handle_t awaited = gate_;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list_, event_, 1, &awaited));
  const ChildOutcome outcome = child.get();
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(event_));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate_));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(event_, patience_ns));
}

TEST_F(CounterIpcProcesses,
       given_work_that_fails_then_the_wait_of_the_other_process_ends_without_its_sentence) {
  const ze_host_mem_alloc_desc_t read_only{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr,
                                           ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY};
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(context(), &read_only, 4096, 0, &pointer));
  const OwnedMemory guarded(context(), pointer);
  const OwnedMemory source = memory(MemoryKind::device, 64);
  ze_event_handle_t awaited = gate_;
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list_, guarded.get(), source.get(), 64, event_, 1, &awaited));
  std::future<ChildOutcome> child = begin("counter_ipc_sees_failure");
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(ready_, patience_ns));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate_));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeEventHostSynchronize(event_, patience_ns));
  const ChildOutcome outcome = child.get();
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

TEST_F(CounterIpcProcesses,
       given_an_exporter_that_is_killed_then_what_was_reached_stays_and_waits_end_in_time) {
  const ChildOutcome outcome = begin("counter_ipc_outlive_exporter").get();
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

/// Objects of a scenario, which has no fixture, and what the handles in the environment name.
struct CounterPeer {
  ze_device_handle_t device = nullptr;
  OwnedContext context;
  ze_event_pool_handle_t pool = nullptr;
  OwnedEvent ready;
  ze_event_handle_t event = nullptr;

  [[nodiscard]] bool start() {
    if (session().result != ZE_RESULT_SUCCESS) {
      return false;
    }
    device = session().devices.front();
    context = create_context(session().driver);
    const auto answers = from_text<ze_ipc_event_pool_handle_t>(environment(counter_pool_variable));
    const auto handle = from_text<ze_ipc_event_counter_based_handle_t>(environment(counter_variable));
    if (zeEventPoolOpenIpcHandle(context, answers, &pool) != ZE_RESULT_SUCCESS ||
        zeEventCounterBasedOpenIpcHandle(context, handle, &event) != ZE_RESULT_SUCCESS) {
      std::fprintf(stderr, "%s\n", last_error_text().c_str());
      return false;
    }
    ready = create_event(pool, 0);
    return ready.get() != nullptr;
  }

  [[nodiscard]] ze_result_t finish() {
    static_cast<void>(ready.destroy());
    const ze_result_t closed = zeEventCounterBasedCloseIpcHandle(event);
    return closed != ZE_RESULT_SUCCESS ? closed : zeEventPoolCloseIpcHandle(pool);
  }
};

int scenario_host_waits() {
  CounterPeer peer;
  SCENARIO_REQUIRE(peer.start());
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeEventQueryStatus(peer.event));
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeEventHostSynchronize(peer.event, 3'000'000));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSignal(peer.ready));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSynchronize(peer.event, patience_ns));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.finish());
  return 0;
}

int scenario_board_waits() {
  CounterPeer peer;
  SCENARIO_REQUIRE(peer.start());
  const OwnedList list = in_order_list(peer.context, peer.device);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &peer.event));
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeCommandListHostSynchronize(list, 3'000'000));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSignal(peer.ready));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, patience_ns));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.finish());
  return 0;
}

int scenario_is_reached() {
  CounterPeer peer;
  SCENARIO_REQUIRE(peer.start());
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventQueryStatus(peer.event));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.finish());
  return 0;
}

int scenario_sees_failure() {
  CounterPeer peer;
  SCENARIO_REQUIRE(peer.start());
  OwnedList list = in_order_list(peer.context, peer.device);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &peer.event));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSignal(peer.ready));
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNKNOWN, zeEventHostSynchronize(peer.event, patience_ns));
  SCENARIO_REQUIRE(last_error_text().find("another process") != std::string::npos);
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNKNOWN, zeCommandListHostSynchronize(list, patience_ns));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeDeviceGetStatus(peer.device));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, list.destroy());
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.finish());
  return 0;
}

using TwoHandles = std::array<ze_ipc_event_counter_based_handle_t, 2>;

/// Tells the handles of an event whose point is reached and of one whose never is, and waits to be killed.
int export_and_stay(int told) {
  SCENARIO_REQUIRE(session().result == ZE_RESULT_SUCCESS);
  const OwnedContext context = create_context(session().driver);
  ze_device_handle_t device = session().devices.front();
  const OwnedEvent reached = create_counter_event(context, device, shared_counter_flags);
  const OwnedEvent never = create_counter_event(context, device, shared_counter_flags);
  const OwnedEventPool pool = create_event_pool(context, 1);
  const OwnedEvent gate = create_event(pool);
  const OwnedList list = in_order_list(context, device);
  ze_event_handle_t awaited = gate;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, reached));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSynchronize(reached, patience_ns));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, never, 1, &awaited));
  const TwoHandles handles{ipc_handle_of(reached), ipc_handle_of(never)};
  SCENARIO_REQUIRE(::write(told, handles.data(), sizeof handles) == sizeof handles);
  for (;;) {
    ::pause();
  }
}

int scenario_outlive_counter_exporter() {
  int told[2]{};
  SCENARIO_REQUIRE(::pipe(told) == 0);
  const pid_t exporter = ::fork();
  if (exporter == 0) {
    ::_exit(export_and_stay(told[1]));
  }
  TwoHandles handles{};
  ::close(told[1]);
  SCENARIO_REQUIRE(::read(told[0], handles.data(), sizeof handles) == sizeof handles);
  SCENARIO_REQUIRE(session().result == ZE_RESULT_SUCCESS);
  const OwnedContext context = create_context(session().driver);
  ze_event_handle_t reached = nullptr;
  ze_event_handle_t never = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventCounterBasedOpenIpcHandle(context, handles[0], &reached));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventCounterBasedOpenIpcHandle(context, handles[1], &never));
  SCENARIO_REQUIRE(::kill(exporter, SIGKILL) == 0 && ::waitpid(exporter, nullptr, 0) == exporter);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSynchronize(reached, 0));
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeEventHostSynchronize(never, 3'000'000));
  ze_event_handle_t none = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeEventCounterBasedOpenIpcHandle(context, handles[0], &none));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventCounterBasedCloseIpcHandle(reached));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventCounterBasedCloseIpcHandle(never));
  return 0;
}

}  // namespace

std::vector<Scenario> counter_ipc_scenarios() {
  return {{"counter_ipc_host_waits", scenario_host_waits},
          {"counter_ipc_board_waits", scenario_board_waits},
          {"counter_ipc_is_reached", scenario_is_reached},
          {"counter_ipc_sees_failure", scenario_sees_failure},
          {"counter_ipc_outlive_exporter", scenario_outlive_counter_exporter}};
}

}  // namespace datum::test
