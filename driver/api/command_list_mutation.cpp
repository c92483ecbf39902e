// Chapter "command list": mutable lists. Of this board's commands the events can be changed; there are no
// kernels.
#include <vector>

#include <fmt/format.h>

#include "driver/api/event_capabilities.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/synchronization.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/command_list.hpp"
#include "driver/command/event.hpp"

namespace datum::api {

namespace {

constexpr ze_mutable_command_exp_flags_t known_mutations = 0xff;

ze_result_t find_event(CommandList& list, ze_event_handle_t handle, Event*& event) {
  Synchronization found;
  if (found.resolve(list, handle, 0, nullptr) != ZE_RESULT_SUCCESS) {
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  event = found.signal();
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t zeCommandListGetNextCommandIdExp(ze_command_list_handle_t hCommandList,
                                             const ze_mutable_command_id_exp_desc_t* desc,
                                             uint64_t* pCommandId) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (pCommandId == nullptr) {
    return refuse_null_pointer("pCommandId");
  }
  if (desc->stype != ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "the descriptor's stype is not ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC");
  }
  if (desc->flags > known_mutations) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  fmt::format("unknown mutable command flags {:#x}", desc->flags));
  }
  if ((desc->flags & ~mutable_command_flags) != 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                  "only the signal event and the wait events of a command can be changed");
  }
  Result<std::uint64_t> id = list->name_next_command();
  if (!id) {
    return answer(id.error());
  }
  *pCommandId = *id;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListUpdateMutableCommandsExp(ze_command_list_handle_t hCommandList,
                                                  const ze_mutable_commands_exp_desc_t* desc) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (desc->stype != ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC || desc->flags != 0) {
    return refuse(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "the descriptor's stype is not ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, or its flags are "
        "not 0");
  }
  if (!list->is_mutable()) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the command list is not mutable");
  }
  // Every structure that can be chained is about kernels.
  return desc->pNext == nullptr ? ZE_RESULT_SUCCESS : refuse_extension();
}

ze_result_t zeCommandListUpdateMutableCommandSignalEventExp(ze_command_list_handle_t hCommandList,
                                                            uint64_t commandId,
                                                            ze_event_handle_t hSignalEvent) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  Event* event = nullptr;
  if (const ze_result_t found = find_event(*list, hSignalEvent, event); found != ZE_RESULT_SUCCESS) {
    return found;
  }
  return answer(list->change_signal(commandId, event));
}

ze_result_t zeCommandListUpdateMutableCommandWaitEventsExp(ze_command_list_handle_t hCommandList,
                                                           uint64_t commandId, uint32_t numWaitEvents,
                                                           ze_event_handle_t* phWaitEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  Result<std::uint32_t> recorded = list->wait_count(commandId);
  if (!recorded) {
    return answer(recorded.error());
  }
  // A null array: wait for nothing, whatever the number says.
  const std::uint32_t count = phWaitEvents == nullptr ? *recorded : numWaitEvents;
  if (count != *recorded) {
    return refuse(ZE_RESULT_ERROR_INVALID_SIZE,
                  fmt::format("{} wait events for a command recorded with {}", numWaitEvents, *recorded));
  }
  std::vector<Event*> waits(count);
  for (uint32_t index = 0; phWaitEvents != nullptr && index < count; ++index) {
    if (const ze_result_t found = find_event(*list, phWaitEvents[index], waits[index]);
        found != ZE_RESULT_SUCCESS) {
      return found;
    }
  }
  return answer(list->change_waits(commandId, waits));
}

ze_result_t zeCommandListIsMutableExp(ze_command_list_handle_t hCommandList, ze_bool_t* pIsMutable) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (pIsMutable == nullptr) {
    return refuse_null_pointer("pIsMutable");
  }
  *pIsMutable = list->is_mutable() ? 1 : 0;
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
