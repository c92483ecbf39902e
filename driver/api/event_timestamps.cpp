// Chapter "event": times of the commands that signalled events.
#include <optional>

#include "driver/api/event_capabilities.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/event.hpp"
#include "driver/command/event_pool.hpp"
#include "driver/device/clock_pair.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {

namespace {

/// The start of the queries here. `times` is empty where `device` has taken none (yet).
struct FoundTimes {
  Event* event = nullptr;
  Device* device = nullptr;
  std::optional<EventTimes> times;
};

ze_result_t find_times(ze_event_handle_t hEvent, ze_device_handle_t hDevice, const uint32_t* pCount,
                       FoundTimes& found) {
  found.event = find<Event>(hEvent);
  if (found.event == nullptr) {
    return refuse_handle(hEvent, "hEvent");
  }
  found.device = find<Device>(hDevice);
  if (found.device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  Result<EventTimes> times = found.event->times();
  if (times) {
    if (found.event->timed_by() == found.device || found.event->timed_elsewhere()) {
      found.times = *times;
    }
    return ZE_RESULT_SUCCESS;
  }
  return times.error().code == ErrorCode::not_ready ? ZE_RESULT_SUCCESS : answer(times.error());
}

/// The board's clock runs alike for all contexts.
ze_kernel_timestamp_result_t as_result(const EventTimes& times) {
  const ze_kernel_timestamp_data_t data{times.start_ns, times.end_ns};
  return {data, data};
}

bool in_host_time(const Event& event) {
  return (event.counter_flags() & ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP) != 0;
}

ze_kernel_timestamp_result_t kernel_result(const FoundTimes& found) {
  if (!in_host_time(*found.event)) {
    return as_result(*found.times);
  }
  const ClockPair clocks = read_clock_pair(found.device->board());
  return as_result({clocks.host_time_of(found.times->start_ns), clocks.host_time_of(found.times->end_ns)});
}

bool may_be_synchronized(Event& event) {
  return in_host_time(event) || (event.pool() != nullptr &&
                                 (event.pool()->flags() & ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP) != 0);
}

}  // namespace

ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t hEvent, ze_kernel_timestamp_result_t* dstptr) {
  auto* event = find<Event>(hEvent);
  if (event == nullptr) {
    return refuse_handle(hEvent, "hEvent");
  }
  if (dstptr == nullptr) {
    return refuse_null_pointer("dstptr");
  }
  Result<EventTimes> times = event->times();
  if (!times) {
    return answer(times.error());
  }
  Device* device = event->timed_by();
  *dstptr = device != nullptr ? kernel_result({event, device, *times}) : as_result(*times);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventQueryTimestampsExp(ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t* pCount,
                                      ze_kernel_timestamp_result_t* pTimestamps) {
  FoundTimes found;
  if (const ze_result_t result = find_times(hEvent, hDevice, pCount, found); result != ZE_RESULT_SUCCESS) {
    return result;
  }
  const std::uint32_t available = found.times ? 1 : 0;
  if (*pCount != 0 && pTimestamps != nullptr && available != 0) {
    *pTimestamps = kernel_result(found);
  }
  *pCount = available;
  return ZE_RESULT_SUCCESS;
}

ze_result_t
zeEventQueryKernelTimestampsExt(ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t* pCount,
                                ze_event_query_kernel_timestamps_results_ext_properties_t* pResults) {
  FoundTimes found;
  if (const ze_result_t result = find_times(hEvent, hDevice, pCount, found); result != ZE_RESULT_SUCCESS) {
    return result;
  }
  if (*pCount != 0 && pResults != nullptr && pResults->pSynchronizedTimestampsBuffer != nullptr &&
      !may_be_synchronized(*found.event)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "times in the host's clock need a pool with ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP");
  }
  const std::uint32_t available = found.times ? 1 : 0;
  if (*pCount != 0 && pResults != nullptr && pResults->pSynchronizedTimestampsBuffer != nullptr &&
      found.event->timed_elsewhere()) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  "the board that took the times is another process's, which alone can read its clock");
  }
  if (*pCount != 0 && pResults != nullptr && available != 0) {
    if (pResults->pKernelTimestampsBuffer != nullptr) {
      *pResults->pKernelTimestampsBuffer = as_result(*found.times);
    }
    if (pResults->pSynchronizedTimestampsBuffer != nullptr) {
      const ClockPair clocks = read_clock_pair(found.device->board());
      const ze_synchronized_timestamp_data_ext_t data{clocks.host_time_of(found.times->start_ns),
                                                      clocks.host_time_of(found.times->end_ns)};
      *pResults->pSynchronizedTimestampsBuffer = {data, data};
    }
  }
  *pCount = available;
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
