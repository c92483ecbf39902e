// Chapter "command list": lists out of lists, cloned or appended to an immediate one.
#include <array>
#include <vector>

#include "driver/api/handles.hpp"
#include "driver/api/synchronization.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/command_list.hpp"

namespace datum::api {

namespace {

/// These functions know fewer codes than other appends.
ze_result_t among_known(ze_result_t result) {
  switch (result) {
  case ZE_RESULT_ERROR_INVALID_SIZE:
  case ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT:
  case ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE:
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  default:
    return result;
  }
}

ze_result_t append_lists(ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
                         ze_command_list_handle_t* phCommandLists, ze_event_handle_t hSignalEvent,
                         uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  auto* immediate = find<CommandList>(hCommandListImmediate);
  if (immediate == nullptr) {
    return refuse_handle(hCommandListImmediate, "hCommandListImmediate");
  }
  if (phCommandLists == nullptr) {
    return refuse_null_pointer("phCommandLists");
  }
  std::array<CommandList*, 8> few{};
  std::vector<CommandList*> many(numCommandLists > few.size() ? numCommandLists : 0);
  const std::span<CommandList*> lists =
      (many.empty() ? std::span<CommandList*>(few) : std::span<CommandList*>(many)).first(numCommandLists);
  for (uint32_t index = 0; index < numCommandLists; ++index) {
    lists[index] = find<CommandList>(phCommandLists[index]);
    if (lists[index] == nullptr) {
      return refuse_handle(phCommandLists[index], "phCommandLists");
    }
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve(*immediate, hSignalEvent, numWaitEvents, phWaitEvents);
      found != ZE_RESULT_SUCCESS) {
    return among_known(found);
  }
  return among_known(answer(immediate->append_lists(lists, events.signal(), events.waits())));
}

}  // namespace

ze_result_t zeCommandListImmediateAppendCommandListsExp(ze_command_list_handle_t hCommandListImmediate,
                                                        uint32_t numCommandLists,
                                                        ze_command_list_handle_t* phCommandLists,
                                                        ze_event_handle_t hSignalEvent,
                                                        uint32_t numWaitEvents,
                                                        ze_event_handle_t* phWaitEvents) {
  return append_lists(hCommandListImmediate, numCommandLists, phCommandLists, hSignalEvent, numWaitEvents,
                      phWaitEvents);
}

ze_result_t zeCommandListImmediateAppendCommandListsWithParameters(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t* phCommandLists, const void* pNext, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  if (find<CommandList>(hCommandListImmediate) != nullptr && pNext != nullptr) {
    return refuse_extension();
  }
  return append_lists(hCommandListImmediate, numCommandLists, phCommandLists, hSignalEvent, numWaitEvents,
                      phWaitEvents);
}

ze_result_t zeCommandListCreateCloneExp(ze_command_list_handle_t hCommandList,
                                        ze_command_list_handle_t* phClonedCommandList) {
  auto* source = find<CommandList>(hCommandList);
  if (source == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (const ze_result_t code = check_alive(source->context()); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (phClonedCommandList == nullptr) {
    return refuse_null_pointer("phClonedCommandList");
  }
  if ((source->list_flags() & ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE) == 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "the list was created without ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE");
  }
  Result<CommandList*> clone = CommandList::clone(*source);
  if (!clone) {
    return answer(clone.error());
  }
  *phClonedCommandList = reinterpret_cast<ze_command_list_handle_t>((*clone)->handle());
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
