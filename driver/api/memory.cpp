// Allocations: making, freeing, asking about them.
#include <algorithm>

#include <fmt/format.h>

#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/memory_descriptors.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/memory/address_window.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr ze_device_mem_alloc_flags_t known_device_flags = 0x7;
constexpr ze_host_mem_alloc_flags_t known_host_flags = 0x1f;
constexpr std::uint64_t wait_forever = ~0ULL;

ze_result_t check_device_flags(ze_device_mem_alloc_flags_t flags) {
  return flags <= known_device_flags
             ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "device_desc->flags has bits that mean nothing");
}

ze_result_t check_host_flags(ze_host_mem_alloc_flags_t flags) {
  if (flags > known_host_flags) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "host_desc->flags has bits that mean nothing");
  }
  constexpr ze_host_mem_alloc_flags_t exclusive =
      ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY | ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED;
  if ((flags & exclusive) == exclusive) {
    return refuse(
        ZE_RESULT_ERROR_INVALID_ENUMERATION,
        "host_desc->flags asks for read-only and for write-combined memory, which exclude each other");
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t check_shape(std::size_t size, std::size_t alignment) {
  if (size == 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "size is 0");
  }
  if (alignment != 0 && !is_power_of_two(alignment)) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                  fmt::format("alignment {} is not a power of two", alignment));
  }
  if (alignment > AddressWindow::max_alignment_bytes) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                  fmt::format("alignment {} is above the largest of {} bytes", alignment,
                              AddressWindow::max_alignment_bytes));
  }
  return ZE_RESULT_SUCCESS;
}

/// The smallest limit of the devices that are to use the memory.
ze_result_t check_limit(std::size_t size, const std::vector<Device*>& devices,
                        const AllocationWishes& wishes) {
  std::uint64_t limit = wait_forever;
  for (Device* device : devices) {
    limit = std::min(limit, device->max_allocation_bytes());
  }
  if (size > limit && !wishes.may_exceed_max_size) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                  fmt::format("size {} is above maxMemAllocSize, {} bytes", size, limit));
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t check_membership(const Context& context, const Device& device) {
  return context.has(device)
             ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "hDevice is not a device of hContext");
}

ze_result_t check_ordinal(Device& device, std::uint32_t ordinal) {
  return ordinal < device.memory_count()
             ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      fmt::format("device_desc->ordinal is {}, the device has {} memories", ordinal,
                                  device.memory_count()));
}

ze_result_t give(Result<void*> pointer, void** output) {
  if (!pointer.ok()) {
    return answer(pointer.error());
  }
  *output = *pointer;
  return ZE_RESULT_SUCCESS;
}

/// Stops at the first code that is not SUCCESS.
template <class... Checks>
ze_result_t first_failure(Checks&&... checks) {
  ze_result_t code = ZE_RESULT_SUCCESS;
  static_cast<void>(((code = checks(), code == ZE_RESULT_SUCCESS) && ...));
  return code;
}

/// The checks of freeing that both functions share.
ze_result_t check_free(Context* context, ze_context_handle_t handle, const void* pointer) {
  if (context == nullptr) {
    return refuse_handle(handle, "hContext");
  }
  return pointer != nullptr ? ZE_RESULT_SUCCESS : refuse_null_pointer("ptr");
}

ze_memory_type_t type_of(AllocationKind kind) noexcept {
  switch (kind) {
  case AllocationKind::device:
    return ZE_MEMORY_TYPE_DEVICE;
  case AllocationKind::host:
    return ZE_MEMORY_TYPE_HOST;
  case AllocationKind::shared:
    return ZE_MEMORY_TYPE_SHARED;
  case AllocationKind::host_imported:
    return ZE_MEMORY_TYPE_HOST_IMPORTED;
  case AllocationKind::virtual_reservation:
    return ZE_MEMORY_TYPE_UNKNOWN;
  }
  return ZE_MEMORY_TYPE_UNKNOWN;
}

ze_result_t refuse_export_query(void* chain) {
  return for_each_output_extension(chain, [](ze_structure_type_t stype, void*) {
    const bool asks = stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD ||
                      stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32;
    return asks ? refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                         "a descriptor is asked for, and the allocation was not made for export")
                : ZE_RESULT_SUCCESS;
  });
}

}  // namespace

ze_result_t zeMemAllocDevice(ze_context_handle_t hContext, const ze_device_mem_alloc_desc_t* device_desc,
                             size_t size, size_t alignment, ze_device_handle_t hDevice, void** pptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (device_desc == nullptr) {
    return refuse_null_pointer("device_desc");
  }
  if (pptr == nullptr) {
    return refuse_null_pointer("pptr");
  }
  AllocationWishes wishes;
  const ze_result_t code = first_failure([&] { return check_device_flags(device_desc->flags); },
                                         [&] { return check_shape(size, alignment); },
                                         [&] { return read_descriptor(*device_desc, false, wishes); },
                                         [&] { return check_membership(*context, *device); },
                                         [&] { return check_ordinal(*device, device_desc->ordinal); },
                                         [&] { return check_limit(size, {device}, wishes); });
  return code != ZE_RESULT_SUCCESS
             ? code
             : give(context->allocate_device(*device, device_desc->ordinal, size, alignment), pptr);
}

