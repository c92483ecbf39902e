// Calls of lists, images, events, handles and residency.
#include <array>
#include <vector>

#include "tests/faults/calls.hpp"

namespace datum::test {
namespace {

constexpr std::uint32_t image_side = 64;

void allocate(World& w, std::size_t bytes) {
  const auto desc = of_type<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  must(w, w.api.memory.pfnAllocDevice(w.context, &desc, bytes, 0, w.device(), &w.memory), "zeMemAllocDevice");
}

void free_allocation(World& w) { must(w, w.api.memory.pfnFree(w.context, w.memory), "zeMemFree"); }

void share(World& w) {
  allocate(w, 9000);
  must(w, w.api.memory.pfnGetIpcHandle(w.context, w.memory, &w.handle), "zeMemGetIpcHandle");
}

void allocate_and_fill(World& w) {
  allocate(w, 9000);
  const unsigned char value = 3;
  must(w, w.api.list.pfnAppendMemoryFill(w.immediate, w.memory, &value, 1, 9000, nullptr, 0, nullptr),
       "a fill");
}

template <ze_driver_memory_free_policy_ext_flags_t policy>
ze_result_t free_by(World& w) {
  auto desc = of_type<ze_memory_free_ext_desc_t>(ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC);
  desc.freePolicy = policy;
  return w.api.memory.pfnFreeExt(w.context, &desc, w.memory);
}

ze_image_desc_t image_desc() {
  auto desc = of_type<ze_image_desc_t>(ZE_STRUCTURE_TYPE_IMAGE_DESC);
  desc.type = ZE_IMAGE_TYPE_2D;
  desc.format = {ZE_IMAGE_FORMAT_LAYOUT_8, ZE_IMAGE_FORMAT_TYPE_UINT, {}, {}, {}, {}};
  desc.width = desc.height = image_side;
  return desc;
}

void create_images(World& w) {
  const auto desc = image_desc();
  must(w, w.api.image.pfnCreate(w.context, w.device(), &desc, &w.made_image), "zeImageCreate");
  must(w, w.api.image.pfnCreate(w.context, w.device(), &desc, &w.other_image), "zeImageCreate");
}

void destroy_images(World& w) {
  must(w, w.api.image.pfnDestroy(w.other_image), "zeImageDestroy");
  must(w, w.api.image.pfnDestroy(w.made_image), "zeImageDestroy");
}

constexpr ze_image_region_t part{4, 5, 0, 20, 21, 1};
constexpr ze_copy_region_t rectangle{3, 4, 0, 50, 20, 1};
constexpr std::uint32_t row_bytes = 256;

ze_result_t create_counter(World& w) {
  auto desc = of_type<ze_event_counter_based_desc_t>(ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC);
  desc.flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
               ZE_EVENT_COUNTER_BASED_FLAG_IPC;
  desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  return w.api.event.pfnCounterBasedCreate(w.context, w.device(), &desc, &w.made_event);
}

void prepare_counter(World& w) { must(w, create_counter(w), "zeEventCounterBasedCreate"); }

void destroy_event(World& w) { must(w, w.api.event.pfnDestroy(w.made_event), "zeEventDestroy"); }

void signal(World& w) { must(w, w.api.event.pfnHostSignal(w.event), "zeEventHostSignal"); }

void reset_event(World& w) { must(w, w.api.event.pfnHostReset(w.event), "zeEventHostReset"); }

void create_list(World& w, ze_command_list_flags_t flags, const void* next) {
  auto desc = of_type<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  desc.flags = flags;
  desc.pNext = next;
  must(w, w.api.list.pfnCreate(w.context, w.device(), &desc, &w.made_list), "zeCommandListCreate");
}

ze_result_t name_next_command(World& w) {
  auto desc = of_type<ze_mutable_command_id_exp_desc_t>(ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC);
  desc.flags = ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT | ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS;
  return w.api.list_exp.pfnGetNextCommandIdExp(w.made_list, &desc, &w.number);
}

void create_mutable_list(World& w) {
  const auto extension =
      of_type<ze_mutable_command_list_exp_desc_t>(ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC);
  create_list(w, 0, &extension);
}

void record_mutable_list(World& w) {
  create_mutable_list(w);
  must(w, name_next_command(w), "zeCommandListGetNextCommandIdExp");
  must(w, w.api.list.pfnAppendBarrier(w.made_list, w.event, 1, &w.event), "zeCommandListAppendBarrier");
  must(w, w.api.list.pfnClose(w.made_list), "zeCommandListClose");
}

void record_cloneable_list(World& w) {
  create_list(w, ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE, nullptr);
  const unsigned char value = 1;
  must(w,
       w.api.list.pfnAppendMemoryFill(w.made_list, w.on_device, &value, 1, World::bytes, nullptr, 0, nullptr),
       "a fill");
  must(w, w.api.list.pfnClose(w.made_list), "zeCommandListClose");
}

void destroy_list(World& w) { must(w, w.api.list.pfnDestroy(w.made_list), "zeCommandListDestroy"); }

void close_list(World& w) {
  const unsigned char value = 1;
  must(w, w.api.list.pfnAppendMemoryFill(w.list, w.on_device, &value, 1, World::bytes, nullptr, 0, nullptr),
       "a fill");
  must(w, w.api.list.pfnClose(w.list), "zeCommandListClose");
}

void reset_recorded(World& w) { must(w, w.api.list.pfnReset(w.list), "zeCommandListReset"); }

void do_nothing(void* /*data*/) {}

template <ze_command_list_handle_t World::*list>
ze_result_t append_regions(World& w) {
  return w.api.list.pfnAppendMemoryCopyRegion(w.*list, w.on_host, &rectangle, row_bytes, 0, w.on_device,
                                              &rectangle, row_bytes, 0, nullptr, 0, nullptr);
}

const std::array memory_calls{
    Call{"zeContextCreateEx", nullptr,
         [](World& w) {
           const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
           ze_device_handle_t device = w.device();
           return w.api.context.pfnCreateEx(w.driver->handle(), &desc, 1, &device, &w.made_context);
         },
         [](World& w) { must(w, w.api.context.pfnDestroy(w.made_context), "zeContextDestroy"); }},
    Call{"zeMemFreeExt_blocking", allocate_and_fill,
         free_by<ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE>, nullptr},
    Call{"zeMemFreeExt_deferred", allocate_and_fill,
         free_by<ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE>, nullptr},
    Call{"zeMemPutIpcHandle", share,
         [](World& w) { return w.api.memory.pfnPutIpcHandle(w.context, w.handle); }, free_allocation},
    Call{"zeMemGetIpcHandleWithProperties", [](World& w) { allocate(w, 9000); },
         [](World& w) {
           return w.api.memory.pfnGetIpcHandleWithProperties(w.context, w.memory, nullptr, &w.handle);
         },
         free_allocation},
    Call{"zeMemGetFileDescriptorFromIpcHandleExp", share,
         [](World& w) {
           return w.api.memory_exp.pfnGetFileDescriptorFromIpcHandleExp(w.context, w.handle, &w.number);
         },
         free_allocation},
    Call{"zeMemGetIpcHandleFromFileDescriptorExp",
         [](World& w) {
           share(w);
           must(w, w.api.memory_exp.pfnGetFileDescriptorFromIpcHandleExp(w.context, w.handle, &w.number),
                "zeMemGetFileDescriptorFromIpcHandleExp");
         },
         [](World& w) {
           return w.api.memory_exp.pfnGetIpcHandleFromFileDescriptorExp(w.context, w.number, &w.handle);
         },
         free_allocation},
    Call{"zeMemGetAllocProperties_for_export",
         [](World& w) {
           ze_external_memory_export_desc_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                   ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD};
           auto desc = of_type<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
           desc.pNext = &wanted;
           must(w, w.api.memory.pfnAllocDevice(w.context, &desc, 9000, 0, w.device(), &w.memory),
                "zeMemAllocDevice");
         },
         [](World& w) {
           ze_external_memory_export_fd_t file{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr,
                                               ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD, -1};
           ze_memory_allocation_properties_t properties{};
           properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
           properties.pNext = &file;
           return w.api.memory.pfnGetAllocProperties(w.context, w.memory, &properties, nullptr);
         },
         free_allocation},
    Call{"zeContextMakeMemoryResident", [](World& w) { allocate(w, 9000); },
         [](World& w) { return w.api.context.pfnMakeMemoryResident(w.context, w.device(), w.memory, 9000); },
         free_allocation},
    Call{"zeContextEvictMemory",
         [](World& w) {
           allocate(w, 9000);
           must(w, w.api.context.pfnMakeMemoryResident(w.context, w.device(), w.memory, 9000),
                "zeContextMakeMemoryResident");
         },
         [](World& w) { return w.api.context.pfnEvictMemory(w.context, w.device(), w.memory, 9000); },
         free_allocation},
    Call{"zeContextSystemBarrier", nullptr,
         [](World& w) { return w.api.context.pfnSystemBarrier(w.context, w.device()); }, nullptr},
    Call{"zeImageViewCreateExt", create_images,
         [](World& w) {
           const auto desc = image_desc();
           ze_image_handle_t view = nullptr;
           const ze_result_t code =
               w.api.image.pfnViewCreateExt(w.context, w.device(), &desc, w.made_image, &view);
           if (code == ZE_RESULT_SUCCESS) {
             must(w, w.api.image.pfnDestroy(view), "zeImageDestroy");
           }
           return code;
         },
         destroy_images},
    Call{"zeEventPoolGetIpcHandle", nullptr,
         [](World& w) { return w.api.pool.pfnGetIpcHandle(w.pool, &w.pool_handle); }, nullptr},
    Call{"zeEventCounterBasedCreate", nullptr, create_counter, destroy_event},
    Call{"zeEventCounterBasedGetIpcHandle", prepare_counter,
         [](World& w) { return w.api.event.pfnCounterBasedGetIpcHandle(w.made_event, &w.counter_handle); },
         destroy_event},
    Call{"zeEventCounterBasedOpenIpcHandle",
         [](World& w) {
           prepare_counter(w);
           must(w, w.api.event.pfnCounterBasedGetIpcHandle(w.made_event, &w.counter_handle),
                "zeEventCounterBasedGetIpcHandle");
         },
         [](World& w) {
           return w.api.event.pfnCounterBasedOpenIpcHandle(w.other_context, w.counter_handle,
                                                           &w.opened_event);
         },
         [](World& w) {
           must(w, w.api.event.pfnCounterBasedCloseIpcHandle(w.opened_event),
                "zeEventCounterBasedCloseIpcHandle");
           destroy_event(w);
         }},
};

const std::array list_calls{
    Call{"zeCommandListAppendWriteGlobalTimestamp", nullptr,
         [](World& w) {
           return w.api.list.pfnAppendWriteGlobalTimestamp(
               w.immediate, static_cast<std::uint64_t*>(w.on_host), nullptr, 0, nullptr);
         },
         nullptr},
    Call{"zeCommandListAppendBarrier", nullptr,
         [](World& w) { return w.api.list.pfnAppendBarrier(w.immediate, nullptr, 0, nullptr); }, nullptr},
    Call{"zeCommandListAppendMemoryRangesBarrier", nullptr,
         [](World& w) {
           const std::size_t bytes = World::bytes;
           const void* range = w.on_device;
           return w.api.list.pfnAppendMemoryRangesBarrier(w.immediate, 1, &bytes, &range, nullptr, 0,
                                                          nullptr);
         },
         nullptr},
    Call{"zeCommandListAppendMemoryCopyRegion", nullptr, append_regions<&World::immediate>, nullptr},
    Call{"zeCommandListAppendMemoryCopyRegion_recorded", nullptr, append_regions<&World::list>,
         reset_recorded},
    Call{"zeCommandListAppendMemoryCopyFromContext", nullptr,
         [](World& w) {
           return w.api.list.pfnAppendMemoryCopyFromContext(w.immediate, w.on_host, w.context, w.on_device,
                                                            World::bytes, nullptr, 0, nullptr);
         },
         nullptr},
    Call{"zeCommandListAppendMemoryCopyWithParameters", nullptr,
         [](World& w) {
           return w.api.list.pfnAppendMemoryCopyWithParameters(w.immediate, w.on_host, w.on_device,
                                                               World::bytes, nullptr, nullptr, 0, nullptr);
         },
         nullptr},
    Call{"zeCommandListAppendMemoryFillWithParameters", nullptr,
         [](World& w) {
           const unsigned char value = 9;
           return w.api.list.pfnAppendMemoryFillWithParameters(w.immediate, w.on_device, &value, 1,
                                                               World::bytes, nullptr, nullptr, 0, nullptr);
         },
         nullptr},
    Call{"zeCommandListAppendImageCopy", create_images,
         [](World& w) {
           return w.api.list.pfnAppendImageCopy(w.immediate, w.other_image, w.made_image, nullptr, 0,
                                                nullptr);
         },
         destroy_images},
    Call{"zeCommandListAppendImageCopyRegion", create_images,
         [](World& w) {
           return w.api.list.pfnAppendImageCopyRegion(w.immediate, w.other_image, w.made_image, &part, &part,
                                                      nullptr, 0, nullptr);
         },
         destroy_images},
    Call{"zeCommandListAppendImageCopyToMemory", create_images,
         [](World& w) {
           return w.api.list.pfnAppendImageCopyToMemory(w.immediate, w.ordinary, w.made_image, &part, nullptr,
                                                        0, nullptr);
         },
         destroy_images},
    Call{"zeCommandListAppendImageCopyFromMemory", create_images,
         [](World& w) {
           return w.api.list.pfnAppendImageCopyFromMemory(w.immediate, w.made_image, w.on_host, &part,
                                                          nullptr, 0, nullptr);
         },
         destroy_images},
    Call{"zeCommandListAppendImageCopyToMemoryExt", create_images,
         [](World& w) {
           return w.api.list.pfnAppendImageCopyToMemoryExt(w.immediate, w.on_host, w.made_image, &part,
                                                           row_bytes, 0, nullptr, 0, nullptr);
         },
         destroy_images},
    Call{"zeCommandListAppendImageCopyFromMemoryExt", create_images,
         [](World& w) {
           return w.api.list.pfnAppendImageCopyFromMemoryExt(w.immediate, w.made_image, w.on_host, &part,
                                                             row_bytes, 0, nullptr, 0, nullptr);
         },
         destroy_images},
    Call{"zeCommandListAppendMemoryPrefetch", nullptr,
         [](World& w) { return w.api.list.pfnAppendMemoryPrefetch(w.immediate, w.on_device, World::bytes); },
         nullptr},
    Call{"zeCommandListAppendMemAdvise", nullptr,
         [](World& w) {
           return w.api.list.pfnAppendMemAdvise(w.immediate, w.device(), w.on_device, World::bytes,
                                                ZE_MEMORY_ADVICE_SET_READ_MOSTLY);
         },
         nullptr},
    Call{"zeCommandListAppendWaitOnEvents", signal,
         [](World& w) { return w.api.list.pfnAppendWaitOnEvents(w.immediate, 1, &w.event); }, reset_event},
    Call{"zeCommandListAppendEventReset", signal,
         [](World& w) { return w.api.list.pfnAppendEventReset(w.immediate, w.event); }, nullptr},
    Call{"zeCommandListAppendHostFunction", nullptr,
         [](World& w) {
           return w.api.list.pfnAppendHostFunction(w.immediate, do_nothing, nullptr, nullptr, nullptr, 0,
                                                   nullptr);
         },
         nullptr},
    Call{"zeCommandListImmediateAppendCommandListsExp", close_list,
         [](World& w) {
           return w.api.list_exp.pfnImmediateAppendCommandListsExp(w.immediate, 1, &w.list, nullptr, 0,
                                                                   nullptr);
         },
         reset_recorded},
    Call{"zeCommandListImmediateAppendCommandListsWithParameters", close_list,
         [](World& w) {
           return w.api.list.pfnImmediateAppendCommandListsWithParameters(w.immediate, 1, &w.list, nullptr,
                                                                          nullptr, 0, nullptr);
         },
         reset_recorded},
    Call{"zeCommandListCreateCloneExp", record_cloneable_list,
         [](World& w) {
           ze_command_list_handle_t clone = nullptr;
           const ze_result_t code = w.api.list_exp.pfnCreateCloneExp(w.made_list, &clone);
           if (code == ZE_RESULT_SUCCESS) {
             must(w, w.api.list.pfnDestroy(clone), "zeCommandListDestroy");
           }
           return code;
         },
         destroy_list},
    Call{"zeCommandListGetNextCommandIdExp", create_mutable_list, name_next_command, destroy_list},
    Call{"zeCommandListUpdateMutableCommandSignalEventExp", record_mutable_list,
         [](World& w) {
           return w.api.list_exp.pfnUpdateMutableCommandSignalEventExp(w.made_list, w.number, nullptr);
         },
         destroy_list},
    Call{"zeCommandListUpdateMutableCommandWaitEventsExp", record_mutable_list,
         [](World& w) {
           ze_event_handle_t none = nullptr;
           return w.api.list_exp.pfnUpdateMutableCommandWaitEventsExp(w.made_list, w.number, 1, &none);
         },
         destroy_list},
};

std::vector<Call> joined() {
  std::vector<Call> all(memory_calls.begin(), memory_calls.end());
  all.insert(all.end(), list_calls.begin(), list_calls.end());
  return all;
}

}  // namespace

std::span<const Call> more_calls_with_steps() {
  static const std::vector<Call> all = joined();
  return all;
}

}  // namespace datum::test
