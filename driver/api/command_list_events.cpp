// Chapter "command list": barriers, events, times.
#include <vector>

#include <fmt/format.h>

#include "driver/api/handles.hpp"
#include "driver/api/known_range.hpp"
#include "driver/api/synchronization.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/command_list.hpp"
#include "driver/command/event.hpp"

namespace datum::api {

namespace {

/// An event that the command itself is about, not one that it waits for.
ze_result_t find_subject(CommandList& list, ze_event_handle_t handle, Event*& event) {
  event = find<Event>(handle);
  if (event == nullptr) {
    return refuse_handle(handle, "hEvent");
  }
  if (!event->usable_by(list.device(), list.context())) {
    return refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                  "the event's pool was created for another context or other devices");
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList, ze_event_handle_t hSignalEvent,
                                       uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve(*list, hSignalEvent, numWaitEvents, phWaitEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  return answer(list->append(BarrierCommand{}, events.signal(), events.waits()));
}

ze_result_t zeCommandListAppendMemoryRangesBarrier(ze_command_list_handle_t hCommandList, uint32_t numRanges,
                                                   const size_t* pRangeSizes, const void** pRanges,
                                                   ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                   ze_event_handle_t* phWaitEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (pRangeSizes == nullptr) {
    return refuse_null_pointer("pRangeSizes");
  }
  if (pRanges == nullptr) {
    return refuse_null_pointer("pRanges");
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve(*list, hSignalEvent, numWaitEvents, phWaitEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  for (uint32_t index = 0; index < numRanges; ++index) {
    if (const Status known = check_known_range(*list, pRanges[index], pRangeSizes[index]); !known) {
      return answer(known);
    }
  }
  // The board's memory is coherent with itself and with the host: a barrier for all memory is one for the
  // ranges.
  return answer(list->append(BarrierCommand{}, events.signal(), events.waits()));
}

ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList, ze_event_handle_t hEvent) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  Event* event = nullptr;
  if (const ze_result_t found = find_subject(*list, hEvent, event); found != ZE_RESULT_SUCCESS) {
    return found;
  }
  return answer(list->append(SynchronizeCommand{}, event, {}));
}

ze_result_t zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList, uint32_t numEvents,
                                            ze_event_handle_t* phEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (phEvents == nullptr) {
    return refuse_null_pointer("phEvents");
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve_waits(*list, numEvents, phEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  return answer(list->append(SynchronizeCommand{}, nullptr, events.waits()));
}

ze_result_t zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList, ze_event_handle_t hEvent) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  Event* event = nullptr;
  if (const ze_result_t found = find_subject(*list, hEvent, event); found != ZE_RESULT_SUCCESS) {
    return found;
  }
  if (event->counter_based()) {
    return refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "a counter-based event is never reset");
  }
  return answer(list->append(ResetEventCommand{EventReference(event)}, nullptr, {}));
}

ze_result_t zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t hCommandList, uint64_t* dstptr,
                                                    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                    ze_event_handle_t* phWaitEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (dstptr == nullptr) {
    return refuse_null_pointer("dstptr");
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve(*list, hSignalEvent, numWaitEvents, phWaitEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  if (reinterpret_cast<std::uintptr_t>(dstptr) % sizeof *dstptr != 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "dstptr is not aligned for a 64-bit number");
  }
  if (const Status known = check_known_range(*list, dstptr, sizeof *dstptr); !known) {
    return answer(known);
  }
  return answer(list->append(TimestampCommand{dstptr}, events.signal(), events.waits()));
}

ze_result_t zeCommandListAppendQueryKernelTimestamps(ze_command_list_handle_t hCommandList,
                                                     uint32_t numEvents, ze_event_handle_t* phEvents,
                                                     void* dstptr, const size_t* pOffsets,
                                                     ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                     ze_event_handle_t* phWaitEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (phEvents == nullptr) {
    return refuse_null_pointer("phEvents");
  }
  if (dstptr == nullptr) {
    return refuse_null_pointer("dstptr");
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve(*list, hSignalEvent, numWaitEvents, phWaitEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  Synchronization queried;
  if (const ze_result_t found = queried.resolve_waits(*list, numEvents, phEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  std::vector<CommandBody> bodies;
  for (uint32_t index = 0; index < numEvents; ++index) {
    Event& event = *queried.waits()[index];
    if (!event.has_timestamps()) {
      return refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                    fmt::format("the pool of event {} keeps no timestamps", index));
    }
    const std::size_t offset =
        pOffsets != nullptr ? pOffsets[index] : index * sizeof(ze_kernel_timestamp_result_t);
    void* dst = static_cast<std::byte*>(dstptr) + offset;
    if (const Status known = check_known_range(*list, dst, sizeof(ze_kernel_timestamp_result_t)); !known) {
      return answer(known);
    }
    bodies.emplace_back(QueryTimestampsCommand{dst, EventReference(&event)});
  }
  if (bodies.empty()) {
    bodies.emplace_back(SynchronizeCommand{});
  }
  return answer(list->append(bodies, events.signal(), events.waits()));
}

ze_result_t zeCommandListAppendHostFunction(ze_command_list_handle_t hCommandList,
                                            ze_host_function_callback_t pfnHostFunction, void* pUserData,
                                            const void* pNext, ze_event_handle_t hSignalEvent,
                                            uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (pfnHostFunction == nullptr) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "pfnHostFunction is null");
  }
  if (pNext != nullptr) {
    return refuse_extension();
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve(*list, hSignalEvent, numWaitEvents, phWaitEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  return answer(
      list->append(HostFunctionCommand{pfnHostFunction, pUserData}, events.signal(), events.waits()));
}

}  // namespace datum::api