ze_result_t zeMemAllocHost(ze_context_handle_t hContext, const ze_host_mem_alloc_desc_t* host_desc,
                           size_t size, size_t alignment, void** pptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (host_desc == nullptr) {
    return refuse_null_pointer("host_desc");
  }
  if (pptr == nullptr) {
    return refuse_null_pointer("pptr");
  }
  AllocationWishes wishes;
  const ze_result_t code = first_failure([&] { return check_host_flags(host_desc->flags); },
                                         [&] { return check_shape(size, alignment); },
                                         [&] { return read_descriptor(*host_desc, false, wishes); },
                                         [&] { return check_limit(size, context->devices(), wishes); });
  const bool read_only = (host_desc->flags & ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY) != 0;
  return code != ZE_RESULT_SUCCESS ? code : give(context->allocate_host(size, alignment, read_only), pptr);
}

ze_result_t zeMemAllocShared(ze_context_handle_t hContext, const ze_device_mem_alloc_desc_t* device_desc,
                             const ze_host_mem_alloc_desc_t* host_desc, size_t size, size_t alignment,
                             ze_device_handle_t hDevice, void** pptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  Device* device = hDevice != nullptr ? find<Device>(hDevice) : nullptr;
  if (hDevice != nullptr && device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (device_desc == nullptr) {
    return refuse_null_pointer("device_desc");
  }
  if (host_desc == nullptr) {
    return refuse_null_pointer("host_desc");
  }
  if (pptr == nullptr) {
    return refuse_null_pointer("pptr");
  }
  AllocationWishes wishes;
  const ze_result_t code = first_failure(
      [&] { return check_device_flags(device_desc->flags); },
      [&] { return check_host_flags(host_desc->flags); }, [&] { return check_shape(size, alignment); },
      [&] { return read_descriptor(*device_desc, true, wishes); },
      [&] { return read_descriptor(*host_desc, true, wishes); },
      [&] { return device == nullptr ? ZE_RESULT_SUCCESS : check_membership(*context, *device); },
      [&] {
        return check_ordinal(device != nullptr ? *device : *context->devices().front(), device_desc->ordinal);
      },
      [&] { return check_limit(size, context->devices(), wishes); });
  return code != ZE_RESULT_SUCCESS ? code : give(context->allocate_shared(device, size, alignment), pptr);
}

ze_result_t zeMemFree(ze_context_handle_t hContext, void* ptr) {
  Context* context = find<Context>(hContext);
  if (const ze_result_t code = check_free(context, hContext, ptr); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return answer(context->free(ptr));
}

ze_result_t zeMemFreeExt(ze_context_handle_t hContext, const ze_memory_free_ext_desc_t* pMemFreeDesc,
                         void* ptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (pMemFreeDesc == nullptr) {
    return refuse_null_pointer("pMemFreeDesc");
  }
  if (const ze_result_t code = check_free(context, hContext, ptr); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  constexpr ze_driver_memory_free_policy_ext_flags_t blocking =
      ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE;
  constexpr ze_driver_memory_free_policy_ext_flags_t known =
      blocking | ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
  if (pMemFreeDesc->freePolicy > known) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "pMemFreeDesc->freePolicy has bits that mean nothing");
  }
  if (pMemFreeDesc->stype != ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "pMemFreeDesc->stype is not ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC");
  }
  if ((pMemFreeDesc->freePolicy & ~blocking) != 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                  "memory cannot be freed with this policy; zeDriverGetProperties tells which there are");
  }
  if (pMemFreeDesc->freePolicy == blocking && context->find(ptr)) {
    for (Device* device : context->devices()) {
      const Status ended = device->rings().synchronize(wait_forever);
      if (!ended.ok() && ended.error().code != ErrorCode::device_lost) {
        return answer(ended);
      }
    }
  }
  return answer(context->free(ptr));
}

ze_result_t zeMemGetAllocProperties(ze_context_handle_t hContext, const void* ptr,
                                    ze_memory_allocation_properties_t* pMemAllocProperties,
                                    ze_device_handle_t* phDevice) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (pMemAllocProperties == nullptr) {
    return refuse_null_pointer("pMemAllocProperties");
  }
  const std::optional<Allocation> allocation = context->find(ptr);
  if (!allocation) {
    pMemAllocProperties->type = ZE_MEMORY_TYPE_UNKNOWN;
    pMemAllocProperties->id = 0;
    pMemAllocProperties->pageSize = 0;
    if (phDevice != nullptr) {
      *phDevice = nullptr;
    }
    return ZE_RESULT_SUCCESS;
  }
  if (pMemAllocProperties->stype == ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES &&
      pMemAllocProperties->pNext != nullptr) {
    if (const ze_result_t code = refuse_export_query(pMemAllocProperties->pNext); code != ZE_RESULT_SUCCESS) {
      return code;
    }
  }
  pMemAllocProperties->type = type_of(allocation->kind);
  pMemAllocProperties->id = allocation->id;
  pMemAllocProperties->pageSize = allocation->page_bytes();
  if (phDevice != nullptr) {
    *phDevice = allocation->device != nullptr
                    ? reinterpret_cast<ze_device_handle_t>(allocation->device->handle())
                    : nullptr;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemGetAddressRange(ze_context_handle_t hContext, const void* ptr, void** pBase, size_t* pSize) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  const std::optional<Allocation> allocation = context->find(ptr);
  if (!allocation) {
    return refuse(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, "ptr is not in a live allocation of hContext");
  }
  if (pBase != nullptr) {
    *pBase = reinterpret_cast<void*>(allocation->base);
  }
  if (pSize != nullptr) {
    *pSize = allocation->size_bytes;
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
