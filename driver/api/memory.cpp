// Allocations: making them and asking about them.
#include <algorithm>
#include <span>
#include <unistd.h>

#include <fmt/format.h>

#include "driver/api/export_query.hpp"
#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/memory_descriptors.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/memory/address_window.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr ze_device_mem_alloc_flags_t known_device_flags = 0x7;
constexpr ze_host_mem_alloc_flags_t known_host_flags = 0x1f;
constexpr ze_host_mem_alloc_flags_t bias_flags = ZE_HOST_MEM_ALLOC_FLAG_BIAS_CACHED |
                                                 ZE_HOST_MEM_ALLOC_FLAG_BIAS_UNCACHED |
                                                 ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED;
constexpr std::uint64_t no_limit = ~0ULL;

/// The bias as the leaves of the page tables carry it: the flags themselves, whose first two are the same for
/// device and host memory.
std::uint8_t cache_policy_of(ze_device_mem_alloc_flags_t device_flags, ze_host_mem_alloc_flags_t host_flags) {
  constexpr ze_device_mem_alloc_flags_t device_bias =
      ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_CACHED | ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_UNCACHED;
  return static_cast<std::uint8_t>((device_flags & device_bias) | (host_flags & bias_flags));
}

/// What the board may do with host-resident memory: MEM_READ_ONLY is of host and of shared allocations.
PageRights rights_of(ze_device_mem_alloc_flags_t device_flags, ze_host_mem_alloc_flags_t host_flags) {
  return {.writable = (host_flags & ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY) == 0,
          .cache_policy = cache_policy_of(device_flags, host_flags)};
}

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
ze_result_t check_limit(std::size_t size, std::span<Device* const> devices, const AllocationWishes& wishes) {
  std::uint64_t limit = no_limit;
  for (Device* device : devices) {
    limit = std::min(limit, device->max_allocation_bytes());
  }
  if (size > limit && !wishes.may_exceed_max_size) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                  fmt::format("size {} is above maxMemAllocSize, {} bytes; "
                              "ze_relaxed_allocation_limits_ext_desc_t lifts this limit",
                              size, limit));
  }
  return ZE_RESULT_SUCCESS;
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

ze_result_t import_system_memory(Context& context, const ze_external_memmap_sysmem_ext_desc_t& desc,
                                 std::size_t size, std::size_t alignment, PageRights rights, void** output) {
  const auto address = reinterpret_cast<std::uintptr_t>(desc.pSystemMemory);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (desc.pSystemMemory == nullptr) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "pSystemMemory is null, which cannot be mapped");
  }
  if (!is_aligned(address, std::max(page, alignment))) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                  fmt::format("pSystemMemory is {:#x}, which is not aligned to {} bytes", address,
                              std::max(page, alignment)));
  }
  if (desc.size == 0 || !is_aligned(desc.size, page)) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                  fmt::format("{} bytes of system memory are not whole pages of {} bytes", desc.size, page));
  }
  if (size != desc.size) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("size is {}, and the system memory has {} bytes", size, desc.size));
  }
  return give(context.import_system_memory(desc.pSystemMemory, desc.size, rights), output);
}

