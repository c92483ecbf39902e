// Reservations of virtual addresses, what is mapped there, and who may access it.
#include <fmt/format.h>

#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/memory/virtual_space.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr std::uint64_t page_bytes = VirtualSpace::page_bytes;

ze_result_t check_size(std::size_t size) {
  if (size == 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "size is 0");
  }
  return is_aligned(size, page_bytes)
             ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                      fmt::format("size {} is no multiple of the page size, {} bytes", size, page_bytes));
}

ze_result_t check_alignment(std::uint64_t value, const char* name) {
  return is_aligned(value, page_bytes)
             ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                      fmt::format("{} {:#x} is no multiple of the page size, {} bytes", name, value,
                                  page_bytes));
}

/// A range of pages: `ptr` and `size` of most functions.
ze_result_t check_range(const void* pointer, std::size_t size) {
  if (const ze_result_t code = check_size(size); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (const ze_result_t code = check_alignment(address, "ptr"); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return address + size >= address
             ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      fmt::format("{} bytes from {} leave the address space", size, fmt::ptr(pointer)));
}

ze_result_t check_access(ze_memory_access_attribute_t access) {
  return static_cast<unsigned>(access) <= ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY
             ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "access is no access attribute");
}

PageAccess access_of(ze_memory_access_attribute_t access) noexcept {
  switch (access) {
  case ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE:
    return PageAccess::read_write;
  case ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY:
    return PageAccess::read_only;
  default:
    return PageAccess::none;
  }
}

ze_memory_access_attribute_t attribute_of(PageAccess access) noexcept {
  switch (access) {
  case PageAccess::read_write:
    return ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
  case PageAccess::read_only:
    return ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;
  case PageAccess::none:
    break;
  }
  return ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
}

VirtualSpace::Range range_of(const void* pointer, std::size_t size) noexcept {
  return {reinterpret_cast<std::uintptr_t>(pointer), size};
}

}  // namespace

ze_result_t zeVirtualMemReserve(ze_context_handle_t hContext, const void* pStart, size_t size, void** pptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (pptr == nullptr) {
    return refuse_null_pointer("pptr");
  }
  if (const ze_result_t code = check_size(size); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (size > ReservedAddresses::most_bytes) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                  fmt::format("size {} is above the {} bytes of the address space", size,
                              ReservedAddresses::most_bytes));
  }
  if (!is_aligned(reinterpret_cast<std::uintptr_t>(pStart), page_bytes)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "pStart is no multiple of the page size");
  }
  Result<void*> base = context->reserve_virtual(pStart, size);
  if (!base.ok()) {
    return answer(base.error());
  }
  *pptr = *base;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeVirtualMemFree(ze_context_handle_t hContext, const void* ptr, size_t size) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (const ze_result_t code = check_range(ptr, size); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return answer(context->virtual_space().free(range_of(ptr, size)));
}

ze_result_t zeVirtualMemQueryPageSize(ze_context_handle_t hContext, ze_device_handle_t hDevice, size_t size,
                                      size_t* pagesize) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (pagesize == nullptr) {
    return refuse_null_pointer("pagesize");
  }
  if (size == 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "size is 0");
  }
  if (!context->has(*device)) {
    return refuse_foreign_device();
  }
  *pagesize = page_bytes;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeVirtualMemMap(ze_context_handle_t hContext, const void* ptr, size_t size,
                            ze_physical_mem_handle_t hPhysicalMemory, size_t offset,
                            ze_memory_access_attribute_t access) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const auto* object = find<PhysicalMemory>(hPhysicalMemory);
  if (object == nullptr) {
    return refuse_handle(hPhysicalMemory, "hPhysicalMemory");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (const ze_result_t code = check_access(access); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (const ze_result_t code = check_range(ptr, size); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (const ze_result_t code = check_alignment(offset, "offset"); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return answer(context->map_virtual(const_cast<void*>(ptr), size, *object, offset, access_of(access)));
}

ze_result_t zeVirtualMemUnmap(ze_context_handle_t hContext, const void* ptr, size_t size) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (const ze_result_t code = check_range(ptr, size); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return answer(context->unmap_virtual(const_cast<void*>(ptr), size));
}

ze_result_t zeVirtualMemSetAccessAttribute(ze_context_handle_t hContext, const void* ptr, size_t size,
                                           ze_memory_access_attribute_t access) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (const ze_result_t code = check_access(access); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (const ze_result_t code = check_range(ptr, size); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return answer(context->set_virtual_access(const_cast<void*>(ptr), size, access_of(access)));
}

ze_result_t zeVirtualMemGetAccessAttribute(ze_context_handle_t hContext, const void* ptr, size_t size,
                                           ze_memory_access_attribute_t* access, size_t* outSize) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (access == nullptr) {
    return refuse_null_pointer("access");
  }
  if (outSize == nullptr) {
    return refuse_null_pointer("outSize");
  }
  if (const ze_result_t code = check_range(ptr, size); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const Result<VirtualSpace::AccessRun> run = context->virtual_space().access_of(range_of(ptr, size));
  if (!run.ok()) {
    return answer(run.error());
  }
  *access = attribute_of(run->access);
  *outSize = run->bytes;
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
