// Events that two processes share, each with a board of its own.
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/handle_text.hpp"
#include "tests/api/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

constexpr const char* pool_variable = "DATUM_TEST_POOL_HANDLE";
constexpr std::uint32_t pool_events = 8;
constexpr std::size_t bytes_copied = 4096;
constexpr ze_event_pool_flags_t shared_pool_flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC;

int rounds() { return by_board(20, 4); }

class EventIpcProcesses : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    pool_ = create_event_pool(context(), pool_events,
                              shared_pool_flags | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventPoolGetIpcHandle(pool_, &handle_)) << last_error_text();
  }

  void TearDown() override {
    EXPECT_EQ(ZE_RESULT_SUCCESS, pool_.destroy());
    ApiTest::TearDown();
  }

  /// Begins the scenario with the pool's handle by value.
  [[nodiscard]] std::future<ChildOutcome> begin(const char* scenario) const {
    return std::async(std::launch::async, [scenario, text = as_text(handle_)] {
      return run_scenario_in_child(scenario, {{pool_variable, text}}, std::chrono::seconds(60));
    });
  }

  OwnedEventPool pool_;
  ze_ipc_event_pool_handle_t handle_{};
};

TEST_F(EventIpcProcesses, given_two_processes_when_their_hosts_signal_and_reset_in_turn_then_both_see_it) {
  const OwnedEvent ping = create_event(pool_, 0);
  const OwnedEvent pong = create_event(pool_, 1);
  std::future<ChildOutcome> child = begin("event_ipc_host_pong");
  std::chrono::steady_clock::time_point start;
  for (int round = 0; round < rounds(); ++round) {
    if (round == 1) {
      start = std::chrono::steady_clock::now();  // the child is there
    }
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(ping));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(pong, patience_ns)) << "round " << round;
    ASSERT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(ping)) << "the other process reset it first";
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(pong));
  }
  if (!on_rtl()) {
    // About a millisecond each way; far more is left for a loaded machine, and far less than the half second
    // after which a wait looks in any case.
    EXPECT_LT(std::chrono::steady_clock::now() - start, rounds() * std::chrono::milliseconds(200));
  }
  const ChildOutcome outcome = child.get();
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

TEST_F(EventIpcProcesses, given_two_boards_when_their_commands_signal_and_wait_in_turn_then_both_go_on) {
  const OwnedEvent ping = create_event(pool_, 0);
  const OwnedEvent pong = create_event(pool_, 1);
  std::future<ChildOutcome> child = begin("event_ipc_board_pong");
  ze_event_handle_t awaited = pong;
  for (int round = 0; round < rounds(); ++round) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, ping));
                EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &awaited));
                EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendEventReset(list, pong));
              }))
        << "round " << round;
  }
  const ChildOutcome outcome = child.get();
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

TEST_F(EventIpcProcesses, given_work_that_nobody_waits_for_here_when_its_gate_opens_elsewhere_then_it_runs) {
  const OwnedEvent gate = create_event(pool_, 0);
  const OwnedEvent done = create_event(pool_, 1);
  const OwnedMemory from = memory(MemoryKind::host, bytes_copied);
  const OwnedMemory to = memory(MemoryKind::host, bytes_copied);
  write_pattern(from.get(), bytes_copied, 1);
  ze_event_handle_t awaited = gate;
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, to.get(), from.get(), bytes_copied, done, 1, &awaited));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t executed = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &executed, nullptr));
  const ChildOutcome outcome = begin("event_ipc_open_gate_and_wait").get();
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_TRUE(same_bytes(pattern(bytes_copied, 1).data(), to.get(), bytes_copied));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
}

TEST_F(EventIpcProcesses, given_a_copy_of_another_process_when_it_signals_then_its_times_are_read_here) {
  const OwnedEvent event = create_event(pool_, 0);
  const ChildOutcome outcome = begin("event_ipc_copy_and_signal").get();
  ASSERT_TRUE(outcome.succeeded()) << outcome.describe();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventQueryStatus(event));
  const std::uint64_t told_start = std::stoull(outcome.output);
  ze_kernel_timestamp_result_t times{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventQueryKernelTimestamp(event, &times));
  EXPECT_EQ(told_start, times.global.kernelStart);
  EXPECT_LT(times.global.kernelStart, times.global.kernelEnd);
  std::uint32_t count = 1;
  ze_kernel_timestamp_result_t packet{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventQueryTimestampsExp(event, device(), &count, &packet));
  EXPECT_EQ(1U, count);
  EXPECT_EQ(told_start, packet.global.kernelStart);
  ze_synchronized_timestamp_result_ext_t in_host_time{};
  ze_event_query_kernel_timestamps_results_ext_properties_t results{};
  results.stype = ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES;
  results.pSynchronizedTimestampsBuffer = &in_host_time;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeEventQueryKernelTimestampsExt(event, device(), &count, &results))
      << "nobody here can read the other board's clock";
  EXPECT_EQ(0U, in_host_time.global.kernelStart);
}