/// Stops at the first code that is not SUCCESS.
template <class... Checks>
ze_result_t first_failure(Checks&&... checks) {
  ze_result_t code = ZE_RESULT_SUCCESS;
  static_cast<void>(((code = checks(), code == ZE_RESULT_SUCCESS) && ...));
  return code;
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

/// A device of this driver has no parts: an allocation is its own and only sub-allocation.
ze_result_t fill_sub_allocations(const std::optional<Allocation>& allocation, void* chain) {
  return for_each_output_extension(chain, [&](ze_structure_type_t stype, void* structure) {
    if (stype != ZE_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES) {
      return ZE_RESULT_SUCCESS;
    }
    const auto& asked = *static_cast<const ze_memory_sub_allocations_exp_properties_t*>(structure);
    if (asked.pCount == nullptr) {
      return refuse_null_pointer("pCount of the sub-allocations");
    }
    if (*asked.pCount != 0 && asked.pSubAllocations != nullptr && allocation) {
      *asked.pSubAllocations = {reinterpret_cast<void*>(allocation->base), allocation->size_bytes};
    }
    *asked.pCount = allocation ? 1 : 0;
    return ZE_RESULT_SUCCESS;
  });
}

/// All of the chain, or nothing of it.
ze_result_t fill_extensions(Context& context, const std::optional<Allocation>& allocation, void* chain) {
  if (allocation) {
    if (const ze_result_t code = fill_exports(context, allocation->id, chain, false);
        code != ZE_RESULT_SUCCESS) {
      return code;
    }
  }
  if (const ze_result_t code = fill_sub_allocations(allocation, chain); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return allocation ? fill_exports(context, allocation->id, chain, true) : ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t zeMemAllocDevice(ze_context_handle_t hContext, const ze_device_mem_alloc_desc_t* device_desc,
                             size_t size, size_t alignment, ze_device_handle_t hDevice, void** pptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
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
                                         [&] {
                                           return check_limit(size, {&device, 1}, wishes);
                                         },
                                         [&] {
                                           return check_external(wishes, {&device, 1});
                                         });
  if (code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (wishes.external() && device_desc->ordinal != 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                  "only memory 0 of the board can be external memory");
  }
  const std::uint8_t policy = cache_policy_of(device_desc->flags, 0);
  if (wishes.import_fd) {
    return give(context->import_external(device, *wishes.import_fd, wishes.external_types, size, alignment,
                                         {.cache_policy = policy}),
                pptr);
  }
  Result<void*> made = context->allocate_device(*device, device_desc->ordinal, size, alignment, policy);
  return give(wishes.to_export ? context->make_exportable(std::move(made), wishes.external_types)
                               : std::move(made),
              pptr);
}

ze_result_t zeMemAllocHost(ze_context_handle_t hContext, const ze_host_mem_alloc_desc_t* host_desc,
                           size_t size, size_t alignment, void** pptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
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
                                         [&] { return check_limit(size, context->devices(), wishes); },
                                         [&] { return check_external(wishes, context->devices()); });
  const PageRights rights = rights_of(0, host_desc->flags);
  if (code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (wishes.system_memory != nullptr) {
    return import_system_memory(*context, *wishes.system_memory, size, alignment, rights, pptr);
  }
  if (wishes.import_fd) {
    return give(
        context->import_external(nullptr, *wishes.import_fd, wishes.external_types, size, alignment, rights),
        pptr);
  }
  Result<void*> made = context->allocate_host(size, alignment, rights);
  return give(wishes.to_export ? context->make_exportable(std::move(made), wishes.external_types)
                               : std::move(made),
              pptr);
}

ze_result_t zeMemAllocShared(ze_context_handle_t hContext, const ze_device_mem_alloc_desc_t* device_desc,
                             const ze_host_mem_alloc_desc_t* host_desc, size_t size, size_t alignment,
                             ze_device_handle_t hDevice, void** pptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
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
  return code != ZE_RESULT_SUCCESS
             ? code
             : give(context->allocate_shared(device, size, alignment,
                                             rights_of(device_desc->flags, host_desc->flags)),
                    pptr);
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
  if (pMemAllocProperties->stype == ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES &&
      pMemAllocProperties->pNext != nullptr) {
    if (const ze_result_t code = fill_extensions(*context, allocation, pMemAllocProperties->pNext);
        code != ZE_RESULT_SUCCESS) {
      return code;
    }
  }
  if (!allocation) {
    pMemAllocProperties->type = ZE_MEMORY_TYPE_UNKNOWN;
    pMemAllocProperties->id = 0;
    pMemAllocProperties->pageSize = 0;
    if (phDevice != nullptr) {
      *phDevice = nullptr;
    }
    return ZE_RESULT_SUCCESS;
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
