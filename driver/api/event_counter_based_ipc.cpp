// Chapter "event": counter-based events that other processes wait for.
#include <cstring>

#include "driver/api/handles.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/event.hpp"
#include "driver/memory/open_shared_file.hpp"
#include "driver/object/context.hpp"

namespace datum::api {

static_assert(sizeof(ze_ipc_event_counter_based_handle_t) == sizeof(IpcHandleBytes));
static_assert(shared_counter_flag == ZE_EVENT_COUNTER_BASED_FLAG_IPC);

ze_result_t zeEventCounterBasedGetIpcHandle(ze_event_handle_t hEvent,
                                            ze_ipc_event_counter_based_handle_t* phIpc) {
  auto* event = find<Event>(hEvent);
  if (event == nullptr) {
    return refuse_handle(hEvent, "hEvent");
  }
  if (phIpc == nullptr) {
    return refuse_null_pointer("phIpc");
  }
  Result<IpcHandleBytes> handle = event->ipc_handle();
  if (!handle) {
    return answer(handle.error());
  }
  std::memcpy(phIpc->data, handle->data(), handle->size());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventCounterBasedOpenIpcHandle(ze_context_handle_t hContext,
                                             ze_ipc_event_counter_based_handle_t hIpc,
                                             ze_event_handle_t* phEvent) {
  auto* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (phEvent == nullptr) {
    return refuse_null_pointer("phEvent");
  }
  IpcHandleBytes bytes;
  std::memcpy(bytes.data(), hIpc.data, bytes.size());
  Result<IpcHandle> decoded = decode_ipc_handle(bytes);
  if (!decoded) {
    return answer(decoded.error());
  }
  if (decoded->hints && decoded->hints->file.kind != SharedKind::counter) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the handle is not of a counter-based event");
  }
  Result<OpenedFile> file = open_shared_file(*decoded);
  if (!file) {
    return answer(file.error());
  }
  const std::optional<SharedEventPoint> point =
      decoded->hints ? std::optional(decoded->hints->point) : std::nullopt;
  Result<Event*> event = Event::open_counter_based(*context, *file, point);
  if (!event) {
    return answer(event.error());
  }
  *phEvent = reinterpret_cast<ze_event_handle_t>((*event)->handle());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventCounterBasedCloseIpcHandle(ze_event_handle_t hEvent) {
  auto* event = find<Event>(hEvent);
  if (event == nullptr) {
    return refuse_handle(hEvent, "hEvent");
  }
  if (!event->opened()) {
    return refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                  "the event was created here and not opened; destroy it with zeEventDestroy");
  }
  event->destroy();
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
