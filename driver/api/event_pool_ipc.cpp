// Chapter "event pool": pools that processes share.
#include <cstring>

#include "driver/api/handles.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/event_pool.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/open_shared_file.hpp"
#include "driver/object/context.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {
namespace {

static_assert(sizeof(ze_ipc_event_pool_handle_t) == sizeof(IpcHandleBytes));
static_assert(shared_pool_flag == ZE_EVENT_POOL_FLAG_IPC &&
              timestamp_pool_flags ==
                  (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP));

/// invalid_argument also for handles of memory.
Result<IpcHandle> decode(const ze_ipc_event_pool_handle_t& handle) {
  IpcHandleBytes bytes;
  std::memcpy(bytes.data(), handle.data, bytes.size());
  Result<IpcHandle> decoded = decode_ipc_handle(bytes);
  if (decoded.ok() && decoded->hints && decoded->hints->file.kind != SharedKind::events) {
    return make_error(ErrorCode::invalid_argument, "the handle is of memory and not of an event pool");
  }
  return decoded;
}

}  // namespace

ze_result_t zeEventPoolGetIpcHandle(ze_event_pool_handle_t hEventPool, ze_ipc_event_pool_handle_t* phIpc) {
  auto* pool = find<EventPool>(hEventPool);
  if (pool == nullptr) {
    return refuse_handle(hEventPool, "hEventPool");
  }
  if (const ze_result_t code = check_alive(pool->context()); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (phIpc == nullptr) {
    return refuse_null_pointer("phIpc");
  }
  Result<IpcHandleBytes> handle = pool->ipc_handle();
  if (!handle) {
    return answer(handle.error());
  }
  std::memcpy(phIpc->data, handle->data(), handle->size());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolPutIpcHandle(ze_context_handle_t hContext, ze_ipc_event_pool_handle_t hIpc) {
  auto* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  Result<IpcHandle> decoded = decode(hIpc);
  if (!decoded) {
    return answer(decoded.error());
  }
  return answer(context->driver().exports().put(*decoded));
}

ze_result_t zeEventPoolOpenIpcHandle(ze_context_handle_t hContext, ze_ipc_event_pool_handle_t hIpc,
                                     ze_event_pool_handle_t* phEventPool) {
  auto* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (phEventPool == nullptr) {
    return refuse_null_pointer("phEventPool");
  }
  Result<IpcHandle> decoded = decode(hIpc);
  if (!decoded) {
    return answer(decoded.error());
  }
  Result<OpenedFile> file = open_shared_file(*decoded);
  if (!file) {
    return answer(file.error());
  }
  Result<EventPool*> pool = EventPool::open(*context, *file);
  if (!pool) {
    return answer(pool.error());
  }
  *phEventPool = reinterpret_cast<ze_event_pool_handle_t>((*pool)->handle());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolCloseIpcHandle(ze_event_pool_handle_t hEventPool) {
  auto* pool = find<EventPool>(hEventPool);
  return pool == nullptr ? refuse_handle(hEventPool, "hEventPool") : answer(pool->close());
}

}  // namespace datum::api
