// Chapter "command queue".
#include "driver/command/command_queue.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "driver/api/descriptor_type.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/queue_descriptor.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/command_list.hpp"
#include "driver/command/fence.hpp"
#include "driver/command/queue_group.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {

ze_result_t check_queue_descriptor(Device& device, const ze_command_queue_desc_t& desc,
                                   QueueSettings& settings) {
  if (!is_descriptor(desc.stype, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "the descriptor's stype is not ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC");
  }
  if (desc.flags > 0x7U) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, fmt::format("unknown queue flags {:#x}", desc.flags));
  }
  if (desc.mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "unknown queue mode");
  }
  if (desc.priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "unknown queue priority");
  }
  if (const unsigned groups = queue_group_count(device.driver().attitude()); desc.ordinal >= groups) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("queue group ordinal {}, the device has {}", desc.ordinal, groups));
  }
  if (const unsigned queues = device.queue_count(); desc.index >= queues) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("queue index {}, the group has {} queues", desc.index, queues));
  }
  settings.ordinal = desc.ordinal;
  settings.index = desc.index;
  settings.flags = desc.flags;
  settings.mode = static_cast<std::uint32_t>(desc.mode);
  settings.priority = static_cast<std::uint32_t>(desc.priority);
  settings.synchronous = desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  settings.in_order = (desc.flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER) != 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandQueueCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 const ze_command_queue_desc_t* desc,
                                 ze_command_queue_handle_t* phCommandQueue) {
  return create_from_queue_descriptor(hContext, hDevice, desc, phCommandQueue, {"desc", "phCommandQueue"},
                                      CommandQueue::create);
}

ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t hCommandQueue) {
  auto* queue = find<CommandQueue>(hCommandQueue);
  return queue == nullptr ? refuse_handle(hCommandQueue, "hCommandQueue") : answer(queue->destroy());
}

ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t hCommandQueue,
                                              uint32_t numCommandLists,
                                              ze_command_list_handle_t* phCommandLists,
                                              ze_fence_handle_t hFence) {
  auto* queue = find<CommandQueue>(hCommandQueue);
  if (queue == nullptr) {
    return refuse_handle(hCommandQueue, "hCommandQueue");
  }
  if (phCommandLists == nullptr) {
    return refuse_null_pointer("phCommandLists");
  }
  if (numCommandLists == 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_SIZE, "numCommandLists is 0");
  }
  Fence* fence = nullptr;
  if (hFence != nullptr) {
    fence = find<Fence>(hFence);
    if (fence == nullptr) {
      return refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                    "hFence is not the handle of a live fence");
    }
  }
  std::array<CommandList*, 8> few{};
  std::vector<CommandList*> many;
  if (numCommandLists > few.size()) {
    many.resize(numCommandLists);
  }
  const std::span<CommandList*> lists =
      (many.empty() ? std::span<CommandList*>(few) : std::span<CommandList*>(many)).first(numCommandLists);
  for (uint32_t index = 0; index < numCommandLists; ++index) {
    lists[index] = find<CommandList>(phCommandLists[index]);
    if (lists[index] == nullptr) {
      return refuse_handle(phCommandLists[index], "phCommandLists");
    }
  }
  return answer(queue->execute(lists, fence));
}

ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t hCommandQueue, uint64_t timeout) {
  auto* queue = find<CommandQueue>(hCommandQueue);
  return queue == nullptr ? refuse_handle(hCommandQueue, "hCommandQueue")
                          : answer(queue->synchronize(timeout));
}

namespace {

/// `value` of the queue's settings into `*to`.
template <class To, class Value>
ze_result_t get(ze_command_queue_handle_t handle, To* to, std::string_view name,
                Value QueueSettings::*value) {
  auto* queue = find<CommandQueue>(handle);
  if (queue == nullptr) {
    return refuse_handle(handle, "hCommandQueue");
  }
  if (to == nullptr) {
    return refuse_null_pointer(name);
  }
  *to = static_cast<To>(queue->settings().*value);
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t zeCommandQueueGetOrdinal(ze_command_queue_handle_t hCommandQueue, uint32_t* pOrdinal) {
  return get(hCommandQueue, pOrdinal, "pOrdinal", &QueueSettings::ordinal);
}

ze_result_t zeCommandQueueGetIndex(ze_command_queue_handle_t hCommandQueue, uint32_t* pIndex) {
  return get(hCommandQueue, pIndex, "pIndex", &QueueSettings::index);
}

ze_result_t zeCommandQueueGetFlags(ze_command_queue_handle_t hCmdQueue, ze_command_queue_flags_t* pFlags) {
  return get(hCmdQueue, pFlags, "pFlags", &QueueSettings::flags);
}

ze_result_t zeCommandQueueGetMode(ze_command_queue_handle_t hCmdQueue, ze_command_queue_mode_t* pMode) {
  return get(hCmdQueue, pMode, "pMode", &QueueSettings::mode);
}

ze_result_t zeCommandQueueGetPriority(ze_command_queue_handle_t hCmdQueue,
                                      ze_command_queue_priority_t* pPriority) {
  return get(hCmdQueue, pPriority, "pPriority", &QueueSettings::priority);
}

}  // namespace datum::api
