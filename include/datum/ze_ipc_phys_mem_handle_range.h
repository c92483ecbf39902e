/* The extension "IPC handles of a range of physical memory" of Level Zero 1.18, for C and C++, where the
   installed headers are older. */
#ifndef DATUM_ZE_IPC_PHYS_MEM_HANDLE_RANGE_H
#define DATUM_ZE_IPC_PHYS_MEM_HANDLE_RANGE_H

#include <stddef.h>

#include <level_zero/ze_api.h>

#ifndef ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME

#define ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME "ZE_extension_ipc_phys_mem_handle_range"
#define ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_VERSION_1_0 ZE_MAKE_VERSION(1, 0)
#define ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC ((ze_structure_type_t)0x0002004B)

/* For the pNext of zeMemGetIpcHandleWithProperties, whose ptr is then the first byte of virtual memory that
   is mapped to any number of physical memory objects. The handle stands for `size` bytes of
   it, as they are mapped at the call, and zeMemOpenIpcHandle gives one row of addresses for them. */
typedef struct ze_ipc_phys_mem_handle_range_ext_desc_t {
  ze_structure_type_t stype; /* ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC */
  const void* pNext;
  size_t size; /* bytes, more than 0 */
} ze_ipc_phys_mem_handle_range_ext_desc_t;

#endif

#endif
