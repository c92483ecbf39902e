#include "driver/api/memory_descriptors.hpp"

#include "driver/api/descriptor_type.hpp"
#include "driver/api/extension_chain.hpp"
#include "driver/api/result.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr ze_external_memory_type_flags_t known_external_types = 0xff;

ze_result_t read_relaxed_limits(const ze_relaxed_allocation_limits_ext_desc_t& desc,
                                AllocationWishes& wishes) {
  if ((desc.flags & ~static_cast<unsigned>(ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE)) != 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  "the relaxed allocation limits have flags that mean nothing");
  }
  wishes.may_exceed_max_size = wishes.may_exceed_max_size || desc.flags != 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t refuse_external_type() {
  return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                "external memory of this type can be neither imported nor exported; "
                "zeDeviceGetExternalMemoryProperties lists what can");
}

/// 0 is the default type, the opaque descriptor.
ze_result_t read_external_types(ze_external_memory_type_flags_t types, AllocationWishes& wishes) {
  if (types > known_external_types) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  "the type of external memory has bits that mean nothing");
  }
  constexpr ze_external_memory_type_flags_t descriptors =
      ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  if ((types & ~descriptors) != 0) {
    return refuse_external_type();
  }
  wishes.external_types.dma_buf = (types & ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) != 0;
  wishes.external_types.opaque =
      !wishes.external_types.dma_buf || (types & ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD) != 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t check_compression(ze_memory_compression_hints_ext_flags_t flags) {
  const bool one = flags == ZE_MEMORY_COMPRESSION_HINTS_EXT_FLAG_COMPRESSED ||
                   flags == ZE_MEMORY_COMPRESSION_HINTS_EXT_FLAG_UNCOMPRESSED;
  return one ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                      "the compression hint is not exactly one of its flags");
}

ze_result_t check_handle_type(const ze_ipc_mem_handle_type_ext_desc_t& desc) {
  constexpr ze_ipc_mem_handle_type_flags_t known =
      ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT | ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE;
  if (desc.typeFlags > known) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "the type of IPC handle has bits that mean nothing");
  }
  return (desc.typeFlags & ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE) == 0
             ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "no fabric reaches the memory of the board");
}

ze_result_t read_external(ze_structure_type_t stype, const void* structure, AllocationWishes& wishes) {
  if (stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC) {
    wishes.to_export = true;
    return read_external_types(static_cast<const ze_external_memory_export_desc_t*>(structure)->flags,
                               wishes);
  }
  if (stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD) {
    const auto& wanted = *static_cast<const ze_external_memory_import_fd_t*>(structure);
    wishes.import_fd = wanted.fd;
    return read_external_types(wanted.flags, wishes);
  }
  const auto& wanted = *static_cast<const ze_external_memory_import_win32_handle_t*>(structure);
  const ze_result_t code = read_external_types(wanted.flags, wishes);
  return code != ZE_RESULT_SUCCESS
             ? code
             : refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "there are no Win32 handles on this system");
}

/// Structures that the specification allows for device and host descriptors alike. Those it does not allow at
/// a place are ignored there, as unknown ones are.
ze_result_t read_extension(ze_structure_type_t stype, const void* structure, bool shared,
                           AllocationWishes& wishes) {
  switch (static_cast<unsigned>(stype)) {
  case ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC:
  case ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC:
    return read_relaxed_limits(*static_cast<const ze_relaxed_allocation_limits_ext_desc_t*>(structure),
                               wishes);
  case ZE_STRUCTURE_TYPE_MEMORY_COMPRESSION_HINTS_EXT_DESC:
    return check_compression(static_cast<const ze_memory_compression_hints_ext_desc_t*>(structure)->flags);
  case ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC:
    return shared ? ZE_RESULT_SUCCESS
                  : check_handle_type(*static_cast<const ze_ipc_mem_handle_type_ext_desc_t*>(structure));
  case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC:
  case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD:
  case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32:
    return shared ? ZE_RESULT_SUCCESS : read_external(stype, structure, wishes);
  default:
    return ZE_RESULT_SUCCESS;
  }
}

}  // namespace

ze_result_t read_descriptor(const ze_device_mem_alloc_desc_t& desc, bool shared, AllocationWishes& wishes) {
  if (!is_descriptor(desc.stype, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "device_desc->stype is not ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC");
  }
  return for_each_extension(desc.pNext, [&](ze_structure_type_t stype, const void* structure) {
    if (stype == ZE_STRUCTURE_TYPE_RAYTRACING_MEM_ALLOC_EXT_DESC) {
      const auto flags = static_cast<const ze_raytracing_mem_alloc_ext_desc_t*>(structure)->flags;
      return flags > ZE_RAYTRACING_MEM_ALLOC_EXT_FLAG_TBD
                 ? refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                          "the ray tracing structure has flags that mean nothing")
                 : refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "the device has no memory for ray tracing");
    }
    return read_extension(stype, structure, shared, wishes);
  });
}

ze_result_t read_descriptor(const ze_host_mem_alloc_desc_t& desc, bool shared, AllocationWishes& wishes) {
  if (!is_descriptor(desc.stype, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "host_desc->stype is not ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC");
  }
  return for_each_extension(desc.pNext, [&](ze_structure_type_t stype, const void* structure) {
    if (stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC && !shared) {
      wishes.system_memory = static_cast<const ze_external_memmap_sysmem_ext_desc_t*>(structure);
      return ZE_RESULT_SUCCESS;
    }
    return read_extension(stype, structure, shared, wishes);
  });
}

ze_result_t read_descriptor(const ze_physical_mem_desc_t& desc, AllocationWishes& wishes) {
  if (!is_descriptor(desc.stype, ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "desc->stype is not ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC");
  }
  return for_each_extension(desc.pNext, [&](ze_structure_type_t stype, const void* structure) {
    const bool external = stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC ||
                          stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD ||
                          stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32;
    if (stype == ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC) {
      return check_handle_type(*static_cast<const ze_ipc_mem_handle_type_ext_desc_t*>(structure));
    }
    return external ? read_external(stype, structure, wishes) : ZE_RESULT_SUCCESS;
  });
}

ze_result_t check_external(const AllocationWishes& wishes, std::span<Device* const> devices) {
  const int kinds =
      (wishes.to_export ? 1 : 0) + (wishes.import_fd ? 1 : 0) + (wishes.system_memory != nullptr);
  if (wishes.external() && kinds > 1) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "memory is made for export, or imported, or system memory: only one of them");
  }
  for (Device* device : devices) {
    for (const ExternalType type : {ExternalType::opaque, ExternalType::dma_buf}) {
      if (wishes.external_types.has(type) &&
          ((wishes.to_export && !device->exports(type)) || (wishes.import_fd && !device->imports(type)))) {
        return refuse_external_type();
      }
    }
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
