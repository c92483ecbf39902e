// Chapter "command list": life and properties.
#include "driver/command/command_list.hpp"

#include <fmt/format.h>

#include "driver/api/descriptor_type.hpp"
#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/queue_descriptor.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/queue_group.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {

namespace {

ze_result_t check_list_descriptor(Device& device, const ze_command_list_desc_t& desc) {
  constexpr ze_command_list_flags_t known = 0x3f;
  constexpr ze_command_list_flags_t opposites =
      ZE_COMMAND_LIST_FLAG_IN_ORDER | ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING;
  if (!is_descriptor(desc.stype, ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "the descriptor's stype is not ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC");
  }
  if (desc.flags > known) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, fmt::format("unknown list flags {:#x}", desc.flags));
  }
  if ((desc.flags & opposites) == opposites) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  "a list cannot be both in-order and of relaxed ordering");
  }
  const unsigned groups = queue_group_count(device.driver().attitude());
  if (desc.commandQueueGroupOrdinal >= groups) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, fmt::format("queue group ordinal {}, the device has {}",
                                                                desc.commandQueueGroupOrdinal, groups));
  }
  return ZE_RESULT_SUCCESS;
}

/// Whether the list is created with ze_mutable_command_list_exp_desc_t.
ze_result_t read_mutable(const void* extensions, bool& is_mutable) {
  return for_each_extension(extensions, [&](ze_structure_type_t stype, const void* structure) {
    if (stype != ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC) {
      return ZE_RESULT_SUCCESS;
    }
    const auto& desc = *static_cast<const ze_mutable_command_list_exp_desc_t*>(structure);
    if (desc.flags > ZE_MUTABLE_COMMAND_LIST_EXP_FLAG_RESERVED) {
      return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                    fmt::format("unknown mutable list flags {:#x}", desc.flags));
    }
    is_mutable = true;
    return ZE_RESULT_SUCCESS;
  });
}

/// `Value(list)` into `*to`.
template <class To, class Value>
ze_result_t get(ze_command_list_handle_t handle, To* to, std::string_view name, Value&& value) {
  auto* list = find<CommandList>(handle);
  if (list == nullptr) {
    return refuse_handle(handle, "hCommandList");
  }
  if (to == nullptr) {
    return refuse_null_pointer(name);
  }
  *to = value(*list);
  return ZE_RESULT_SUCCESS;
}

/// A number of an immediate list's settings.
template <class To>
ze_result_t get_immediate(ze_command_list_handle_t handle, To* to, std::string_view name,
                          std::uint32_t QueueSettings::*value) {
  auto* list = find<CommandList>(handle);
  if (list != nullptr && to != nullptr && !list->immediate()) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the handle is not that of an immediate command list");
  }
  return get(handle, to, name, [value](CommandList& of) { return static_cast<To>(of.settings().*value); });
}

}  // namespace

ze_result_t zeCommandListCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                const ze_command_list_desc_t* desc, ze_command_list_handle_t* phCommandList) {
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
  if (phCommandList == nullptr) {
    return refuse_null_pointer("phCommandList");
  }
  if (const ze_result_t checked = check_list_descriptor(*device, *desc); checked != ZE_RESULT_SUCCESS) {
    return checked;
  }
  bool is_mutable = false;
  if (const ze_result_t read = read_mutable(desc->pNext, is_mutable); read != ZE_RESULT_SUCCESS) {
    return read;
  }
  if (!context->has(*device)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the device is not one of the context's");
  }
  const bool in_order = (desc->flags & ZE_COMMAND_LIST_FLAG_IN_ORDER) != 0;
  Result<CommandList*> list = CommandList::create(*context, *device, desc->commandQueueGroupOrdinal,
                                                  desc->flags, in_order, is_mutable);
  if (!list) {
    return answer(list.error());
  }
  *phCommandList = reinterpret_cast<ze_command_list_handle_t>((*list)->handle());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListCreateImmediate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                         const ze_command_queue_desc_t* altdesc,
                                         ze_command_list_handle_t* phCommandList) {
  return create_from_queue_descriptor(hContext, hDevice, altdesc, phCommandList, {"altdesc", "phCommandList"},
                                      CommandList::create_immediate);
}

ze_result_t zeCommandListDestroy(ze_command_list_handle_t hCommandList) {
  auto* list = find<CommandList>(hCommandList);
  return list == nullptr ? refuse_handle(hCommandList, "hCommandList") : answer(list->destroy());
}

ze_result_t zeCommandListClose(ze_command_list_handle_t hCommandList) {
  auto* list = find<CommandList>(hCommandList);
  return list == nullptr ? refuse_handle(hCommandList, "hCommandList") : answer(list->close());
}

ze_result_t zeCommandListReset(ze_command_list_handle_t hCommandList) {
  auto* list = find<CommandList>(hCommandList);
  return list == nullptr ? refuse_handle(hCommandList, "hCommandList") : answer(list->reset());
}

ze_result_t zeCommandListHostSynchronize(ze_command_list_handle_t hCommandList, uint64_t timeout) {
  auto* list = find<CommandList>(hCommandList);
  return list == nullptr ? refuse_handle(hCommandList, "hCommandList") : answer(list->synchronize(timeout));
}

ze_result_t zeCommandListGetDeviceHandle(ze_command_list_handle_t hCommandList,
                                         ze_device_handle_t* phDevice) {
  return get(hCommandList, phDevice, "phDevice",
             [](CommandList& list) { return reinterpret_cast<ze_device_handle_t>(list.device().handle()); });
}

ze_result_t zeCommandListGetContextHandle(ze_command_list_handle_t hCommandList,
                                          ze_context_handle_t* phContext) {
  return get(hCommandList, phContext, "phContext", [](CommandList& list) {
    return reinterpret_cast<ze_context_handle_t>(list.context().handle());
  });
}

ze_result_t zeCommandListGetOrdinal(ze_command_list_handle_t hCommandList, uint32_t* pOrdinal) {
  return get(hCommandList, pOrdinal, "pOrdinal", [](CommandList& list) { return list.ordinal(); });
}

ze_result_t zeCommandListIsImmediate(ze_command_list_handle_t hCommandList, ze_bool_t* pIsImmediate) {
  return get(hCommandList, pIsImmediate, "pIsImmediate",
             [](CommandList& list) { return static_cast<ze_bool_t>(list.immediate() ? 1 : 0); });
}

ze_result_t zeCommandListGetFlags(ze_command_list_handle_t hCommandList, ze_command_list_flags_t* pFlags) {
  return get(hCommandList, pFlags, "pFlags", [](CommandList& list) { return list.list_flags(); });
}

ze_result_t zeCommandListImmediateGetIndex(ze_command_list_handle_t hCommandListImmediate, uint32_t* pIndex) {
  return get_immediate(hCommandListImmediate, pIndex, "pIndex", &QueueSettings::index);
}

ze_result_t zeCommandListImmediateGetFlags(ze_command_list_handle_t hCommandList,
                                           ze_command_queue_flags_t* pFlags) {
  return get_immediate(hCommandList, pFlags, "pFlags", &QueueSettings::flags);
}

ze_result_t zeCommandListImmediateGetMode(ze_command_list_handle_t hCommandList,
                                          ze_command_queue_mode_t* pMode) {
  return get_immediate(hCommandList, pMode, "pMode", &QueueSettings::mode);
}

ze_result_t zeCommandListImmediateGetPriority(ze_command_list_handle_t hCommandList,
                                              ze_command_queue_priority_t* pPriority) {
  return get_immediate(hCommandList, pPriority, "pPriority", &QueueSettings::priority);
}

}  // namespace datum::api
