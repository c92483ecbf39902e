// What the descriptors of an allocation and their pNext chains ask for.
#pragma once

#include <optional>
#include <span>

#include <level_zero/ze_api.h>

#include "driver/memory/exported_file.hpp"

namespace datum {
class Device;
}  // namespace datum

namespace datum::api {

struct AllocationWishes {
  bool may_exceed_max_size = false;                                     ///< relaxed allocation limits
  const ze_external_memmap_sysmem_ext_desc_t* system_memory = nullptr;  ///< what becomes the allocation
  bool to_export = false;                                               ///< a descriptor will be asked for
  std::optional<int> import_fd;                                         ///< what becomes the allocation
  ExternalTypes external_types;                                         ///< of either

  [[nodiscard]] bool external() const noexcept { return to_export || import_fd.has_value(); }
};

/// stype and pNext of the descriptor of zeMemAllocDevice; of zeMemAllocShared when `shared`. The flags were
/// checked before. SUCCESS or the code for what is wrong or cannot be had.
ze_result_t read_descriptor(const ze_device_mem_alloc_desc_t& desc, bool shared, AllocationWishes& wishes);
/// The same for host memory.
ze_result_t read_descriptor(const ze_host_mem_alloc_desc_t& desc, bool shared, AllocationWishes& wishes);
/// The same for a physical memory object.
ze_result_t read_descriptor(const ze_physical_mem_desc_t& desc, AllocationWishes& wishes);

/// Whether external memory that is wished for can be had with `devices`: SUCCESS, UNSUPPORTED_ENUMERATION, or
/// INVALID_ARGUMENT for wishes that exclude each other.
ze_result_t check_external(const AllocationWishes& wishes, std::span<Device* const> devices);

}  // namespace datum::api
