#include "tests/faults/calls.hpp"

#include <array>

namespace datum::test {
namespace {

constexpr std::size_t large = 5U << 20U;

ze_device_mem_alloc_desc_t on_device() {
  return of_type<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
}

ze_host_mem_alloc_desc_t on_host() {
  return of_type<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
}

ze_result_t allocate_device(World& w, std::size_t bytes) {
  const auto desc = on_device();
  return w.api.memory.pfnAllocDevice(w.context, &desc, bytes, 0, w.device(), &w.memory);
}

ze_result_t allocate_host(World& w, std::size_t bytes) {
  const auto desc = on_host();
  return w.api.memory.pfnAllocHost(w.context, &desc, bytes, 0, &w.memory);
}

/// The board has seen it when it is freed.
void use(World& w) {
  const unsigned char value = 0x5a;
  must(w, w.api.list.pfnAppendMemoryFill(w.immediate, w.memory, &value, 1, 5000, nullptr, 0, nullptr),
       "a fill");
}

void free_memory(World& w) { must(w, w.api.memory.pfnFree(w.context, w.memory), "zeMemFree"); }

void reserve(World& w) {
  must(w, w.api.address.pfnReserve(w.context, nullptr, large, &w.reserved), "zeVirtualMemReserve");
}

void free_reservation(World& w) {
  must(w, w.api.address.pfnFree(w.context, w.reserved, large), "zeVirtualMemFree");
}

ze_result_t create_physical(World& w, ze_physical_mem_flags_t flags) {
  auto desc = of_type<ze_physical_mem_desc_t>(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC);
  desc.flags = flags;
  desc.size = large & ~std::size_t{4095};
  return w.api.physical.pfnCreate(w.context, w.device(), &desc, &w.physical);
}

template <ze_physical_mem_flags_t flags>
void reserve_for(World& w) {
  reserve(w);
  must(w, create_physical(w, flags), "zePhysicalMemCreate");
}

void destroy_physical(World& w) {
  must(w, w.api.physical.pfnDestroy(w.context, w.physical), "zePhysicalMemDestroy");
}

ze_result_t map(World& w) {
  return w.api.address.pfnMap(w.context, w.reserved, large, w.physical, 0,
                              ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
}

template <ze_physical_mem_flags_t flags>
void map_and_use(World& w) {
  reserve_for<flags>(w);
  must(w, map(w), "zeVirtualMemMap");
  w.memory = w.reserved;
  use(w);
}

void end_reservation(World& w) {
  free_reservation(w);
  destroy_physical(w);
}

void* middle_of(World& w) { return static_cast<std::byte*>(w.reserved) + 3 * 4096; }

void export_memory(World& w) {
  must(w, w.api.memory.pfnGetIpcHandle(w.context, w.memory, &w.handle), "zeMemGetIpcHandle");
}

ze_result_t append_copy(World& w, void* to, const void* from) {
  return w.api.list.pfnAppendMemoryCopy(w.immediate, to, from, World::bytes, nullptr, 0, nullptr);
}

ze_result_t execute_list(World& w) {
  return w.api.queue.pfnExecuteCommandLists(w.queue, 1, &w.list, nullptr);
}

void record_list(World& w) {
  const unsigned char value = 1;
  must(w, w.api.list.pfnAppendMemoryFill(w.list, w.on_device, &value, 1, World::bytes, w.event, 0, nullptr),
       "a fill");
  must(w, w.api.list.pfnAppendMemoryCopy(w.list, w.ordinary, w.on_device, World::bytes, nullptr, 1, &w.event),
       "a copy");
  must(w, w.api.list.pfnClose(w.list), "zeCommandListClose");
}

void reset_list(World& w) { must(w, w.api.list.pfnReset(w.list), "zeCommandListReset"); }

constexpr ze_physical_mem_flags_t in_device = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE;
constexpr ze_physical_mem_flags_t in_host = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;

const std::array calls{
    Call{"zeContextCreate", nullptr,
         [](World& w) {
           const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
           return w.api.context.pfnCreate(w.driver->handle(), &desc, &w.made_context);
         },
         [](World& w) { must(w, w.api.context.pfnDestroy(w.made_context), "zeContextDestroy"); }},
    Call{"zeMemAllocDevice_of_a_page", nullptr, [](World& w) { return allocate_device(w, 100); },
         free_memory},
    Call{"zeMemAllocDevice", nullptr, [](World& w) { return allocate_device(w, 9000); }, free_memory},
    Call{"zeMemAllocDevice_of_much", nullptr, [](World& w) { return allocate_device(w, large); },
         free_memory},
    Call{"zeMemAllocHost_of_a_page", nullptr, [](World& w) { return allocate_host(w, 100); }, free_memory},
    Call{"zeMemAllocHost", nullptr, [](World& w) { return allocate_host(w, 9000); }, free_memory},
    Call{"zeMemAllocHost_of_much", nullptr, [](World& w) { return allocate_host(w, large); }, free_memory},
    Call{"zeMemAllocShared", nullptr,
         [](World& w) {
           const auto device = on_device();
           const auto host = on_host();
           return w.api.memory.pfnAllocShared(w.context, &device, &host, 9000, 0, nullptr, &w.memory);
         },
         free_memory},
    Call{"zeMemAllocHost_of_system_memory", nullptr,
         [](World& w) {
           ze_external_memmap_sysmem_ext_desc_t system{ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                                                       nullptr, w.ordinary, World::bytes};
           auto desc = on_host();
           desc.pNext = &system;
           return w.api.memory.pfnAllocHost(w.context, &desc, World::bytes, 0, &w.memory);
         },
         free_memory},
    Call{"zeMemAllocDevice_for_export", nullptr,
         [](World& w) {
           ze_external_memory_export_desc_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                   ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD};
           auto desc = on_device();
           desc.pNext = &wanted;
           return w.api.memory.pfnAllocDevice(w.context, &desc, 9000, 0, w.device(), &w.memory);
         },
         free_memory},
    Call{"zeMemFree_of_device_memory",
         [](World& w) {
           must(w, allocate_device(w, 9000), "zeMemAllocDevice");
           use(w);
         },
         [](World& w) { return w.api.memory.pfnFree(w.context, w.memory); }, nullptr},
    Call{"zeMemFree_of_much_host_memory",
         [](World& w) {
           must(w, allocate_host(w, large), "zeMemAllocHost");
           use(w);
         },
         [](World& w) { return w.api.memory.pfnFree(w.context, w.memory); }, nullptr},
    Call{"zeMemGetIpcHandle_of_device_memory",
         [](World& w) { must(w, allocate_device(w, 9000), "zeMemAllocDevice"); },
         [](World& w) { return w.api.memory.pfnGetIpcHandle(w.context, w.memory, &w.handle); }, free_memory},
    Call{"zeMemGetIpcHandle_of_host_memory",
         [](World& w) {
           must(w, allocate_host(w, 9000), "zeMemAllocHost");
           use(w);
         },
         [](World& w) { return w.api.memory.pfnGetIpcHandle(w.context, w.memory, &w.handle); }, free_memory},
    Call{"zeMemGetIpcHandle_of_much_host_memory",
         [](World& w) {
           must(w, allocate_host(w, large), "zeMemAllocHost");
           use(w);
         },
         [](World& w) { return w.api.memory.pfnGetIpcHandle(w.context, w.memory, &w.handle); }, free_memory},
    Call{"zeMemOpenIpcHandle_of_device_memory",
         [](World& w) {
           must(w, allocate_device(w, 9000), "zeMemAllocDevice");
           export_memory(w);
         },
         [](World& w) {
           return w.api.memory.pfnOpenIpcHandle(w.other_context, w.device(), w.handle, 0, &w.opened);
         },
         [](World& w) {
           must(w, w.api.memory.pfnCloseIpcHandle(w.other_context, w.opened), "zeMemCloseIpcHandle");
           free_memory(w);
         }},
    Call{"zeMemOpenIpcHandle_of_host_memory",
         [](World& w) {
           must(w, allocate_host(w, 9000), "zeMemAllocHost");
           export_memory(w);
         },
         [](World& w) {
           return w.api.memory.pfnOpenIpcHandle(w.other_context, w.device(), w.handle, 0, &w.opened);
         },
         [](World& w) {
           must(w, w.api.memory.pfnCloseIpcHandle(w.other_context, w.opened), "zeMemCloseIpcHandle");
           free_memory(w);
         }},
    Call{"zeCommandQueueCreate", nullptr,
         [](World& w) {
           const auto desc = of_type<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
           return w.api.queue.pfnCreate(w.context, w.device(), &desc, &w.made_queue);
         },
         [](World& w) { must(w, w.api.queue.pfnDestroy(w.made_queue), "zeCommandQueueDestroy"); }},
    Call{"zeCommandListCreate", nullptr,
         [](World& w) {
           const auto desc = of_type<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
           return w.api.list.pfnCreate(w.context, w.device(), &desc, &w.made_list);
         },
         [](World& w) { must(w, w.api.list.pfnDestroy(w.made_list), "zeCommandListDestroy"); }},
    Call{"zeCommandListCreateImmediate", nullptr,
         [](World& w) {
           const auto desc = of_type<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
           return w.api.list.pfnCreateImmediate(w.context, w.device(), &desc, &w.made_list);
         },
         [](World& w) { must(w, w.api.list.pfnDestroy(w.made_list), "zeCommandListDestroy"); }},
    Call{"zeEventPoolCreate", nullptr,
         [](World& w) {
           const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                           ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 100};
           return w.api.pool.pfnCreate(w.context, &desc, 0, nullptr, &w.made_pool);
         },
         [](World& w) { must(w, w.api.pool.pfnDestroy(w.made_pool), "zeEventPoolDestroy"); }},
    Call{"zeEventPoolCreate_for_processes", nullptr,
         [](World& w) {
           const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                           ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC, 100};
           return w.api.pool.pfnCreate(w.context, &desc, 0, nullptr, &w.made_pool);
         },
         [](World& w) { must(w, w.api.pool.pfnDestroy(w.made_pool), "zeEventPoolDestroy"); }},
    Call{"zeEventPoolOpenIpcHandle",
         [](World& w) {
           must(w, w.api.pool.pfnGetIpcHandle(w.pool, &w.pool_handle), "zeEventPoolGetIpcHandle");
         },
         [](World& w) { return w.api.pool.pfnOpenIpcHandle(w.other_context, w.pool_handle, &w.made_pool); },
         [](World& w) { must(w, w.api.pool.pfnCloseIpcHandle(w.made_pool), "zeEventPoolCloseIpcHandle"); }},
    Call{"zeEventCreate", nullptr,
         [](World& w) {
           const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 1, 0, 0};
           return w.api.event.pfnCreate(w.pool, &desc, &w.made_event);
         },
         [](World& w) { must(w, w.api.event.pfnDestroy(w.made_event), "zeEventDestroy"); }},
    Call{"zeFenceCreate", nullptr,
         [](World& w) {
           const auto desc = of_type<ze_fence_desc_t>(ZE_STRUCTURE_TYPE_FENCE_DESC);
           return w.api.fence.pfnCreate(w.queue, &desc, &w.made_fence);
         },
         [](World& w) { must(w, w.api.fence.pfnDestroy(w.made_fence), "zeFenceDestroy"); }},
    Call{"zeImageCreate", nullptr,
         [](World& w) {
           auto desc = of_type<ze_image_desc_t>(ZE_STRUCTURE_TYPE_IMAGE_DESC);
           desc.type = ZE_IMAGE_TYPE_2D;
           desc.format = {ZE_IMAGE_FORMAT_LAYOUT_8, ZE_IMAGE_FORMAT_TYPE_UINT, {}, {}, {}, {}};
           desc.width = desc.height = 100;
           return w.api.image.pfnCreate(w.context, w.device(), &desc, &w.made_image);
         },
         [](World& w) { must(w, w.api.image.pfnDestroy(w.made_image), "zeImageDestroy"); }},
    Call{"zeVirtualMemReserve", nullptr,
         [](World& w) { return w.api.address.pfnReserve(w.context, nullptr, large, &w.reserved); },
         free_reservation},
    Call{"zePhysicalMemCreate_on_device", nullptr, [](World& w) { return create_physical(w, in_device); },
         destroy_physical},
    Call{"zePhysicalMemCreate_on_host", nullptr, [](World& w) { return create_physical(w, in_host); },
         destroy_physical},
    Call{"zeVirtualMemMap_of_device_memory", reserve_for<in_device>, map, end_reservation},
    Call{"zeVirtualMemMap_of_host_memory", reserve_for<in_host>, map, end_reservation},
    Call{"zeVirtualMemUnmap_of_device_memory", map_and_use<in_device>,
         [](World& w) { return w.api.address.pfnUnmap(w.context, middle_of(w), 4096); }, end_reservation},
    Call{"zeVirtualMemUnmap_of_host_memory", map_and_use<in_host>,
         [](World& w) { return w.api.address.pfnUnmap(w.context, middle_of(w), 4096); }, end_reservation},
    Call{"zeVirtualMemSetAccessAttribute_of_device_memory", map_and_use<in_device>,
         [](World& w) {
           return w.api.address.pfnSetAccessAttribute(w.context, middle_of(w), 8192,
                                                      ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
         },
         end_reservation},
    Call{"zeVirtualMemSetAccessAttribute_of_host_memory", map_and_use<in_host>,
         [](World& w) {
           return w.api.address.pfnSetAccessAttribute(w.context, middle_of(w), 8192,
                                                      ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
         },
         end_reservation},
    Call{"zeVirtualMemFree", map_and_use<in_host>,
         [](World& w) { return w.api.address.pfnFree(w.context, w.reserved, large); }, destroy_physical},
    Call{"zePhysicalMemDestroy",
         [](World& w) {
           map_and_use<in_device>(w);
           free_reservation(w);
         },
         [](World& w) { return w.api.physical.pfnDestroy(w.context, w.physical); }, nullptr},
    Call{"zeCommandListAppendMemoryFill", nullptr,
         [](World& w) {
           const unsigned char value = 7;
           return w.api.list.pfnAppendMemoryFill(w.immediate, w.on_device, &value, 1, World::bytes, nullptr,
                                                 0, nullptr);
         },
         nullptr},
    Call{"zeCommandListAppendMemoryCopy", nullptr,
         [](World& w) { return append_copy(w, w.on_host, w.on_device); }, nullptr},
    Call{"zeCommandListAppendMemoryCopy_of_ordinary_memory", nullptr,
         [](World& w) { return append_copy(w, w.ordinary, w.on_device); }, nullptr},
    Call{"zeCommandListAppendMemoryCopy_to_fresh_memory",
         [](World& w) { must(w, allocate_device(w, World::bytes), "zeMemAllocDevice"); },
         [](World& w) { return append_copy(w, w.memory, w.on_host); }, free_memory},
    Call{"zeCommandListAppendSignalEvent", nullptr,
         [](World& w) { return w.api.list.pfnAppendSignalEvent(w.immediate, w.event); },
         [](World& w) { must(w, w.api.event.pfnHostReset(w.event), "zeEventHostReset"); }},
    Call{"zeCommandListAppendMemoryCopy_recorded", nullptr,
         [](World& w) {
           return w.api.list.pfnAppendMemoryCopy(w.list, w.on_host, w.on_device, World::bytes, nullptr, 0,
                                                 nullptr);
         },
         reset_list},
    Call{"zeCommandQueueExecuteCommandLists", record_list, execute_list,
         [](World& w) {
           reset_list(w);
           must(w, w.api.event.pfnHostReset(w.event), "zeEventHostReset");
         }},
    Call{"zeEventDestroy",
         [](World& w) {
           const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 2, 0, 0};
           must(w, w.api.event.pfnCreate(w.pool, &desc, &w.made_event), "zeEventCreate");
         },
         [](World& w) { return w.api.event.pfnDestroy(w.made_event); }, nullptr},
};

}  // namespace

std::span<const Call> calls_with_steps() { return calls; }

}  // namespace datum::test
