#include "tests/hostile/session.hpp"

#include <sys/mman.h>

#include <fmt/format.h>

namespace datum::test {
namespace {

constexpr std::size_t bytes = 64U << 10U;
/// A call that takes longer than this on the busiest machine waits for something that never comes: with the
/// clock of these tests the longest bound of the driver passes in less than a second.
constexpr std::chrono::seconds bound{30};

Mapping application_pages() {
  void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return base == MAP_FAILED ? Mapping{} : Mapping(base, bytes);
}

void do_nothing(void*) {}

}  // namespace

bool is_named(ze_result_t code) noexcept {
  const auto number = static_cast<std::uint32_t>(code);
  return number <= 1 || code == ZE_RESULT_ERROR_UNKNOWN || (number >= 0x70000001U && number <= 0x70000009U) ||
         (number >= 0x70010000U && number <= 0x70010001U) || number == 0x70020000U ||
         (number >= 0x78000001U && number <= 0x78000035U);
}

HostileSession::HostileSession(OwnDriver& driver, std::uint64_t timeout_ns)
    : driver_(driver), timeout_ns_(timeout_ns), ordinary_(application_pages()) {}

template <class Call>
ze_result_t HostileSession::call(const char* name, Call&& call) {
  const auto begin = std::chrono::steady_clock::now();
  const ze_result_t code = call();
  judge(name, code, std::chrono::steady_clock::now() - begin);
  return code;
}

void HostileSession::judge(const char* name, ze_result_t code, std::chrono::steady_clock::duration took) {
  successes_ += code == ZE_RESULT_SUCCESS ? 1 : 0;
  losses_ += code == ZE_RESULT_ERROR_DEVICE_LOST || code == ZE_RESULT_ERROR_UNKNOWN ? 1 : 0;
  if (!complaint_.empty()) {
    return;
  }
  if (!is_named(code)) {
    complaint_ = fmt::format("{} answered {:#x}, which means nothing", name, static_cast<unsigned>(code));
  } else if (took > bound) {
    complaint_ = fmt::format("{} took {} s", name, std::chrono::duration<double>(took).count());
  } else if (code != ZE_RESULT_SUCCESS && code != ZE_RESULT_NOT_READY) {
    const char* sentence = nullptr;
    api_.driver.pfnGetLastErrorDescription(driver_.handle(), &sentence);
    if (sentence == nullptr || *sentence == '\0') {
      complaint_ = fmt::format("{} failed with {:#x} and no word", name, static_cast<unsigned>(code));
    }
  }
}

void HostileSession::run() {
  make_objects();
  if (context_ != nullptr && complaint_.empty()) {
    use_queue();
    use_immediate_list();
    ask();
  }
  destroy_objects();
}

void HostileSession::make_objects() {
  const ze_context_desc_t context{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  const auto queue = of_type<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  const auto list = of_type<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  const ze_event_pool_desc_t pool{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                  ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 2};
  const auto on_device = of_type<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  const auto on_host = of_type<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
  const ze_device_handle_t device = driver_.device();
  if (call("zeContextCreate", [&] {
        return api_.context.pfnCreate(driver_.handle(), &context, &context_);
      }) != ZE_RESULT_SUCCESS) {
    context_ = nullptr;
    return;
  }
  call("zeMemAllocDevice",
       [&] { return api_.memory.pfnAllocDevice(context_, &on_device, bytes, 0, device, &device_memory_); });
  call("zeMemAllocHost",
       [&] { return api_.memory.pfnAllocHost(context_, &on_host, bytes, 0, &host_memory_); });
  call("zeMemAllocShared", [&] {
    return api_.memory.pfnAllocShared(context_, &on_device, &on_host, bytes, 0, device, &shared_memory_);
  });
  call("zeCommandQueueCreate", [&] { return api_.queue.pfnCreate(context_, device, &queue, &queue_); });
  call("zeCommandListCreate", [&] { return api_.list.pfnCreate(context_, device, &list, &list_); });
  call("zeCommandListCreateImmediate",
       [&] { return api_.list.pfnCreateImmediate(context_, device, &queue, &immediate_); });
  call("zeEventPoolCreate", [&] { return api_.pool.pfnCreate(context_, &pool, 0, nullptr, &pool_); });
  for (std::uint32_t index = 0; index < 2; ++index) {
    const ze_event_desc_t event{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index, 0, 0};
    call("zeEventCreate",
         [&] { return api_.event.pfnCreate(pool_, &event, index == 0 ? &first_ : &second_); });
  }
  const auto fence = of_type<ze_fence_desc_t>(ZE_STRUCTURE_TYPE_FENCE_DESC);
  call("zeFenceCreate", [&] { return api_.fence.pfnCreate(queue_, &fence, &fence_); });
}

void HostileSession::record(ze_command_list_handle_t list) {
  const unsigned char value = 0x5a;
  const ze_copy_region_t region{0, 0, 0, 100, 20, 1};
  call("AppendMemoryFill", [&] {
    return api_.list.pfnAppendMemoryFill(list, device_memory_, &value, 1, bytes, first_, 0, nullptr);
  });
  call("AppendMemoryCopy", [&] {
    return api_.list.pfnAppendMemoryCopy(list, host_memory_, device_memory_, bytes, second_, 1, &first_);
  });
  call("AppendMemoryCopyRegion", [&] {
    return api_.list.pfnAppendMemoryCopyRegion(list, shared_memory_, &region, 128, 0, host_memory_, &region,
                                               256, 0, nullptr, 1, &second_);
  });
  call("AppendBarrier", [&] { return api_.list.pfnAppendBarrier(list, nullptr, 0, nullptr); });
  call("AppendMemoryCopy of ordinary memory", [&] {
    return api_.list.pfnAppendMemoryCopy(list, ordinary_.data(), shared_memory_, bytes / 2, nullptr, 0,
                                         nullptr);
  });
  call("AppendWriteGlobalTimestamp", [&] {
    return api_.list.pfnAppendWriteGlobalTimestamp(list, static_cast<std::uint64_t*>(host_memory_), nullptr,
                                                   0, nullptr);
  });
  call("AppendHostFunction", [&] {
    return api_.list.pfnAppendHostFunction(list, do_nothing, nullptr, nullptr, nullptr, 0, nullptr);
  });
}

void HostileSession::use_queue() {
  record(list_);
  call("zeCommandListClose", [&] { return api_.list.pfnClose(list_); });
  call("zeCommandQueueExecuteCommandLists",
       [&] { return api_.queue.pfnExecuteCommandLists(queue_, 1, &list_, fence_); });
  call("zeCommandQueueSynchronize", [&] { return api_.queue.pfnSynchronize(queue_, timeout_ns_); });
  call("zeFenceQueryStatus", [&] { return api_.fence.pfnQueryStatus(fence_); });
  call("zeEventHostSynchronize", [&] { return api_.event.pfnHostSynchronize(second_, 1'000'000); });
}

void HostileSession::use_immediate_list() {
  call("zeEventHostReset", [&] { return api_.event.pfnHostReset(first_); });
  call("zeEventHostReset", [&] { return api_.event.pfnHostReset(second_); });
  record(immediate_);
  call("zeCommandListHostSynchronize", [&] { return api_.list.pfnHostSynchronize(immediate_, timeout_ns_); });
}

void HostileSession::ask() {
  ze_kernel_timestamp_result_t times{};
  std::uint64_t host = 0;
  std::uint64_t board = 0;
  auto properties = of_type<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
  call("zeEventQueryKernelTimestamp", [&] { return api_.event.pfnQueryKernelTimestamp(first_, &times); });
  call("zeDeviceGetGlobalTimestamps",
       [&] { return api_.device.pfnGetGlobalTimestamps(driver_.device(), &host, &board); });
  call("zeDeviceGetProperties", [&] { return api_.device.pfnGetProperties(driver_.device(), &properties); });
  call("zeDeviceGetStatus", [&] { return api_.device.pfnGetStatus(driver_.device()); });
  call("zeContextGetStatus", [&] { return api_.context.pfnGetStatus(context_); });
}

/// In the order that leaves nothing behind; a lost board takes nothing hostage.
void HostileSession::destroy_objects() {
  if (context_ == nullptr) {
    return;
  }
  if (fence_ != nullptr) {
    call("zeFenceDestroy", [&] { return api_.fence.pfnDestroy(fence_); });
  }
  for (ze_command_list_handle_t list : {list_, immediate_}) {
    if (list != nullptr) {
      call("zeCommandListDestroy", [&] { return api_.list.pfnDestroy(list); });
    }
  }
  if (queue_ != nullptr) {
    call("zeCommandQueueDestroy", [&] { return api_.queue.pfnDestroy(queue_); });
  }
  for (ze_event_handle_t event : {first_, second_}) {
    if (event != nullptr) {
      call("zeEventDestroy", [&] { return api_.event.pfnDestroy(event); });
    }
  }
  if (pool_ != nullptr) {
    call("zeEventPoolDestroy", [&] { return api_.pool.pfnDestroy(pool_); });
  }
  for (void* memory : {device_memory_, host_memory_, shared_memory_}) {
    if (memory != nullptr) {
      call("zeMemFree", [&] { return api_.memory.pfnFree(context_, memory); });
    }
  }
  call("zeContextDestroy", [&] { return api_.context.pfnDestroy(context_); });
}

}  // namespace datum::test
