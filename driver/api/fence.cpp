// Chapter "fence".
#include "driver/command/fence.hpp"

#include <fmt/format.h>

#include "driver/api/descriptor_type.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/command_queue.hpp"

namespace datum::api {

ze_result_t zeFenceCreate(ze_command_queue_handle_t hCommandQueue, const ze_fence_desc_t* desc,
                          ze_fence_handle_t* phFence) {
  auto* queue = find<CommandQueue>(hCommandQueue);
  if (queue == nullptr) {
    return refuse_handle(hCommandQueue, "hCommandQueue");
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (phFence == nullptr) {
    return refuse_null_pointer("phFence");
  }
  if (!is_descriptor(desc->stype, ZE_STRUCTURE_TYPE_FENCE_DESC)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "the descriptor's stype is not ZE_STRUCTURE_TYPE_FENCE_DESC");
  }
  if (desc->flags > ZE_FENCE_FLAG_SIGNALED) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, fmt::format("unknown fence flags {:#x}", desc->flags));
  }
  Result<Fence*> fence = Fence::create(*queue, (desc->flags & ZE_FENCE_FLAG_SIGNALED) != 0);
  if (!fence) {
    return answer(fence.error());
  }
  *phFence = reinterpret_cast<ze_fence_handle_t>((*fence)->handle());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeFenceDestroy(ze_fence_handle_t hFence) {
  auto* fence = find<Fence>(hFence);
  if (fence == nullptr) {
    return refuse_handle(hFence, "hFence");
  }
  fence->destroy();
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeFenceHostSynchronize(ze_fence_handle_t hFence, uint64_t timeout) {
  auto* fence = find<Fence>(hFence);
  return fence == nullptr ? refuse_handle(hFence, "hFence") : answer(fence->synchronize(timeout));
}

ze_result_t zeFenceQueryStatus(ze_fence_handle_t hFence) {
  auto* fence = find<Fence>(hFence);
  return fence == nullptr ? refuse_handle(hFence, "hFence") : answer(fence->query());
}

ze_result_t zeFenceReset(ze_fence_handle_t hFence) {
  auto* fence = find<Fence>(hFence);
  if (fence == nullptr) {
    return refuse_handle(hFence, "hFence");
  }
  return answer(fence->reset());
}

}  // namespace datum::api
