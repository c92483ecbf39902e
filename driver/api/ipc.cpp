// Memory that processes share: handles, opening, closing.
#include <cstddef>
#include <cstring>

#include <datum/ze_ipc_phys_mem_handle_range.h>

#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/open_shared_file.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {
namespace {

constexpr ze_ipc_memory_flags_t known_ipc_flags = 0x3;

static_assert(sizeof(ze_ipc_mem_handle_t) == sizeof(IpcHandleBytes));
// Of API 1.18, whose programs bring their own header.
static_assert(sizeof(ze_ipc_phys_mem_handle_range_ext_desc_t) == 24 &&
              offsetof(ze_ipc_phys_mem_handle_range_ext_desc_t, size) == 16 &&
              ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC == 0x2004b);

Status check_is_memory(SharedKind kind) {
  return holds_words(kind)
             ? Status(make_error(ErrorCode::invalid_argument, "the handle is of events and not of memory"))
             : Status{};
}

IpcHandleBytes bytes_of(const ze_ipc_mem_handle_t& handle) noexcept {
  IpcHandleBytes bytes;
  std::memcpy(bytes.data(), handle.data, bytes.size());
  return bytes;
}

Result<IpcHandle> decode(const ze_ipc_mem_handle_t& handle) {
  Result<IpcHandle> decoded = decode_ipc_handle(bytes_of(handle));
  if (decoded.ok() && decoded->hints) {
    if (Status memory = check_is_memory(decoded->hints->file.kind); !memory.ok()) {
      return std::move(memory).error();
    }
  }
  return decoded;
}

/// The file of a handle that decode has read: of memory, or a list of parts of it.
Result<OpenedFile> open_memory(const IpcHandle& handle) {
  Result<OpenedFile> file = open_shared_file(handle);
  if (file.ok()) {
    if (Status memory = check_is_memory(file->identity.kind); !memory.ok()) {
      return std::move(memory).error();
    }
  }
  return file;
}

void give(const IpcHandleBytes& bytes, ze_ipc_mem_handle_t& handle) noexcept {
  std::memcpy(handle.data, bytes.data(), bytes.size());
}

/// With `range` the handle is of the mapped memory from `ptr` on, as long as `range` says.
ze_result_t get_handle(ze_context_handle_t hContext, const void* ptr, ze_ipc_mem_handle_t* pIpcHandle,
                       const ze_ipc_phys_mem_handle_range_ext_desc_t* range = nullptr) {
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
  if (pIpcHandle == nullptr) {
    return refuse_null_pointer("pIpcHandle");
  }
  // Also a physical memory object's handle, cast to a pointer.
  const auto* object = range == nullptr ? find<PhysicalMemory>(ptr) : nullptr;
  Result<IpcHandleBytes> handle = range != nullptr    ? context->export_range(ptr, range->size)
                                  : object != nullptr ? context->export_object(*object)
                                                      : context->export_allocation(ptr);
  if (!handle.ok()) {
    return answer(handle.error());
  }
  give(*handle, *pIpcHandle);
  return ZE_RESULT_SUCCESS;
}

ze_result_t check_handle_type(ze_ipc_mem_handle_type_flags_t flags) {
  constexpr ze_ipc_mem_handle_type_flags_t known =
      ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT | ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE;
  if ((flags & ~known) != 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the type of IPC handle has bits that mean nothing");
  }
  return (flags & ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE) == 0
             ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "there is no fabric: IPC handles are good on this machine only");
}

/// The exporter's, save that the caller's bias counts before the exporter's.
PageRights rights_of(const OpenedFile& file, ze_ipc_memory_flags_t flags) noexcept {
  PageRights rights = file.rights;
  if (flags != 0) {
    rights.cache_policy = static_cast<std::uint8_t>(flags);  // the same bits: cached 1, uncached 2
  }
  return rights;
}

}  // namespace

ze_result_t zeMemGetIpcHandle(ze_context_handle_t hContext, const void* ptr,
                              ze_ipc_mem_handle_t* pIpcHandle) {
  return get_handle(hContext, ptr, pIpcHandle);
}

