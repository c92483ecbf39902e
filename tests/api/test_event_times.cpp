// Times of events by the extensions that the older loader does not have: in the board's clock and the host's.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class EventTimes : public ApiTest {};

TEST_F(EventTimes, given_mapped_timestamps_when_queried_then_device_and_host_times_tell_the_same_story) {
  const OwnedEventPool pool = create_event_pool(
      context(), 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP);
  const OwnedEvent event = create_event(pool);
  const OwnedMemory from = memory(MemoryKind::host, 4096);
  const OwnedMemory to = memory(MemoryKind::device, 4096);
  const auto times = [&](ze_kernel_timestamp_result_t& kernel, ze_synchronized_timestamp_result_ext_t& host,
                         std::uint32_t& count) {
    ze_event_query_kernel_timestamps_results_ext_properties_t results{};
    results.stype = ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES;
    results.pKernelTimestampsBuffer = &kernel;
    results.pSynchronizedTimestampsBuffer = &host;
    return zeEventQueryKernelTimestampsExt(event, device(), &count, &results);
  };
  ze_kernel_timestamp_result_t kernel{};
  ze_synchronized_timestamp_result_ext_t host{};
  std::uint32_t count = 1;
  EXPECT_EQ(ZE_RESULT_SUCCESS, times(kernel, host, count));
  EXPECT_EQ(0U, count) << "not signalled yet";
  EXPECT_EQ(0U, kernel.global.kernelStart) << "left as it was";
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::uint64_t board = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetGlobalTimestamps(device(), &before, &board));
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              EXPECT_EQ(ZE_RESULT_SUCCESS,
                        zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 4096, event, 0, nullptr));
            }));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetGlobalTimestamps(device(), &after, &board));
  count = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventQueryKernelTimestampsExt(event, device(), &count, nullptr));
  EXPECT_EQ(1U, count);
  count = 5;
  ASSERT_EQ(ZE_RESULT_SUCCESS, times(kernel, host, count));
  EXPECT_EQ(1U, count);
  EXPECT_LE(kernel.global.kernelStart, kernel.global.kernelEnd);
  EXPECT_EQ(kernel.global.kernelEnd - kernel.global.kernelStart,
            host.global.kernelEnd - host.global.kernelStart);
  constexpr std::uint64_t slack_ns = 1'000'000;  // of a pair of clock readings on a loaded machine
  EXPECT_LE(before, host.global.kernelStart + slack_ns);
  EXPECT_LE(host.global.kernelEnd, after + slack_ns);
  ze_kernel_timestamp_result_t plain{};
  count = 1;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventQueryTimestampsExp(event, device(), &count, &plain));
  EXPECT_EQ(1U, count);
  EXPECT_EQ(kernel.global.kernelStart, plain.global.kernelStart);
}

TEST_F(EventTimes, given_a_pool_without_mapped_timestamps_when_host_times_are_asked_for_then_it_is_refused) {
  const OwnedEventPool pool =
      create_event_pool(context(), 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  const OwnedEvent event = create_event(pool);
  ze_synchronized_timestamp_result_ext_t host{};
  ze_event_query_kernel_timestamps_results_ext_properties_t results{};
  results.stype = ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES;
  results.pSynchronizedTimestampsBuffer = &host;
  std::uint32_t count = 1;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeEventQueryKernelTimestampsExt(event, device(), &count, &results));
  const OwnedEventPool plain_pool = create_event_pool(context(), 1);
  const OwnedEvent plain = create_event(plain_pool);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventQueryTimestampsExp(plain, device(), &count, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeEventQueryTimestampsExp(event, device(), nullptr, nullptr));
}

}  // namespace
}  // namespace datum::test
