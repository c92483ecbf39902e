// Chapter "event".
#include "driver/command/event.hpp"

#include <fmt/format.h>

#include "driver/api/descriptor_type.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/event_pool.hpp"

namespace datum::api {

ze_result_t zeEventCreate(ze_event_pool_handle_t hEventPool, const ze_event_desc_t* desc,
                          ze_event_handle_t* phEvent) {
  auto* pool = find<EventPool>(hEventPool);
  if (pool == nullptr) {
    return refuse_handle(hEventPool, "hEventPool");
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (phEvent == nullptr) {
    return refuse_null_pointer("phEvent");
  }
  if (!is_descriptor(desc->stype, ZE_STRUCTURE_TYPE_EVENT_DESC)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "the descriptor's stype is not ZE_STRUCTURE_TYPE_EVENT_DESC");
  }
  if (desc->signal > 0x7U || desc->wait > 0x7U) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  fmt::format("unknown scopes: signal {:#x}, wait {:#x}", desc->signal, desc->wait));
  }
  Result<Event*> event = Event::create(*pool, desc->index, desc->signal, desc->wait);
  if (!event) {
    return answer(event.error());
  }
  *phEvent = reinterpret_cast<ze_event_handle_t>((*event)->handle());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventDestroy(ze_event_handle_t hEvent) {
  auto* event = find<Event>(hEvent);
  if (event == nullptr) {
    return refuse_handle(hEvent, "hEvent");
  }
  event->destroy();
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventHostSignal(ze_event_handle_t hEvent) {
  auto* event = find<Event>(hEvent);
  return event == nullptr ? refuse_handle(hEvent, "hEvent") : answer(event->host_signal());
}

ze_result_t zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout) {
  auto* event = find<Event>(hEvent);
  return event == nullptr ? refuse_handle(hEvent, "hEvent") : answer(event->synchronize(timeout));
}

ze_result_t zeEventQueryStatus(ze_event_handle_t hEvent) {
  auto* event = find<Event>(hEvent);
  return event == nullptr ? refuse_handle(hEvent, "hEvent") : answer(event->query());
}

ze_result_t zeEventHostReset(ze_event_handle_t hEvent) {
  auto* event = find<Event>(hEvent);
  return event == nullptr ? refuse_handle(hEvent, "hEvent") : answer(event->host_reset());
}

ze_result_t zeEventGetEventPool(ze_event_handle_t hEvent, ze_event_pool_handle_t* phEventPool) {
  auto* event = find<Event>(hEvent);
  if (event == nullptr) {
    return refuse_handle(hEvent, "hEvent");
  }
  if (phEventPool == nullptr) {
    return refuse_null_pointer("phEventPool");
  }
  if (event->pool() == nullptr) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a counter-based event has no pool");
  }
  *phEventPool = reinterpret_cast<ze_event_pool_handle_t>(event->pool()->handle());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventGetSignalScope(ze_event_handle_t hEvent, ze_event_scope_flags_t* pSignalScope) {
  auto* event = find<Event>(hEvent);
  if (event == nullptr) {
    return refuse_handle(hEvent, "hEvent");
  }
  if (pSignalScope == nullptr) {
    return refuse_null_pointer("pSignalScope");
  }
  *pSignalScope = event->signal_scope();
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventGetWaitScope(ze_event_handle_t hEvent, ze_event_scope_flags_t* pWaitScope) {
  auto* event = find<Event>(hEvent);
  if (event == nullptr) {
    return refuse_handle(hEvent, "hEvent");
  }
  if (pWaitScope == nullptr) {
    return refuse_null_pointer("pWaitScope");
  }
  *pWaitScope = event->wait_scope();
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
