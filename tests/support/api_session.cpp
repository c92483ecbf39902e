#include "tests/support/api_session.hpp"

#include <array>
#include <cstring>
#include <dlfcn.h>

#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

Session open_session() {
  Session opened;
  opened.result = zeInit(0);
  if (opened.result != ZE_RESULT_SUCCESS) {
    return opened;
  }
  std::uint32_t count = 0;
  opened.result = zeDriverGet(&count, nullptr);
  if (opened.result != ZE_RESULT_SUCCESS) {
    return opened;
  }
  opened.drivers.resize(count);
  opened.result = zeDriverGet(&count, opened.drivers.data());
  if (opened.result != ZE_RESULT_SUCCESS || opened.drivers.empty()) {
    return opened;
  }
  opened.driver = mode() == Mode::two_drivers ? opened.drivers.back() : opened.drivers.front();
  count = 0;
  opened.result = zeDeviceGet(opened.driver, &count, nullptr);
  if (opened.result != ZE_RESULT_SUCCESS) {
    return opened;
  }
  opened.devices.resize(count);
  opened.result = zeDeviceGet(opened.driver, &count, opened.devices.data());
  return opened;
}

/// Everything the driver makes once and keeps (workers, arenas, descriptors) exists after this, so that tests
/// can count.
void warm_up(const Session& opened) {
  const OwnedContext context = create_context(opened.driver);
  const OwnedMemory from = allocate(MemoryKind::host, context, opened.devices.front(), 4096);
  const OwnedMemory to = allocate(MemoryKind::device, context, opened.devices.front(), 4096);
  const OwnedQueue queue = create_queue(context, opened.devices.front());
  const OwnedList list = create_list(context, opened.devices.front());
  const OwnedEventPool pool = create_event_pool(context, 1);
  const OwnedEvent event = create_event(pool);
  std::array<unsigned char, 64> ordinary{};
  zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 4096, event, 0, nullptr);
  zeCommandListAppendMemoryCopy(list, to.get(), ordinary.data(), ordinary.size(), nullptr, 0, nullptr);
  zeCommandListClose(list);
  ze_command_list_handle_t handle = list;
  zeCommandQueueExecuteCommandLists(queue, 1, &handle, nullptr);
  zeCommandQueueSynchronize(queue, patience_ns);
}

}  // namespace

const Session& session() {
  static const Session opened = open_session();
  return opened;
}

std::string last_error_text() {
  // Not linked against: the older loader does not have it.
  using Ask = ze_result_t (*)(ze_driver_handle_t, const char**);
  const auto ask = reinterpret_cast<Ask>(::dlsym(RTLD_DEFAULT, "zeDriverGetLastErrorDescription"));
  const char* text = nullptr;
  return ask != nullptr && session().driver != nullptr && ask(session().driver, &text) == ZE_RESULT_SUCCESS &&
                 text != nullptr
             ? text
             : "";
}

OwnedContext create_context(ze_driver_handle_t driver) {
  const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  OwnedContext context;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextCreate(driver, &description, context.address()));
  return context;
}

OwnedQueue create_queue(ze_context_handle_t context, ze_device_handle_t device,
                        ze_command_queue_mode_t mode) {
  ze_command_queue_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  description.mode = mode;
  OwnedQueue queue;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueCreate(context, device, &description, queue.address()));
  return queue;
}

OwnedList create_list(ze_context_handle_t context, ze_device_handle_t device, ze_command_list_flags_t flags) {
  const ze_command_list_desc_t description{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, flags};
  OwnedList list;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListCreate(context, device, &description, list.address()));
  return list;
}

OwnedList create_immediate_list(ze_context_handle_t context, ze_device_handle_t device,
                                ze_command_queue_mode_t mode, ze_command_queue_flags_t flags) {
  ze_command_queue_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  description.mode = mode;
  description.flags = flags;
  OwnedList list;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListCreateImmediate(context, device, &description, list.address()));
  if (under_validation()) {
    // The lifetime checker takes an immediate list for a closed one until it is reset.
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListReset(list));
  }
  return list;
}

OwnedEventPool create_event_pool(ze_context_handle_t context, std::uint32_t count,
                                 ze_event_pool_flags_t flags) {
  const ze_event_pool_desc_t description{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, flags, count};
  OwnedEventPool pool;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCreate(context, &description, 0, nullptr, pool.address()));
  return pool;
}

OwnedEvent create_event(ze_event_pool_handle_t pool, std::uint32_t index) {
  const ze_event_desc_t description{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index, ZE_EVENT_SCOPE_FLAG_HOST,
                                    ZE_EVENT_SCOPE_FLAG_HOST};
  OwnedEvent event;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventCreate(pool, &description, event.address()));
  return event;
}

OwnedFence create_fence(ze_command_queue_handle_t queue, ze_fence_flags_t flags) {
  const ze_fence_desc_t description{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, flags};
  OwnedFence fence;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeFenceCreate(queue, &description, fence.address()));
  return fence;
}

