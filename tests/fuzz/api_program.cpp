#include "tests/fuzz/api_program.hpp"

#include "tests/hostile/session.hpp"

namespace datum::test {

ApiProgram::ApiProgram(OwnDriver& driver, Input& input) : driver_(driver), input_(input) {
  for (World& world : worlds_) {
    make_world(world);
  }
}

void ApiProgram::succeed(ze_result_t code, const char* what) {
  if (code != ZE_RESULT_SUCCESS) {
    const char* sentence = nullptr;
    api_.driver.pfnGetLastErrorDescription(driver_.handle(), &sentence);
    std::fprintf(stderr, "code %#x: %s\n", static_cast<unsigned>(code), sentence != nullptr ? sentence : "");
  }
  require(code == ZE_RESULT_SUCCESS, what);
}

void ApiProgram::judge(ze_result_t code) {
  require(is_named(code), "each answer has a name in the specification");
  require(code != ZE_RESULT_ERROR_DEVICE_LOST, "no program loses an honest board");
}

void ApiProgram::make_world(World& world) {
  const ze_context_desc_t context{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  auto queue = of_type<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  queue.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  const auto list = of_type<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  const ze_event_pool_desc_t pool{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                  4};
  succeed(api_.context.pfnCreate(driver_.handle(), &context, &world.handle), "a context");
  succeed(api_.list.pfnCreateImmediate(world.handle, driver_.device(), &queue, &world.immediate),
          "an immediate list");
  succeed(api_.queue.pfnCreate(world.handle, driver_.device(), &queue, &world.queue), "a queue");
  succeed(api_.list.pfnCreate(world.handle, driver_.device(), &list, &world.list), "a list");
  succeed(api_.pool.pfnCreate(world.handle, &pool, 0, nullptr, &world.pool), "a pool");
}

void ApiProgram::step() {
  switch (input_.below(20)) {
  case 0:
  case 1:
  case 2:
    return allocate();
  case 3:
    return free_one();
  case 4:
    return free_wrong();
  case 5:
  case 6:
    return ask();
  case 7:
    return share();
  case 8:
    return reserve();
  case 9:
    return make_physical();
  case 10:
    return map();
  case 11:
    return unmap();
  case 12:
    return free_reservation();
  case 13:
    return record();
  case 14:
    return execute();
  case 15:
    return use_host();
  case 16:
    return use_event();
  case 17:
    if (!places_.empty()) {
      check_bytes(places_[input_.below(places_.size())]);
    }
    return;
  default:
    return command_now();
  }
}

void ApiProgram::end() {
  for (const Place& place : places_) {
    check_bytes(place);
  }
  end_memory();
  for (World& world : worlds_) {
    end_world(world);
  }
}

void ApiProgram::end_world(World& world) {
  for (ze_event_handle_t event : world.events) {
    if (event != nullptr) {
      succeed(api_.event.pfnDestroy(event), "an event can be destroyed");
    }
  }
  succeed(api_.pool.pfnDestroy(world.pool), "a pool can be destroyed");
  succeed(api_.list.pfnDestroy(world.list), "a list can be destroyed");
  succeed(api_.queue.pfnDestroy(world.queue), "a queue can be destroyed");
  succeed(api_.list.pfnDestroy(world.immediate), "an immediate list can be destroyed");
  succeed(api_.context.pfnDestroy(world.handle), "a context can be destroyed");
}

}  // namespace datum::test