TEST_F(EventIpcProcesses, given_work_of_another_process_that_fails_then_waits_here_end_without_its_sentence) {
  const OwnedEvent event = create_event(pool_, 0);
  std::future<ChildOutcome> child = begin("event_ipc_fail");
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeEventHostSynchronize(event, patience_ns));
  EXPECT_NE(std::string::npos, last_error_text().find("another process")) << last_error_text();
  ze_event_handle_t awaited = event;
  OwnedQueue victim = create_queue(context(), device());
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &awaited));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t executed = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(victim, 1, &executed, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, victim.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetStatus(device()));
  const ChildOutcome outcome = child.get();
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

TEST_F(EventIpcProcesses, given_an_opener_that_is_killed_then_the_events_stay_as_they_were_and_usable) {
  const OwnedEvent event = create_event(pool_, 0);
  const OwnedEvent other = create_event(pool_, 1);
  const ChildOutcome outcome = begin("event_ipc_signal_and_be_killed").get();
  EXPECT_EQ(SIGKILL, outcome.signal) << outcome.describe();
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(event, 0));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventHostSynchronize(other, 0));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(other));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(other, 0));
}

TEST_F(EventIpcProcesses, given_an_exporter_that_is_killed_then_the_opener_goes_on_and_the_handle_is_stale) {
  const ChildOutcome outcome = begin("event_ipc_outlive_exporter").get();
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

/// Driver and objects of a scenario, which has no fixture, and the pool whose handle is in the environment.
struct EventPeer {
  ze_device_handle_t device = nullptr;
  OwnedContext context;
  OwnedQueue queue;
  ze_event_pool_handle_t pool = nullptr;
  OwnedEvent ping;
  OwnedEvent pong;

  [[nodiscard]] bool start() {
    if (session().result != ZE_RESULT_SUCCESS) {
      return false;
    }
    device = session().devices.front();
    context = create_context(session().driver);
    queue = create_queue(context, device);
    const ze_ipc_event_pool_handle_t handle =
        from_text<ze_ipc_event_pool_handle_t>(environment(pool_variable));
    if (zeEventPoolOpenIpcHandle(context, handle, &pool) != ZE_RESULT_SUCCESS) {
      std::fprintf(stderr, "%s\n", last_error_text().c_str());
      return false;
    }
    ping = create_event(pool, 0);
    pong = create_event(pool, 1);
    return ping.get() != nullptr && pong.get() != nullptr;
  }

  [[nodiscard]] ze_result_t finish() {
    static_cast<void>(ping.destroy());
    static_cast<void>(pong.destroy());
    return zeEventPoolCloseIpcHandle(pool);
  }

  [[nodiscard]] ze_result_t run(ze_command_list_handle_t list) const {
    if (const ze_result_t closed = zeCommandListClose(list); closed != ZE_RESULT_SUCCESS) {
      return closed;
    }
    const ze_result_t executed = zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr);
    return executed != ZE_RESULT_SUCCESS ? executed : zeCommandQueueSynchronize(queue, patience_ns);
  }
};

int scenario_host_pong() {
  EventPeer peer;
  SCENARIO_REQUIRE(peer.start());
  for (int round = 0; round < rounds(); ++round) {
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSynchronize(peer.ping, patience_ns));
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostReset(peer.ping));
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSignal(peer.pong));
  }
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.finish());
  return 0;
}

int scenario_board_pong() {
  EventPeer peer;
  SCENARIO_REQUIRE(peer.start());
  ze_event_handle_t awaited = peer.ping;
  for (int round = 0; round < rounds(); ++round) {
    const OwnedList list = create_list(peer.context, peer.device);
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list, 1, &awaited));
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendEventReset(list, peer.ping));
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendSignalEvent(list, peer.pong));
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.run(list));
  }
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.finish());
  return 0;
}

