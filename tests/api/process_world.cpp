#include "tests/api/process_world.hpp"

#include <cstring>

#include "tests/support/api_session.hpp"

namespace datum::test {

World make_world() {
  World world;
  world.context = create_context(session().driver).release();
  world.queue = create_queue(world.context, session().devices.front()).release();
  world.list = create_list(world.context, session().devices.front()).release();
  world.host = allocate(MemoryKind::host, world.context, session().devices.front(), 8192).release();
  world.on_device = allocate(MemoryKind::device, world.context, session().devices.front(), 8192).release();
  return world;
}

ze_result_t round_trip(const World& world) {
  auto* out = static_cast<unsigned char*>(world.host);
  write_pattern(out, 4096, 5);
  std::memset(out + 4096, 0, 4096);
  for (const ze_result_t result :
       {zeCommandListReset(world.list),
        zeCommandListAppendMemoryCopy(world.list, world.on_device, out, 4096, nullptr, 0, nullptr),
        zeCommandListAppendBarrier(world.list, nullptr, 0, nullptr),
        zeCommandListAppendMemoryCopy(world.list, out + 4096, world.on_device, 4096, nullptr, 0, nullptr),
        zeCommandListClose(world.list)}) {
    if (result != ZE_RESULT_SUCCESS) {
      return result;
    }
  }
  ze_command_list_handle_t handle = world.list;
  ze_result_t result = zeCommandQueueExecuteCommandLists(world.queue, 1, &handle, nullptr);
  if (result == ZE_RESULT_SUCCESS) {
    result = zeCommandQueueSynchronize(world.queue, patience_ns);
  }
  return result == ZE_RESULT_SUCCESS && std::memcmp(out, out + 4096, 4096) != 0 ? ZE_RESULT_ERROR_UNKNOWN
                                                                                : result;
}

void destroy_world(const World& world) {
  zeMemFree(world.context, world.host);
  zeMemFree(world.context, world.on_device);
  zeCommandListDestroy(world.list);
  zeCommandQueueDestroy(world.queue);
  zeContextDestroy(world.context);
}

ze_event_handle_t start_endless_work(const World& world) {
  const ze_event_pool_handle_t pool = create_event_pool(world.context, 1).release();
  ze_event_handle_t gate = create_event(pool).release();
  const ze_command_list_handle_t list = create_list(world.context, session().devices.front()).release();
  zeCommandListAppendMemoryCopy(list, world.on_device, world.host, 4096, nullptr, 1, &gate);
  zeCommandListClose(list);
  ze_command_list_handle_t handle = list;
  zeCommandQueueExecuteCommandLists(world.queue, 1, &handle, nullptr);
  return gate;
}

}  // namespace datum::test
