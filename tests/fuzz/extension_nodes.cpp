#include "tests/fuzz/extension_nodes.hpp"

#include <array>
#include <new>

#include <level_zero/ze_api.h>

#include <datum/ze_ipc_phys_mem_handle_range.h>

namespace datum::test {
namespace {

constexpr std::size_t page_bytes = 4096;

/// What pointers in structures lead to.
struct Targets {
  alignas(page_bytes) std::array<std::byte, 4 * page_bytes> memory{};
  std::uint32_t count = 0;
  ze_sub_allocation_t part{};
};

Targets& targets() {
  static Targets made;
  return made;
}

using FixUp = void (*)(void* structure, Input& input);

void keep(void*, Input&) {}

void fix_system_memory(void* structure, Input& input) {
  auto& desc = *static_cast<ze_external_memmap_sysmem_ext_desc_t*>(structure);
  const std::size_t offset = input.flip() ? 0 : input.below(2 * page_bytes);
  desc.pSystemMemory = input.below(8) == 0 ? nullptr : targets().memory.data() + offset;
  desc.size = input.flip() ? page_bytes : input.below(2 * page_bytes);
}

void fix_sub_allocations(void* structure, Input& input) {
  auto& properties = *static_cast<ze_memory_sub_allocations_exp_properties_t*>(structure);
  targets().count = static_cast<std::uint32_t>(input.below(2));
  properties.pCount = input.below(8) == 0 ? nullptr : &targets().count;
  properties.pSubAllocations = input.flip() ? nullptr : &targets().part;
}

void fix_descriptor(void* structure, Input& input) {
  auto& desc = *static_cast<ze_external_memory_import_fd_t*>(structure);
  desc.fd = static_cast<int>(input.below(64)) - 1;
}

void fix_pitched(void* structure, Input& input) {
  auto& desc = *static_cast<ze_image_pitched_exp_desc_t*>(structure);
  desc.ptr = input.flip() ? nullptr : targets().memory.data();
}

struct Kind {
  std::uint32_t type = 0;
  std::size_t bytes = 0;
  FixUp fix_up = keep;
};

const std::array kinds{
    Kind{ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC,
         sizeof(ze_relaxed_allocation_limits_ext_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
         sizeof(ze_relaxed_allocation_limits_exp_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_MEMORY_COMPRESSION_HINTS_EXT_DESC, sizeof(ze_memory_compression_hints_ext_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, sizeof(ze_ipc_mem_handle_type_ext_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, sizeof(ze_external_memory_export_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, sizeof(ze_external_memory_import_fd_t), fix_descriptor},
    Kind{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32, sizeof(ze_external_memory_import_win32_handle_t)},
    Kind{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, sizeof(ze_external_memory_export_fd_t)},
    Kind{ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC, sizeof(ze_external_memmap_sysmem_ext_desc_t),
         fix_system_memory},
    Kind{ZE_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES,
         sizeof(ze_memory_sub_allocations_exp_properties_t), fix_sub_allocations},
    Kind{ZE_STRUCTURE_TYPE_RAYTRACING_MEM_ALLOC_EXT_DESC, sizeof(ze_raytracing_mem_alloc_ext_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC, sizeof(ze_event_pool_counter_based_exp_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_POWER_SAVING_HINT_EXP_DESC, sizeof(ze_context_power_saving_hint_exp_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC, sizeof(ze_mutable_command_list_exp_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES,
         sizeof(ze_mutable_command_list_exp_properties_t)},
    Kind{ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXT_DESC, sizeof(ze_image_view_planar_ext_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC, sizeof(ze_image_pitched_exp_desc_t), fix_pitched},
    Kind{ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC, sizeof(ze_image_bindless_exp_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_CUSTOM_PITCH_EXP_DESC, sizeof(ze_custom_pitch_exp_desc_t)},
    Kind{ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT, sizeof(ze_device_ip_version_ext_t)},
    Kind{ZE_STRUCTURE_TYPE_EU_COUNT_EXT, sizeof(ze_eu_count_ext_t)},
    Kind{ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES,
         sizeof(ze_event_query_kernel_timestamps_ext_properties_t)},
    Kind{ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES,
         sizeof(ze_event_query_kernel_timestamps_ext_properties_t)},
    Kind{ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES, sizeof(ze_device_memory_ext_properties_t)},
    Kind{ZE_STRUCTURE_TYPE_COPY_BANDWIDTH_EXP_PROPERTIES, sizeof(ze_copy_bandwidth_exp_properties_t)},
    Kind{ZE_STRUCTURE_TYPE_DEVICE_P2P_BANDWIDTH_EXP_PROPERTIES,
         sizeof(ze_device_p2p_bandwidth_exp_properties_t)},
    Kind{ZE_STRUCTURE_TYPE_PITCHED_ALLOC_DEVICE_EXP_PROPERTIES,
         sizeof(ze_device_pitched_alloc_exp_properties_t)},
    Kind{ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES,
         sizeof(ze_device_usablemem_size_ext_properties_t)},
    Kind{ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES, sizeof(ze_driver_ddi_handles_ext_properties_t)},
    Kind{ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES, sizeof(ze_driver_memory_free_ext_properties_t)},
    Kind{ZE_STRUCTURE_TYPE_SRGB_EXT_DESC, sizeof(ze_srgb_ext_desc_t)},
};

}  // namespace

void ExtensionNodes::add(Input& input) {
  Kind kind;
  if (input.below(6) == 0) {
    constexpr std::uint32_t unknown_bit = 0x100000;  // no structure of Level Zero has it
    kind = {input.number<std::uint16_t>() | unknown_bit, sizeof(ze_base_desc_t), keep};
  } else {
    kind = kinds[input.below(kinds.size())];
  }
  nodes_.emplace_back(static_cast<std::byte*>(std::calloc(1, kind.bytes)));
  std::byte* const node = nodes_.back().get();
  if (node == nullptr) {
    throw std::bad_alloc();
  }
  const auto drawn = input.bytes(kind.bytes - sizeof(ze_base_desc_t));
  if (!drawn.empty()) {
    std::memcpy(node + sizeof(ze_base_desc_t), drawn.data(), drawn.size());
  }
  kind.fix_up(node, input);
  std::memcpy(node, &kind.type, sizeof kind.type);
}

ExtensionNodes::ExtensionNodes(Input& input) {
  const std::uint64_t count = input.below(7);
  while (nodes_.size() < count) {
    add(input);
  }
  // One after the other, and from the last one to any of them or to none.
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const std::uint64_t back = input.below(count + 1);
    void* const last = back < count ? nodes_[back].get() : nullptr;
    void* const next = index + 1 < count ? nodes_[index + 1].get() : last;
    std::memcpy(nodes_[index].get() + offsetof(ze_base_desc_t, pNext), &next, sizeof next);
  }
  first_ = nodes_.empty() ? nullptr : nodes_.front().get();
}

}  // namespace datum::test
