#include "tests/faults/world.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "driver/memory/device_heap.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "driver/object/handle_table.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {

void must(World& world, ze_result_t code, const char* what) {
  if (code != ZE_RESULT_SUCCESS) {
    const char* sentence = nullptr;
    world.api.driver.pfnGetLastErrorDescription(world.driver->handle(), &sentence);
    ADD_FAILURE() << what << " answered " << std::hex << static_cast<unsigned>(code) << ": "
                  << (sentence != nullptr ? sentence : "");
  }
}

World::World() {
  Result<OwnDriver> opened_driver =
      OwnDriver::open("memory=64M", [&](std::unique_ptr<board::PcieFunction> function) {
        auto made = std::make_unique<FaultFunction>(std::move(function));
        faults = made.get();
        return made;
      });
  EXPECT_TRUE(opened_driver) << opened_driver.error().message;
  driver.emplace(std::move(*opened_driver));
  make();
}

void World::make() {
  const ze_context_desc_t context_desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  auto queue_desc = of_type<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  queue_desc.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  const auto list_desc = of_type<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                       ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC, 4};
  const ze_event_desc_t event_desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
  const auto fence_desc = of_type<ze_fence_desc_t>(ZE_STRUCTURE_TYPE_FENCE_DESC);
  const auto device_desc = of_type<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  const auto host_desc = of_type<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
  must(*this, api.context.pfnCreate(driver->handle(), &context_desc, &context), "a context");
  must(*this, api.context.pfnCreate(driver->handle(), &context_desc, &other_context), "a context");
  must(*this, api.queue.pfnCreate(context, device(), &queue_desc, &queue), "a queue");
  must(*this, api.list.pfnCreateImmediate(context, device(), &queue_desc, &immediate), "an immediate list");
  must(*this, api.list.pfnCreate(context, device(), &list_desc, &list), "a list");
  must(*this, api.pool.pfnCreate(context, &pool_desc, 0, nullptr, &pool), "a pool");
  must(*this, api.event.pfnCreate(pool, &event_desc, &event), "an event");
  must(*this, api.fence.pfnCreate(queue, &fence_desc, &fence), "a fence");
  must(*this, api.memory.pfnAllocDevice(context, &device_desc, bytes, 0, device(), &on_device), "memory");
  must(*this, api.memory.pfnAllocHost(context, &host_desc, bytes, 0, &on_host), "memory");
}

World::~World() { end(); }

void World::make_anew() {
  end();
  make();
}

void World::end() {
  must(*this, api.fence.pfnDestroy(fence), "the end of a fence");
  must(*this, api.event.pfnDestroy(event), "the end of an event");
  must(*this, api.pool.pfnDestroy(pool), "the end of a pool");
  must(*this, api.list.pfnDestroy(list), "the end of a list");
  must(*this, api.list.pfnDestroy(immediate), "the end of an immediate list");
  must(*this, api.queue.pfnDestroy(queue), "the end of a queue");
  must(*this, api.memory.pfnFree(context, on_device), "the end of memory");
  must(*this, api.memory.pfnFree(context, on_host), "the end of memory");
  must(*this, api.context.pfnDestroy(other_context), "the end of a context");
  must(*this, api.context.pfnDestroy(context), "the end of a context");
}

Footprint World::footprint() {
  Device& board = *driver->object().devices().front();
  EXPECT_TRUE(board.drain_quarantine().ok());
  board.give_back_idle();
  return {open_descriptors(), thread_count(),         board.heap(0).available_bytes(),
          live_handles(),     faults->mapped_bytes(), mapped_file_bytes("datum")};
}

}  // namespace datum::test
