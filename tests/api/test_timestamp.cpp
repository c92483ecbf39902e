// Time as the board tells it: events with timestamps, and timestamps written into memory.
#include <cstring>
#include <limits>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class Timestamp : public ApiTest {
 protected:
  [[nodiscard]] std::uint64_t device_time() const {
    std::uint64_t host = 0;
    std::uint64_t board = 0;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetGlobalTimestamps(device(), &host, &board));
    return board;
  }
};

TEST_F(Timestamp,
       given_a_copy_with_a_timestamp_event_when_done_then_it_lies_between_the_times_before_and_after) {
  const OwnedEventPool pool =
      create_event_pool(context(), 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const OwnedEvent event = create_event(pool);
  const OwnedMemory from = memory(MemoryKind::host, 4096);
  const OwnedMemory to = memory(MemoryKind::device, 4096);
  std::uint64_t last_end = 0;
  for (int round = 0; round < 4; ++round) {
    ze_kernel_timestamp_result_t found{};
    EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryKernelTimestamp(event, &found));
    const std::uint64_t before = device_time();
    ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                EXPECT_EQ(ZE_RESULT_SUCCESS,
                          zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 4096, event, 0, nullptr));
              }));
    const std::uint64_t after = device_time();
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventQueryKernelTimestamp(event, &found));
    EXPECT_LE(before, found.global.kernelStart) << "round " << round;
    EXPECT_LE(found.global.kernelStart, found.global.kernelEnd) << "round " << round;
    EXPECT_LE(found.global.kernelEnd, after) << "round " << round;
    EXPECT_LE(found.context.kernelStart, found.context.kernelEnd) << "round " << round;
    EXPECT_GE(found.global.kernelStart, last_end) << "never an earlier command's time";
    last_end = found.global.kernelEnd;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(event));
  }
}

TEST_F(Timestamp, given_an_event_that_waits_for_a_gate_when_done_then_its_start_is_after_the_gate) {
  const OwnedEventPool pool =
      create_event_pool(context(), 2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const OwnedEvent gate = create_event(pool, 0);
  const OwnedEvent event = create_event(pool, 1);
  ze_event_handle_t wait_for = gate;
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::device, 64);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 64, event, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &handle, nullptr));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue(), 5'000'000));
  const std::uint64_t opened = device_time();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
  ze_kernel_timestamp_result_t found{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventQueryKernelTimestamp(event, &found));
  EXPECT_GE(found.global.kernelStart, opened);
}

TEST_F(Timestamp, given_bad_arguments_when_a_timestamp_is_asked_for_then_each_has_its_code) {
  const OwnedEventPool pool =
      create_event_pool(context(), 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const OwnedEvent event = create_event(pool);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeEventQueryKernelTimestamp(event, nullptr));
  const OwnedEventPool plain_pool = create_event_pool(context(), 1);
  const OwnedEvent plain = create_event(plain_pool);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(plain));
  ze_kernel_timestamp_result_t found{};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventQueryKernelTimestamp(plain, &found))
      << "its pool keeps no timestamps";
}

TEST_F(Timestamp,
       given_timestamps_written_into_memory_when_executed_then_they_rise_and_lie_between_before_and_after) {
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::device}) {
    const OwnedMemory block = memory(kind, 64);
    const std::uint64_t before = device_time();
    ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                for (std::size_t i = 0; i < 4; ++i) {
                  EXPECT_EQ(ZE_RESULT_SUCCESS,
                            zeCommandListAppendWriteGlobalTimestamp(
                                list, reinterpret_cast<std::uint64_t*>(block.bytes() + 8 * i), nullptr, 0,
                                nullptr));
                  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
                }
              }));
    const std::uint64_t after = device_time();
    const Bytes found = download(block.get(), 32);
    std::uint64_t last = before;
    for (std::size_t i = 0; i < 4; ++i) {
      std::uint64_t time = 0;
      std::memcpy(&time, found.data() + 8 * i, 8);
      EXPECT_GE(time, last) << name_of(kind) << ", " << i;
      last = time;
    }
    EXPECT_LE(last, after);
  }
}

TEST_F(Timestamp, given_a_null_target_for_a_timestamp_when_appended_then_it_is_named) {
  const OwnedList list = create_list(context(), device());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendWriteGlobalTimestamp(list, nullptr, nullptr, 0, nullptr));
}

TEST_F(Timestamp, given_the_device_when_asked_then_resolution_valid_bits_and_the_clocks_fit_each_other) {
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
  ASSERT_GT(properties.timerResolution, 0U);
  EXPECT_EQ(64U, properties.timestampValidBits);
  EXPECT_EQ(64U, properties.kernelTimestampValidBits);
  std::uint64_t host[2] = {};
  std::uint64_t board[2] = {};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetGlobalTimestamps(device(), &host[0], &board[0]));
  const OwnedMemory from = memory(MemoryKind::host, 4096);
  const OwnedMemory to = memory(MemoryKind::device, 4096);
  std::uint64_t elapsed = 0;
  while (elapsed < 20'000'000) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(to.get(), from.get(), 4096));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetGlobalTimestamps(device(), &host[1], &board[1]));
    elapsed = host[1] - host[0];
  }
  const double device_ns =
      static_cast<double>(board[1] - board[0]) * 1e9 / static_cast<double>(properties.timerResolution);
  EXPECT_NEAR(static_cast<double>(elapsed), device_ns, 5e6) << "a free-running board's time is the host's";
}

}  // namespace
}  // namespace datum::test