ze_result_t zeMemGetIpcHandleWithProperties(ze_context_handle_t hContext, const void* ptr, void* pNext,
                                            ze_ipc_mem_handle_t* pIpcHandle) {
  if (find<Context>(hContext) == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  const ze_ipc_phys_mem_handle_range_ext_desc_t* range = nullptr;
  const ze_result_t code = for_each_extension(pNext, [&](ze_structure_type_t stype, const void* structure) {
    if (stype == ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC) {
      range = static_cast<const ze_ipc_phys_mem_handle_range_ext_desc_t*>(structure);
    }
    return stype == ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC
               ? check_handle_type(
                     static_cast<const ze_ipc_mem_handle_type_ext_desc_t*>(structure)->typeFlags)
               : ZE_RESULT_SUCCESS;
  });
  return code != ZE_RESULT_SUCCESS ? code : get_handle(hContext, ptr, pIpcHandle, range);
}

ze_result_t zeMemOpenIpcHandle(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                               ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t flags, void** pptr) {
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
  if (flags > known_ipc_flags) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "flags has bits that mean nothing");
  }
  if (pptr == nullptr) {
    return refuse_null_pointer("pptr");
  }
  if (!context->has(*device)) {
    return refuse_foreign_device();
  }
  Result<IpcHandle> decoded = decode(handle);
  if (!decoded.ok()) {
    return answer(decoded.error());
  }
  Result<OpenedFile> file = open_memory(*decoded);
  if (!file.ok()) {
    return answer(file.error());
  }
  const PageRights rights = rights_of(*file, flags);
  Result<void*> pointer =
      file->identity.kind == SharedKind::range
          ? context->import_range(*device, *file, rights)
          : context->import_file(*device, file->fd.get(), file->identity, file->size_bytes, rights);
  if (!pointer.ok()) {
    return answer(pointer.error());
  }
  *pptr = *pointer;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemCloseIpcHandle(ze_context_handle_t hContext, const void* ptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  return ptr != nullptr ? answer(context->close_imported(ptr)) : refuse_null_pointer("ptr");
}

ze_result_t zeMemPutIpcHandle(ze_context_handle_t hContext, ze_ipc_mem_handle_t handle) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  ExportTable& exports = context->driver().exports();
  if (exports.put_as_given(bytes_of(handle))) {
    return ZE_RESULT_SUCCESS;
  }
  Result<IpcHandle> decoded = decode(handle);
  return decoded.ok() ? answer(exports.put(*decoded)) : answer(decoded.error());
}

ze_result_t zeMemGetIpcHandleFromFileDescriptorExp(ze_context_handle_t hContext, uint64_t handle,
                                                   ze_ipc_mem_handle_t* pIpcHandle) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (pIpcHandle == nullptr) {
    return refuse_null_pointer("pIpcHandle");
  }
  const int fd = handle <= 0x7fffffffU ? static_cast<int>(handle) : -1;
  Result<SharedFileIdentity> file = identify_shared_file(fd);
  if (!file.ok()) {
    return answer(file.error());
  }
  if (Status memory = check_is_memory(file->kind); !memory.ok()) {
    return answer(memory);
  }
  give(context->driver().exports().adopt(fd, *file), *pIpcHandle);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemGetFileDescriptorFromIpcHandleExp(ze_context_handle_t hContext,
                                                   ze_ipc_mem_handle_t ipcHandle, uint64_t* pHandle) {
  if (find<Context>(hContext) == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (pHandle == nullptr) {
    return refuse_null_pointer("pHandle");
  }
  Result<IpcHandle> decoded = decode(ipcHandle);
  if (!decoded.ok()) {
    return answer(decoded.error());
  }
  if (holds_its_descriptor(*decoded)) {
    *pHandle = static_cast<std::uint64_t>(decoded->fd);
    return ZE_RESULT_SUCCESS;
  }
  // A handle that another process sent by value: the caller gets a descriptor of its own.
  Result<OpenedFile> file = open_shared_file(*decoded);
  if (!file.ok()) {
    return answer(file.error());
  }
  *pHandle = static_cast<std::uint64_t>(file->fd.release());
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
