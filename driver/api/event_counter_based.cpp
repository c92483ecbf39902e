// Chapter "event": counter-based events.
#include <fmt/format.h>

#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/event.hpp"
#include "driver/object/context.hpp"

namespace datum::api {

namespace {

constexpr ze_event_counter_based_flags_t counter_timestamp_flags =
    ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;

ze_result_t check_extension(ze_structure_type_t stype, const void*) {
  switch (stype) {
  case ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC:
  case ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC:
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  "this driver keeps the counters of counter-based events itself");
  default:
    return ZE_RESULT_SUCCESS;
  }
}

ze_result_t check_descriptor(const ze_event_counter_based_desc_t& desc) {
  if (desc.stype != ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "the descriptor's stype is not ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC");
  }
  if (desc.flags > 0x7fU || desc.signal > 0x7U || desc.wait > 0x7U) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  fmt::format("unknown flags {:#x} or scopes: signal {:#x}, wait {:#x}", desc.flags,
                              desc.signal, desc.wait));
  }
  if ((desc.flags & counter_timestamp_flags) == counter_timestamp_flags) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "timestamps are either the device's or the host's");
  }
  if ((desc.flags & ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL) != 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "there are no graphs");
  }
  return for_each_extension(desc.pNext, check_extension);
}

}  // namespace

ze_result_t zeEventCounterBasedCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                      const ze_event_counter_based_desc_t* desc, ze_event_handle_t* phEvent) {
  auto* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  auto* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (phEvent == nullptr) {
    return refuse_null_pointer("phEvent");
  }
  if (const ze_result_t checked = check_descriptor(*desc); checked != ZE_RESULT_SUCCESS) {
    return checked;
  }
  if (!context->has(*device)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the device is not one of the context's");
  }
  const bool timestamps = (desc->flags & counter_timestamp_flags) != 0;
  Result<Event*> event =
      Event::create_counter_based(*context, {desc->flags, desc->signal, desc->wait, timestamps});
  if (!event) {
    return answer(event.error());
  }
  *phEvent = reinterpret_cast<ze_event_handle_t>((*event)->handle());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventCounterBasedGetDeviceAddress(ze_event_handle_t hEvent, uint64_t* completionValue,
                                                uint64_t* deviceAddress) {
  auto* event = find<Event>(hEvent);
  if (event == nullptr) {
    return refuse_handle(hEvent, "hEvent");
  }
  if (completionValue == nullptr) {
    return refuse_null_pointer("completionValue");
  }
  if (deviceAddress == nullptr) {
    return refuse_null_pointer("deviceAddress");
  }
  if (!event->counter_based()) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the event is not counter-based");
  }
  const CounterPoint point = event->point();
  *completionValue = point.value;
  *deviceAddress = point.counter == nullptr ? 0 : raw(point.counter->address());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventGetCounterBasedFlags(ze_event_handle_t hEvent, ze_event_counter_based_flags_t* pFlags) {
  auto* event = find<Event>(hEvent);
  if (event == nullptr) {
    return refuse_handle(hEvent, "hEvent");
  }
  if (pFlags == nullptr) {
    return refuse_null_pointer("pFlags");
  }
  *pFlags = event->counter_flags();
  return ZE_RESULT_SUCCESS;
}

// NOLINTNEXTLINE(readability-non-const-parameter): the API says what it is
ze_result_t zeDeviceGetCounterBasedEventMaxValue(ze_device_handle_t hDevice, uint64_t* maxValue) {
  if (find<Device>(hDevice) == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (maxValue == nullptr) {
    return refuse_null_pointer("maxValue");
  }
  return refuse(
      ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
      "the limit is that of counters which the application keeps, and this driver has none of those");
}

}  // namespace datum::api
