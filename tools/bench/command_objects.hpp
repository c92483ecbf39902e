// The list, queue and events that measurements of commands need.
#pragma once

#include <cstdint>

#include "tools/bench/session.hpp"

namespace datum::bench {

struct CommandObjects {
  explicit CommandObjects(const Session& session) {
    ze_command_list_desc_t list_desc{};
    list_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
    check(zeCommandListCreate(session.context(), session.device(), &list_desc, &list), "zeCommandListCreate");
    ze_command_queue_desc_t queue_desc{};
    queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    check(zeCommandQueueCreate(session.context(), session.device(), &queue_desc, &queue),
          "zeCommandQueueCreate");
  }

  ~CommandObjects() {
    zeCommandListDestroy(list);
    zeCommandQueueDestroy(queue);
  }

  CommandObjects(const CommandObjects&) = delete;
  CommandObjects& operator=(const CommandObjects&) = delete;

  void append_copy(void* to, const void* from, std::size_t bytes) const {
    check(zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr),
          "zeCommandListAppendMemoryCopy");
  }

  void append_fill(void* to, std::uint64_t pattern, std::size_t bytes) const {
    check(zeCommandListAppendMemoryFill(list, to, &pattern, sizeof pattern, bytes, nullptr, 0, nullptr),
          "zeCommandListAppendMemoryFill");
  }

  void close() const { check(zeCommandListClose(list), "zeCommandListClose"); }

  void execute() const {
    ze_command_list_handle_t executed = list;
    check(zeCommandQueueExecuteCommandLists(queue, 1, &executed, nullptr),
          "zeCommandQueueExecuteCommandLists");
  }

  void wait() const { check(zeCommandQueueSynchronize(queue, UINT64_MAX), "zeCommandQueueSynchronize"); }

  void reset() const { check(zeCommandListReset(list), "zeCommandListReset"); }

  ze_command_list_handle_t list = nullptr;
  ze_command_queue_handle_t queue = nullptr;
};

struct EventPool {
  EventPool(const Session& session, std::uint32_t count, ze_event_pool_flags_t flags) {
    ze_event_pool_desc_t desc{};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
    desc.flags = flags;
    desc.count = count;
    check(zeEventPoolCreate(session.context(), &desc, 0, nullptr, &handle), "zeEventPoolCreate");
  }

  ~EventPool() { zeEventPoolDestroy(handle); }

  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  ze_event_pool_handle_t handle = nullptr;
};

}  // namespace datum::bench
