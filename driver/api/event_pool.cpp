// Chapter "event pool".
#include "driver/command/event_pool.hpp"

#include <vector>

#include <fmt/format.h>

#include "driver/api/descriptor_type.hpp"
#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {

namespace {

constexpr ze_event_pool_flags_t pool_timestamp_flags =
    ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;

ze_result_t check_pool_descriptor(const ze_event_pool_desc_t& desc) {
  if (!is_descriptor(desc.stype, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "the descriptor's stype is not ZE_STRUCTURE_TYPE_EVENT_POOL_DESC");
  }
  if (desc.flags > 0xfU) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, fmt::format("unknown pool flags {:#x}", desc.flags));
  }
  if ((desc.flags & pool_timestamp_flags) == pool_timestamp_flags) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  "a pool keeps either kernel timestamps or mapped ones");
  }
  if (desc.count == 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_SIZE, "the pool's count is 0");
  }
  return ZE_RESULT_SUCCESS;
}

/// Flags of counter-based events, 0: the pool's events are plain ones.
ze_result_t read_counter_based(const void* extensions, std::uint32_t& flags) {
  return for_each_extension(extensions, [&](ze_structure_type_t stype, const void* structure) {
    if (stype != ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC) {
      return ZE_RESULT_SUCCESS;
    }
    const auto& desc = *static_cast<const ze_event_pool_counter_based_exp_desc_t*>(structure);
    if (desc.flags > 0x3U) {
      return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                    fmt::format("unknown flags {:#x} of counter-based events", desc.flags));
    }
    flags = desc.flags;
    if (flags == 0) {
      flags = ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE;
    }
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace

ze_result_t zeEventPoolCreate(ze_context_handle_t hContext, const ze_event_pool_desc_t* desc,
                              uint32_t numDevices, ze_device_handle_t* phDevices,
                              ze_event_pool_handle_t* phEventPool) {
  auto* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (phEventPool == nullptr) {
    return refuse_null_pointer("phEventPool");
  }
  if (const ze_result_t checked = check_pool_descriptor(*desc); checked != ZE_RESULT_SUCCESS) {
    return checked;
  }
  std::uint32_t counter_flags = 0;
  if (const ze_result_t read = read_counter_based(desc->pNext, counter_flags); read != ZE_RESULT_SUCCESS) {
    return read;
  }
  if (counter_flags != 0 && (desc->flags & ZE_EVENT_POOL_FLAG_IPC) != 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                  "counter-based events cannot be shared between processes");
  }
  if (phDevices == nullptr && numDevices > 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_SIZE, "numDevices is not 0, but phDevices is null");
  }
  std::vector<Device*> devices;
  for (uint32_t index = 0; index < numDevices; ++index) {
    auto* device = find<Device>(phDevices[index]);
    if (device == nullptr) {
      return refuse_handle(phDevices[index], "phDevices");
    }
    if (!context->has(*device)) {
      return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a device is not one of the context's");
    }
    devices.push_back(device);
  }
  const bool timestamps = (desc->flags & pool_timestamp_flags) != 0;
  Result<EventPool*> pool =
      EventPool::create(*context, std::move(devices), desc->count, desc->flags, timestamps, counter_flags);
  if (!pool) {
    return answer(pool.error());
  }
  *phEventPool = reinterpret_cast<ze_event_pool_handle_t>((*pool)->handle());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t hEventPool) {
  auto* pool = find<EventPool>(hEventPool);
  return pool == nullptr ? refuse_handle(hEventPool, "hEventPool") : answer(pool->destroy());
}

ze_result_t zeEventPoolGetContextHandle(ze_event_pool_handle_t hEventPool, ze_context_handle_t* phContext) {
  auto* pool = find<EventPool>(hEventPool);
  if (pool == nullptr) {
    return refuse_handle(hEventPool, "hEventPool");
  }
  if (phContext == nullptr) {
    return refuse_null_pointer("phContext");
  }
  *phContext = reinterpret_cast<ze_context_handle_t>(pool->context().handle());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolGetFlags(ze_event_pool_handle_t hEventPool, ze_event_pool_flags_t* pFlags) {
  auto* pool = find<EventPool>(hEventPool);
  if (pool == nullptr) {
    return refuse_handle(hEventPool, "hEventPool");
  }
  if (pFlags == nullptr) {
    return refuse_null_pointer("pFlags");
  }
  *pFlags = pool->flags();
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
