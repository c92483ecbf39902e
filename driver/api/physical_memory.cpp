// Physical memory objects.
#include "driver/memory/physical_memory.hpp"

#include <fmt/format.h>

#include "driver/api/export_query.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/memory_descriptors.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/memory/virtual_space.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr ze_physical_mem_flags_t known_physical_flags =
    ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE | ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;

ze_result_t check_description(const ze_physical_mem_desc_t& desc, AllocationWishes& wishes) {
  if (desc.flags > known_physical_flags) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "desc->flags has bits that mean nothing");
  }
  if (desc.flags == known_physical_flags) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  "desc->flags asks for memory on the device and on the host, which exclude each other");
  }
  if (desc.size == 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "desc->size is 0");
  }
  if (!is_aligned(desc.size, VirtualSpace::page_bytes)) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                  fmt::format("desc->size {} is no multiple of the page size, {} bytes", desc.size,
                              VirtualSpace::page_bytes));
  }
  return read_descriptor(desc, wishes);
}

Result<PhysicalMemory*> make_object(Context& context, Device* owner, std::size_t bytes,
                                    const AllocationWishes& wishes) {
  if (wishes.import_fd) {
    return context.import_physical(owner, *wishes.import_fd, wishes.external_types, bytes);
  }
  Result<PhysicalMemory*> made = context.create_physical(owner, bytes);
  return wishes.to_export ? context.make_exportable(std::move(made), wishes.external_types) : std::move(made);
}

}  // namespace

ze_result_t zePhysicalMemCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                ze_physical_mem_desc_t* desc, ze_physical_mem_handle_t* phPhysicalMemory) {
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
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (phPhysicalMemory == nullptr) {
    return refuse_null_pointer("phPhysicalMemory");
  }
  const bool on_host = (desc->flags & ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST) != 0;
  if (device == nullptr && !on_host) {
    return refuse_handle(hDevice, "hDevice");
  }
  AllocationWishes wishes;
  if (const ze_result_t code = check_description(*desc, wishes); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (device != nullptr && !context->has(*device)) {
    return refuse_foreign_device();
  }
  Device* const owner = on_host ? nullptr : device;
  const ze_result_t external =
      owner != nullptr ? check_external(wishes, {&owner, 1}) : check_external(wishes, context->devices());
  if (external != ZE_RESULT_SUCCESS) {
    return external;
  }
  Result<PhysicalMemory*> made = make_object(*context, owner, desc->size, wishes);
  if (!made.ok()) {
    return answer(made.error());
  }
  *phPhysicalMemory = reinterpret_cast<ze_physical_mem_handle_t>((*made)->handle());
  return ZE_RESULT_SUCCESS;
}

ze_result_t zePhysicalMemDestroy(ze_context_handle_t hContext, ze_physical_mem_handle_t hPhysicalMemory) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  const auto* object = find<PhysicalMemory>(hPhysicalMemory);
  if (object == nullptr) {
    return refuse_handle(hPhysicalMemory, "hPhysicalMemory");
  }
  return answer(context->destroy_physical(*object));
}

ze_result_t zePhysicalMemGetProperties(ze_context_handle_t hContext, ze_physical_mem_handle_t hPhysicalMem,
                                       ze_physical_mem_properties_t* pMemProperties) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  const auto* named = find<PhysicalMemory>(hPhysicalMem);
  if (named == nullptr) {
    return refuse_handle(hPhysicalMem, "hPhysicalMem");
  }
  if (pMemProperties == nullptr) {
    return refuse_null_pointer("pMemProperties");
  }
  const std::shared_ptr<PhysicalMemory> object = context->virtual_space().find_object(named);
  if (object == nullptr) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "hPhysicalMem belongs to another context than hContext");
  }
  if (pMemProperties->stype == ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES) {
    const ze_result_t code = fill_exports(*context, object->id(), pMemProperties->pNext, false);
    if (code != ZE_RESULT_SUCCESS) {
      return code;
    }
    static_cast<void>(fill_exports(*context, object->id(), pMemProperties->pNext, true));
  }
  pMemProperties->id = object->id();
  pMemProperties->size = object->bytes();
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