int scenario_open_gate_and_wait() {
  EventPeer peer;
  SCENARIO_REQUIRE(peer.start());
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeEventQueryStatus(peer.pong));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSignal(peer.ping));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSynchronize(peer.pong, patience_ns));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.finish());
  return 0;
}

int scenario_copy_and_signal() {
  EventPeer peer;
  SCENARIO_REQUIRE(peer.start());
  const OwnedMemory from = allocate(MemoryKind::host, peer.context, peer.device, bytes_copied);
  const OwnedMemory to = allocate(MemoryKind::device, peer.context, peer.device, bytes_copied);
  const OwnedList list = create_list(peer.context, peer.device);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, to.get(), from.get(), bytes_copied,
                                                                   peer.ping, 0, nullptr));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.run(list));
  ze_kernel_timestamp_result_t times{};
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventQueryKernelTimestamp(peer.ping, &times));
  std::printf("%llu\n", static_cast<unsigned long long>(times.global.kernelStart));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.finish());
  return 0;
}

int scenario_fail() {
  EventPeer peer;
  SCENARIO_REQUIRE(peer.start());
  const ze_host_mem_alloc_desc_t read_only{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr,
                                           ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY};
  void* pointer = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemAllocHost(peer.context, &read_only, bytes_copied, 0, &pointer));
  const OwnedMemory guarded(peer.context, pointer);
  const OwnedMemory from = allocate(MemoryKind::device, peer.context, peer.device, bytes_copied);
  const OwnedList list = create_list(peer.context, peer.device);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, guarded.get(), from.get(),
                                                                   bytes_copied, peer.ping, 0, nullptr));
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNKNOWN, peer.run(list));
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNKNOWN, zeEventQueryStatus(peer.ping));
  SCENARIO_REQUIRE(last_error_text().find("another process") == std::string::npos);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, peer.finish());
  return 0;
}

int scenario_signal_and_be_killed() {
  EventPeer peer;
  SCENARIO_REQUIRE(peer.start());
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSignal(peer.ping));
  ::kill(::getpid(), SIGKILL);
  return 1;
}

/// Its own child makes a pool, tells the handle and is killed when this process has opened it.
int scenario_outlive_exporter() {
  int told[2]{};
  SCENARIO_REQUIRE(::pipe(told) == 0);
  const pid_t exporter = ::fork();
  if (exporter == 0) {
    ::_exit([&] {
      SCENARIO_REQUIRE(session().result == ZE_RESULT_SUCCESS);
      const OwnedContext context = create_context(session().driver);
      const OwnedEventPool pool = create_event_pool(context, 2, shared_pool_flags);
      const OwnedEvent event = create_event(pool, 1);
      SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSignal(event));
      ze_ipc_event_pool_handle_t handle{};
      SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventPoolGetIpcHandle(pool, &handle));
      SCENARIO_REQUIRE(::write(told[1], &handle, sizeof handle) == sizeof handle);
      for (;;) {
        ::pause();
      }
    }());
  }
  ze_ipc_event_pool_handle_t handle{};
  ::close(told[1]);
  SCENARIO_REQUIRE(::read(told[0], &handle, sizeof handle) == sizeof handle);
  SCENARIO_REQUIRE(session().result == ZE_RESULT_SUCCESS);
  const OwnedContext context = create_context(session().driver);
  ze_event_pool_handle_t pool = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventPoolOpenIpcHandle(context, handle, &pool));
  SCENARIO_EXPECT(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventPoolPutIpcHandle(context, handle));
  SCENARIO_REQUIRE(::kill(exporter, SIGKILL) == 0 && ::waitpid(exporter, nullptr, 0) == exporter);
  {
    const OwnedEvent event = create_event(pool, 1);
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSynchronize(event, 0));
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostReset(event));
    SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, 1'000'000));
  }
  ze_event_pool_handle_t none = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventPoolOpenIpcHandle(context, handle, &none));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventPoolCloseIpcHandle(pool));
  return 0;
}

}  // namespace

std::vector<Scenario> event_ipc_scenarios() {
  return {{"event_ipc_host_pong", scenario_host_pong},
          {"event_ipc_board_pong", scenario_board_pong},
          {"event_ipc_open_gate_and_wait", scenario_open_gate_and_wait},
          {"event_ipc_copy_and_signal", scenario_copy_and_signal},
          {"event_ipc_fail", scenario_fail},
          {"event_ipc_signal_and_be_killed", scenario_signal_and_be_killed},
          {"event_ipc_outlive_exporter", scenario_outlive_exporter}};
}

}  // namespace datum::test