const char* name_of(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::device:
    return "device";
  case MemoryKind::onchip:
    return "on-chip";
  case MemoryKind::host:
    return "host";
  case MemoryKind::shared:
    return "shared";
  case MemoryKind::shared_without_device:
    return "shared without device";
  }
  return "?";
}

ze_memory_type_t type_of(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::device:
  case MemoryKind::onchip:
    return ZE_MEMORY_TYPE_DEVICE;
  case MemoryKind::host:
    return ZE_MEMORY_TYPE_HOST;
  case MemoryKind::shared:
  case MemoryKind::shared_without_device:
    return ZE_MEMORY_TYPE_SHARED;
  }
  return ZE_MEMORY_TYPE_UNKNOWN;
}

bool host_accessible(MemoryKind kind) { return type_of(kind) != ZE_MEMORY_TYPE_DEVICE; }

ze_result_t allocate_raw(MemoryKind kind, ze_context_handle_t context, ze_device_handle_t device,
                         std::size_t bytes, std::size_t alignment, void** pointer) {
  const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                             kind == MemoryKind::onchip ? 1U : 0U};
  const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  switch (kind) {
  case MemoryKind::device:
  case MemoryKind::onchip:
    return zeMemAllocDevice(context, &on_device, bytes, alignment, device, pointer);
  case MemoryKind::host:
    return zeMemAllocHost(context, &on_host, bytes, alignment, pointer);
  case MemoryKind::shared:
    return zeMemAllocShared(context, &on_device, &on_host, bytes, alignment, device, pointer);
  case MemoryKind::shared_without_device:
    return zeMemAllocShared(context, &on_device, &on_host, bytes, alignment, nullptr, pointer);
  }
  return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

OwnedMemory allocate(MemoryKind kind, ze_context_handle_t context, ze_device_handle_t device,
                     std::size_t bytes, std::size_t alignment) {
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_SUCCESS, allocate_raw(kind, context, device, bytes, alignment, &pointer))
      << bytes << " bytes of " << name_of(kind) << " memory, alignment " << alignment << ": "
      << last_error_text();
  return {context, pointer};
}

void ApiTest::SetUp() {
  ASSERT_EQ(ZE_RESULT_SUCCESS, session().result) << "the driver did not initialise";
  ASSERT_FALSE(session().devices.empty());
  static const bool warm = (warm_up(session()), true);
  ASSERT_TRUE(warm);
  descriptors_at_start_ = open_descriptors();
  context_ = create_context(driver());
  ASSERT_NE(nullptr, context());
}

void ApiTest::TearDown() {
  EXPECT_EQ(ZE_RESULT_SUCCESS, queue_.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, context_.destroy());
  if (descriptors_at_start_ != 0) {
    // The driver keeps a little memory at hand, which lies in files; that it does not grow is shown by the
    // Resources suite.
    EXPECT_LE(open_descriptors(), descriptors_at_start_ + 4) << "the test left descriptors open";
  }
}

ze_command_queue_handle_t ApiTest::queue() {
  if (queue_.get() == nullptr) {
    queue_ = create_queue(context(), device());
  }
  return queue_.get();
}

ze_result_t ApiTest::execute_and_wait(ze_command_list_handle_t list) {
  const ze_result_t executed = zeCommandQueueExecuteCommandLists(queue(), 1, &list, nullptr);
  return executed != ZE_RESULT_SUCCESS ? executed : zeCommandQueueSynchronize(queue(), patience_ns);
}

ze_result_t ApiTest::run(const Appends& appends) {
  const OwnedList list = create_list(context(), device());
  appends(list);
  const ze_result_t closed = zeCommandListClose(list);
  return closed != ZE_RESULT_SUCCESS ? closed : execute_and_wait(list);
}

ze_result_t ApiTest::copy_code(void* to, const void* from, std::size_t bytes) {
  ze_result_t appended = ZE_RESULT_SUCCESS;
  const ze_result_t ran = run([&](ze_command_list_handle_t list) {
    appended = zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr);
  });
  return appended != ZE_RESULT_SUCCESS ? appended : ran;
}

ze_result_t ApiTest::copy(void* to, const void* from, std::size_t bytes) {
  const ze_result_t result = copy_code(to, from, bytes);
  EXPECT_EQ(ZE_RESULT_SUCCESS, result) << "copy of " << bytes << " bytes: " << last_error_text();
  return result;
}

void ApiTest::upload(void* to, const Bytes& bytes) {
  const OwnedMemory staging = memory(MemoryKind::host, bytes.size());
  std::memcpy(staging.get(), bytes.data(), bytes.size());
  copy(to, staging.get(), bytes.size());
}

Bytes ApiTest::download(const void* from, std::size_t bytes) {
  const OwnedMemory staging = memory(MemoryKind::host, bytes);
  std::memset(staging.get(), 0xEE, bytes);
  copy(staging.get(), from, bytes);
  return {staging.bytes(), staging.bytes() + bytes};
}

}  // namespace datum::test
