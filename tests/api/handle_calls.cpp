#include "tests/api/handle_calls.hpp"

namespace datum::test {

namespace {

template <class Handle>
Handle as(void* handle) {
  return static_cast<Handle>(handle);
}

}  // namespace

std::vector<Call> Handles::calls() {
  using D = ze_driver_handle_t;
  using V = ze_device_handle_t;
  using C = ze_context_handle_t;
  using Q = ze_command_queue_handle_t;
  using L = ze_command_list_handle_t;
  using P = ze_event_pool_handle_t;
  using E = ze_event_handle_t;
  using F = ze_fence_handle_t;
  static const ze_context_desc_t context_desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  static const ze_device_mem_alloc_desc_t device_desc{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  static const ze_host_mem_alloc_desc_t host_desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  static const ze_command_queue_desc_t queue_desc{
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_DEFAULT,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  static const ze_command_list_desc_t list_desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
  static const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, 1};
  static const ze_event_desc_t event_desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
  static const ze_fence_desc_t fence_desc{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  static const ze_copy_region_t region{0, 0, 0, 8, 1, 0};
  static const ze_copy_region_t second_region{0, 8, 0, 8, 1, 0};
  const auto out = [this](auto* type) { return reinterpret_cast<decltype(type)>(out_.data()); };
  ze_driver_properties_t* driver_properties = out(static_cast<ze_driver_properties_t*>(nullptr));
  ze_driver_ipc_properties_t* ipc_properties = out(static_cast<ze_driver_ipc_properties_t*>(nullptr));
  const auto set = [this](ze_structure_type_t stype) {
    out_.fill(0);
    *reinterpret_cast<ze_structure_type_t*>(out_.data()) = stype;
  };
  auto* from = block_.bytes();
  auto* to = block_.bytes() + 2048;
  // clang-format off: a table, one line a function
  return {
      {"zeDriverGetApiVersion", HandleKind::driver,
       [=](void* h) {
         return zeDriverGetApiVersion(as<D>(h), out(static_cast<ze_api_version_t*>(nullptr)));
       }},
      {"zeDriverGetProperties", HandleKind::driver,
       [=](void* h) {
         set(ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
         return zeDriverGetProperties(as<D>(h), driver_properties);
       }},
      {"zeDriverGetIpcProperties", HandleKind::driver,
       [=](void* h) {
         set(ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES);
         return zeDriverGetIpcProperties(as<D>(h), ipc_properties);
       }},
      {"zeDriverGetExtensionProperties", HandleKind::driver,
       [=, this](void* h) { return zeDriverGetExtensionProperties(as<D>(h), &count_, nullptr); }},
      {"zeDriverGetExtensionFunctionAddress", HandleKind::driver,
       [=, this](void* h) { return zeDriverGetExtensionFunctionAddress(as<D>(h), "zeNothing", &pointer_); }},
      {"zeDeviceGet", HandleKind::driver,
       [=, this](void* h) {
         count_ = 0;
         return zeDeviceGet(as<D>(h), &count_, nullptr);
       }},
      {"zeContextCreate", HandleKind::driver,
       [=](void* h) { return zeContextCreate(as<D>(h), &context_desc, out(static_cast<C*>(nullptr))); }},
      {"zeContextCreateEx", HandleKind::driver,
       [=](void* h) {
         return zeContextCreateEx(as<D>(h), &context_desc, 0, nullptr, out(static_cast<C*>(nullptr)));
       }},
      {"zeDeviceGetProperties", HandleKind::device,
       [=](void* h) {
         set(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
         return zeDeviceGetProperties(as<V>(h), out(static_cast<ze_device_properties_t*>(nullptr)));
       }},
      {"zeDeviceGetComputeProperties", HandleKind::device,
       [=](void* h) {
         set(ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
         return zeDeviceGetComputeProperties(as<V>(h),
                                             out(static_cast<ze_device_compute_properties_t*>(nullptr)));
       }},
      {"zeDeviceGetModuleProperties", HandleKind::device,
       [=](void* h) {
         set(ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
         return zeDeviceGetModuleProperties(as<V>(h),
                                            out(static_cast<ze_device_module_properties_t*>(nullptr)));
       }},
      {"zeDeviceGetImageProperties", HandleKind::device,
       [=](void* h) {
         set(ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES);
         return zeDeviceGetImageProperties(as<V>(h),
                                           out(static_cast<ze_device_image_properties_t*>(nullptr)));
       }},
      {"zeDeviceGetMemoryAccessProperties", HandleKind::device,
       [=](void* h) {
         set(ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES);
         return zeDeviceGetMemoryAccessProperties(
             as<V>(h), out(static_cast<ze_device_memory_access_properties_t*>(nullptr)));
       }},
      {"zeDeviceGetExternalMemoryProperties", HandleKind::device,
       [=](void* h) {
         set(ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES);
         return zeDeviceGetExternalMemoryProperties(
             as<V>(h), out(static_cast<ze_device_external_memory_properties_t*>(nullptr)));
       }},
      {"zeDeviceGetMemoryProperties", HandleKind::device,
       [=, this](void* h) {
         count_ = 0;
         return zeDeviceGetMemoryProperties(as<V>(h), &count_, nullptr);
       }},
      {"zeDeviceGetCacheProperties", HandleKind::device,
       [=, this](void* h) {
         count_ = 0;
         return zeDeviceGetCacheProperties(as<V>(h), &count_, nullptr);
       }},
      {"zeDeviceGetCommandQueueGroupProperties", HandleKind::device,
       [=, this](void* h) {
         count_ = 0;
         return zeDeviceGetCommandQueueGroupProperties(as<V>(h), &count_, nullptr);
       }},
      {"zeDeviceGetSubDevices", HandleKind::device,
       [=, this](void* h) {
         count_ = 0;
         return zeDeviceGetSubDevices(as<V>(h), &count_, nullptr);
       }},
      {"zeDeviceGetStatus", HandleKind::device, [=](void* h) { return zeDeviceGetStatus(as<V>(h)); }},
      {"zeDeviceGetGlobalTimestamps", HandleKind::device,
       [=](void* h) {
         auto* times = out(static_cast<std::uint64_t*>(nullptr));
         return zeDeviceGetGlobalTimestamps(as<V>(h), times, times + 1);
       }},
      {"zeDevicePciGetPropertiesExt", HandleKind::device,
       [=](void* h) {
         set(ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES);
         return zeDevicePciGetPropertiesExt(as<V>(h), out(static_cast<ze_pci_ext_properties_t*>(nullptr)));
       }},
      {"zeDeviceCanAccessPeer", HandleKind::device,
       [=, this](void* h) {
         return zeDeviceCanAccessPeer(as<V>(h), device(), out(static_cast<ze_bool_t*>(nullptr)));
       }},
      {"zeDeviceCanAccessPeer (peer)", HandleKind::device,
       [=, this](void* h) {
         return zeDeviceCanAccessPeer(device(), as<V>(h), out(static_cast<ze_bool_t*>(nullptr)));
       }},
      {"zeDeviceGetP2PProperties", HandleKind::device,
       [=, this](void* h) {
         set(ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES);
         return zeDeviceGetP2PProperties(as<V>(h), device(),
                                         out(static_cast<ze_device_p2p_properties_t*>(nullptr)));
       }},
      {"zeContextSystemBarrier", HandleKind::context,
       [=, this](void* h) { return zeContextSystemBarrier(as<C>(h), device()); }},
      {"zeContextSystemBarrier (device)", HandleKind::device,
       [=, this](void* h) { return zeContextSystemBarrier(context(), as<V>(h)); }},
      {"zeContextMakeMemoryResident", HandleKind::context,
       [=, this](void* h) { return zeContextMakeMemoryResident(as<C>(h), device(), block_.get(), 64); }},
      {"zeContextEvictMemory", HandleKind::context,
       [=, this](void* h) { return zeContextEvictMemory(as<C>(h), device(), block_.get(), 64); }},
      {"zeMemAllocDevice (device)", HandleKind::device,
       [=, this](void* h) { return zeMemAllocDevice(context(), &device_desc, 64, 0, as<V>(h), &pointer_); }},
      {"zeCommandQueueCreate (device)", HandleKind::device,
       [=, this](void* h) {
         return zeCommandQueueCreate(context(), as<V>(h), &queue_desc, out(static_cast<Q*>(nullptr)));
       }},
      {"zeCommandListCreate (device)", HandleKind::device,
       [=, this](void* h) {
         return zeCommandListCreate(context(), as<V>(h), &list_desc, out(static_cast<L*>(nullptr)));
       }},
      {"zeCommandListCreateImmediate (device)", HandleKind::device,
       [=, this](void* h) {
         return zeCommandListCreateImmediate(context(), as<V>(h), &queue_desc, out(static_cast<L*>(nullptr)));
       }},
      {"zeContextDestroy", HandleKind::context, [=](void* h) { return zeContextDestroy(as<C>(h)); }},
      {"zeContextGetStatus", HandleKind::context, [=](void* h) { return zeContextGetStatus(as<C>(h)); }},
      {"zeMemAllocDevice", HandleKind::context,
       [=, this](void* h) { return zeMemAllocDevice(as<C>(h), &device_desc, 64, 0, device(), &pointer_); }},
      {"zeMemAllocHost", HandleKind::context,
       [=, this](void* h) { return zeMemAllocHost(as<C>(h), &host_desc, 64, 0, &pointer_); }},
      {"zeMemAllocShared", HandleKind::context,
       [=, this](void* h) {
         return zeMemAllocShared(as<C>(h), &device_desc, &host_desc, 64, 0, device(), &pointer_);
       }},
      {"zeMemFree", HandleKind::context, [=](void* h) { return zeMemFree(as<C>(h), from); }},
      {"zeMemGetAllocProperties", HandleKind::context,
       [=](void* h) {
         set(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
         return zeMemGetAllocProperties(
             as<C>(h), from, out(static_cast<ze_memory_allocation_properties_t*>(nullptr)), nullptr);
       }},
      {"zeMemGetAddressRange", HandleKind::context,
       [=, this](void* h) { return zeMemGetAddressRange(as<C>(h), from, &pointer_, &size_); }},
      {"zeCommandQueueCreate", HandleKind::context,
       [=, this](void* h) {
         return zeCommandQueueCreate(as<C>(h), device(), &queue_desc, out(static_cast<Q*>(nullptr)));
       }},
      {"zeCommandListCreate", HandleKind::context,
       [=, this](void* h) {
         return zeCommandListCreate(as<C>(h), device(), &list_desc, out(static_cast<L*>(nullptr)));
       }},
      {"zeCommandListCreateImmediate", HandleKind::context,
       [=, this](void* h) {
         return zeCommandListCreateImmediate(as<C>(h), device(), &queue_desc, out(static_cast<L*>(nullptr)));
       }},
      {"zeEventPoolCreate", HandleKind::context,
       [=](void* h) {
         return zeEventPoolCreate(as<C>(h), &pool_desc, 0, nullptr, out(static_cast<P*>(nullptr)));
       }},
      {"zeCommandQueueDestroy", HandleKind::queue, [=](void* h) { return zeCommandQueueDestroy(as<Q>(h)); }},
      {"zeCommandQueueExecuteCommandLists", HandleKind::queue,
       [=, this](void* h) {
         ze_command_list_handle_t one = list_;
         return zeCommandQueueExecuteCommandLists(as<Q>(h), 1, &one, nullptr);
       }},
      {"zeCommandQueueSynchronize", HandleKind::queue,
       [=](void* h) { return zeCommandQueueSynchronize(as<Q>(h), 0); }},
      {"zeFenceCreate", HandleKind::queue,
       [=](void* h) { return zeFenceCreate(as<Q>(h), &fence_desc, out(static_cast<F*>(nullptr))); }},
      {"zeCommandListDestroy", HandleKind::list, [=](void* h) { return zeCommandListDestroy(as<L>(h)); }},
      {"zeCommandListClose", HandleKind::list, [=](void* h) { return zeCommandListClose(as<L>(h)); }},
      {"zeCommandListReset", HandleKind::list, [=](void* h) { return zeCommandListReset(as<L>(h)); }},
      {"zeCommandListAppendMemoryCopy", HandleKind::list,
       [=](void* h) { return zeCommandListAppendMemoryCopy(as<L>(h), to, from, 64, nullptr, 0, nullptr); }},
      {"zeCommandListAppendMemoryFill", HandleKind::list,
       [=](void* h) {
         return zeCommandListAppendMemoryFill(as<L>(h), to, from, 1, 64, nullptr, 0, nullptr);
       }},
      {"zeCommandListAppendMemoryCopyRegion", HandleKind::list,
       [=](void* h) {
         return zeCommandListAppendMemoryCopyRegion(as<L>(h), from, &second_region, 64, 0, from, &region, 64,
                                                    0, nullptr, 0, nullptr);
       }},
      {"zeCommandListAppendBarrier", HandleKind::list,
       [=](void* h) { return zeCommandListAppendBarrier(as<L>(h), nullptr, 0, nullptr); }},
      {"zeCommandListAppendWriteGlobalTimestamp", HandleKind::list,
       [=](void* h) {
         return zeCommandListAppendWriteGlobalTimestamp(as<L>(h), reinterpret_cast<std::uint64_t*>(to),
                                                        nullptr, 0, nullptr);
       }},
      {"zeCommandListAppendSignalEvent", HandleKind::list,
       [=, this](void* h) { return zeCommandListAppendSignalEvent(as<L>(h), event_); }},
      {"zeCommandListAppendEventReset", HandleKind::list,
       [=, this](void* h) { return zeCommandListAppendEventReset(as<L>(h), event_); }},
      {"zeCommandListAppendWaitOnEvents", HandleKind::list,
       [=, this](void* h) {
         ze_event_handle_t one = event_;
         return zeCommandListAppendWaitOnEvents(as<L>(h), 1, &one);
       }},
      {"zeEventPoolDestroy", HandleKind::pool, [=](void* h) { return zeEventPoolDestroy(as<P>(h)); }},
      {"zeEventCreate", HandleKind::pool,
       [=](void* h) { return zeEventCreate(as<P>(h), &event_desc, out(static_cast<E*>(nullptr))); }},
      {"zeEventDestroy", HandleKind::event, [=](void* h) { return zeEventDestroy(as<E>(h)); }},
      {"zeEventHostSignal", HandleKind::event, [=](void* h) { return zeEventHostSignal(as<E>(h)); }},
      {"zeEventHostReset", HandleKind::event, [=](void* h) { return zeEventHostReset(as<E>(h)); }},
      {"zeEventQueryStatus", HandleKind::event, [=](void* h) { return zeEventQueryStatus(as<E>(h)); }},
      {"zeEventHostSynchronize", HandleKind::event,
       [=](void* h) { return zeEventHostSynchronize(as<E>(h), 0); }},
      {"zeEventQueryKernelTimestamp", HandleKind::event,
       [=](void* h) {
         return zeEventQueryKernelTimestamp(as<E>(h),
                                            out(static_cast<ze_kernel_timestamp_result_t*>(nullptr)));
       }},
      {"zeCommandListAppendSignalEvent (event)", HandleKind::event,
       [=, this](void* h) { return zeCommandListAppendSignalEvent(list_, as<E>(h)); }},
      {"zeCommandListAppendEventReset (event)", HandleKind::event,
       [=, this](void* h) { return zeCommandListAppendEventReset(list_, as<E>(h)); }},
      {"zeFenceDestroy", HandleKind::fence, [=](void* h) { return zeFenceDestroy(as<F>(h)); }},
      {"zeFenceHostSynchronize", HandleKind::fence,
       [=](void* h) { return zeFenceHostSynchronize(as<F>(h), 0); }},
      {"zeFenceQueryStatus", HandleKind::fence, [=](void* h) { return zeFenceQueryStatus(as<F>(h)); }},
      {"zeFenceReset", HandleKind::fence, [=](void* h) { return zeFenceReset(as<F>(h)); }},
  };
  // clang-format on
}

}  // namespace datum::test
