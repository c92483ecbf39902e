#include "tools/datum/sweep/bench_device.hpp"

#include <dlfcn.h>
#include <vector>

#include <fmt/format.h>

#include "tools/datum/find_driver.hpp"

namespace datum::tool {

namespace {

/// Of the loader, which has been loaded.
template <class Function>
bool look_up_work(const char* name, Function& function) {
  // POSIX gives functions as object pointers; this is the way back that the language accepts.
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

Result<WorkFunctions> work_functions() {
  WorkFunctions call;
  look_up_work("zeDriverGetLastErrorDescription", call.last_error);
  const bool all = look_up_work("zeContextCreate", call.context_create) &&
                   look_up_work("zeContextDestroy", call.context_destroy) &&
                   look_up_work("zeMemAllocDevice", call.allocate_device) &&
                   look_up_work("zeMemAllocHost", call.allocate_host) &&
                   look_up_work("zeMemAllocShared", call.allocate_shared) &&
                   look_up_work("zeMemFree", call.free) &&
                   look_up_work("zeCommandListCreateImmediate", call.create_list) &&
                   look_up_work("zeCommandListDestroy", call.destroy_list) &&
                   look_up_work("zeCommandListAppendMemoryCopy", call.copy) &&
                   look_up_work("zeCommandListAppendMemoryFill", call.fill);
  if (!all) {
    return make_error(ErrorCode::dependency_unavailable,
                      "the Level Zero loader lacks functions that every loader has");
  }
  return call;
}

}  // namespace

Result<std::unique_ptr<BenchDevice>> BenchDevice::open() {
  const Result<Loader> loader = open_loader();
  if (!loader) {
    return loader.error();
  }
  std::unique_ptr<BenchDevice> opened(new BenchDevice);
  if (Status started = opened->start(*loader); !started) {
    return std::move(started).error();
  }
  return opened;
}

Status BenchDevice::start(const Loader& loader) {
  Result<WorkFunctions> functions = work_functions();
  if (!functions) {
    return std::move(functions).error();
  }
  const Result<FoundDriver> driver = find_driver(loader);
  if (!driver) {
    return driver.error();
  }
  call_ = *functions;
  driver_ = driver->handle;
  const std::vector<ze_device_handle_t> devices = all_of<ze_device_handle_t>(
      [&](std::uint32_t* count, ze_device_handle_t* found) {
        return loader.device_get(driver_, count, found);
      },
      nullptr);
  if (devices.empty()) {
    return make_error(ErrorCode::not_available, "the driver has no device", "'datum doctor' finds out why");
  }
  device_ = devices.front();
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  if (Status asked = check(loader.device_properties(device_, &properties), "zeDeviceGetProperties", 0);
      !asked) {
    return asked;
  }
  name_ = properties.name;
  largest_allocation_bytes_ = properties.maxMemAllocSize;
  const ze_context_desc_t context{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  if (Status made = check(call_.context_create(driver_, &context, &context_), "zeContextCreate", 0); !made) {
    return made;
  }
  ze_command_queue_desc_t queue{};
  queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  queue.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  return check(call_.create_list(context_, device_, &queue, &list_), "zeCommandListCreateImmediate", 0);
}

BenchDevice::~BenchDevice() {
  if (list_ != nullptr) {
    call_.destroy_list(list_);
  }
  if (context_ != nullptr) {
    call_.context_destroy(context_);
  }
}

Status BenchDevice::check(ze_result_t result, const char* call, std::size_t bytes) const {
  if (result == ZE_RESULT_SUCCESS) {
    return {};
  }
  const char* said = nullptr;
  const bool told = call_.last_error != nullptr && driver_ != nullptr &&
                    call_.last_error(driver_, &said) == ZE_RESULT_SUCCESS && said != nullptr && *said != '\0';
  return make_error(ErrorCode::unknown,
                    fmt::format("{} of {} bytes failed with 0x{:08x}{}{}", call, bytes,
                                static_cast<unsigned>(result), told ? ": " : "", told ? said : ""));
}

Result<BenchDevice::Memory> BenchDevice::memory(MemoryPlace place, std::size_t bytes) {
  void* pointer = nullptr;
  if (Status made = allocate(place, bytes, &pointer); !made) {
    return std::move(made).error();
  }
  return Memory(*this, pointer);
}

Status BenchDevice::allocate(MemoryPlace place, std::size_t bytes, void** pointer) {
  constexpr ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  constexpr ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  switch (place) {
  case MemoryPlace::device:
    return check(call_.allocate_device(context_, &on_device, bytes, 0, device_, pointer), "zeMemAllocDevice",
                 bytes);
  case MemoryPlace::host:
    return check(call_.allocate_host(context_, &on_host, bytes, 0, pointer), "zeMemAllocHost", bytes);
  case MemoryPlace::shared:
    break;
  }
  return check(call_.allocate_shared(context_, &on_device, &on_host, bytes, 0, device_, pointer),
               "zeMemAllocShared", bytes);
}

Status BenchDevice::import(void* memory, std::size_t bytes) {
  const ze_external_memmap_sysmem_ext_desc_t mapped{ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                                                    nullptr, memory, bytes};
  const ze_host_mem_alloc_desc_t wish{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &mapped, 0};
  void* pointer = nullptr;
  return check(call_.allocate_host(context_, &wish, bytes, 0, &pointer), "zeMemAllocHost (external)", bytes);
}

Status BenchDevice::free(void* pointer) { return check(call_.free(context_, pointer), "zeMemFree", 0); }

Status BenchDevice::copy(void* target, const void* source, std::size_t bytes) {
  return check(call_.copy(list_, target, source, bytes, nullptr, 0, nullptr), "zeCommandListAppendMemoryCopy",
               bytes);
}

Status BenchDevice::fill(void* target, std::size_t bytes) {
  const std::uint64_t pattern = 0x5a5a'a5a5'1234'fedcU;
  return check(call_.fill(list_, target, &pattern, sizeof pattern, bytes, nullptr, 0, nullptr),
               "zeCommandListAppendMemoryFill", bytes);
}

}  // namespace datum::tool
