#include "tests/soak/scenes.hpp"

namespace datum::soak {
namespace {

constexpr std::size_t largest_on_chip = 2048;  // that memory is small, and every worker has some

void run_on_queue(Stage& stage, const Appends& appends) {
  const Queue queue = make_queue(stage.site);
  const List list = make_list(stage.site);
  appends(list);
  check(zeCommandListClose(list), "zeCommandListClose");
  ze_command_list_handle_t executed = list;
  if (stage.random.one_in(2)) {
    const Fence fence = make_fence(queue);
    check(zeCommandQueueExecuteCommandLists(queue, 1, &executed, fence), "zeCommandQueueExecuteCommandLists");
    check(zeFenceHostSynchronize(fence, test::patience_ns), "zeFenceHostSynchronize");
  } else {
    check(zeCommandQueueExecuteCommandLists(queue, 1, &executed, nullptr),
          "zeCommandQueueExecuteCommandLists");
    check(zeCommandQueueSynchronize(queue, test::patience_ns), "zeCommandQueueSynchronize");
  }
}

void run_at_once(Stage& stage, const Appends& appends) {
  if (stage.random.one_in(2)) {
    appends(make_immediate_list(stage.site, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS));
    return;
  }
  const List list = make_immediate_list(stage.site, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  appends(list);
  check(zeCommandListHostSynchronize(list, test::patience_ns), "zeCommandListHostSynchronize");
}

void run_until_event(Stage& stage, const Appends& appends) {
  const Pool pool = make_pool(stage.site, 1, 0);
  const Event event = make_event(pool, 0);
  const List list = make_immediate_list(stage.site, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  appends(list);
  check(zeCommandListAppendBarrier(list, event, 0, nullptr), "zeCommandListAppendBarrier");
  check(zeEventHostSynchronize(event, test::patience_ns), "zeEventHostSynchronize");
}

}  // namespace

std::size_t Stage::draw_size() {
  // As many small ones as large ones, and seldom a power of two.
  std::size_t limit = 64;
  while (limit < largest && !random.one_in(8)) {
    limit *= 2;
  }
  return random.between(1, limit < largest ? limit : largest);
}

Block Stage::draw_block(std::size_t bytes) {
  constexpr std::array kinds{test::MemoryKind::device,
                             test::MemoryKind::device,
                             test::MemoryKind::host,
                             test::MemoryKind::shared,
                             test::MemoryKind::shared_without_device,
                             test::MemoryKind::onchip};
  const std::size_t drawn = random.below(kinds.size() + 1);
  if (drawn == kinds.size() || (kinds[drawn] == test::MemoryKind::onchip && bytes > largest_on_chip)) {
    return Block(bytes);
  }
  return Block(site, kinds[drawn], bytes);
}

Block Stage::draw_host_block(std::size_t bytes) {
  switch (random.below(3)) {
  case 0:
    return Block(site, test::MemoryKind::host, bytes);
  case 1:
    return Block(site, test::MemoryKind::shared, bytes);
  default:
    return Block(bytes);
  }
}

void run(Stage& stage, const Appends& appends) {
  switch (stage.random.below(4)) {
  case 0:
    return run_on_queue(stage, appends);
  case 1:
    return run_until_event(stage, appends);
  default:
    return run_at_once(stage, appends);
  }
}

void copy(Stage& stage, void* to, const void* from, std::size_t bytes) {
  run(stage, [&](ze_command_list_handle_t list) {
    check(zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr),
          "zeCommandListAppendMemoryCopy");
  });
  stage.copied += bytes;
}

void upload(Stage& stage, void* to, std::size_t bytes, std::uint64_t seed) {
  Block from = stage.draw_host_block(bytes);
  test::write_pattern(from.data(), bytes, seed);
  copy(stage, to, from.data(), bytes);
}

void require_held(Stage& stage, const void* from, std::size_t bytes, std::uint64_t seed, const char* where) {
  Block to = stage.draw_host_block(bytes);
  copy(stage, to.data(), from, bytes);
  require_pattern(to.data(), bytes, seed, where);
}

}  // namespace datum::soak
