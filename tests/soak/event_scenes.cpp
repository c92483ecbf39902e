// Scenes about order: events between queues and the host, lists that run again, objects that come and go.
#include <utility>
#include <vector>

#include "tests/soak/scenes.hpp"

namespace datum::soak {
namespace {

/// Queue after queue copies what the one before it has copied, each told by an event.
struct Chain {
  Chain(Stage& stage, std::size_t links, std::size_t bytes)
      : pool(make_pool(stage.site, static_cast<std::uint32_t>(links + 1), 0)) {
    blocks.push_back(Block(stage.site, test::MemoryKind::host, bytes));
    events.push_back(make_event(pool, 0));
    for (std::uint32_t i = 0; i < links; ++i) {
      blocks.push_back(stage.draw_block(bytes));
      events.push_back(make_event(pool, i + 1));
    }
    for (std::size_t i = 0; i < links; ++i) {
      lists.push_back(make_immediate_list(stage.site, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS));
    }
  }

  /// The last link first, so that each has to wait.
  void submit() {
    for (std::size_t i = lists.size(); i-- > 0;) {
      ze_event_handle_t awaited = events[i];
      check(zeCommandListAppendMemoryCopy(lists[i], blocks[i + 1].data(), blocks[i].data(), blocks[i].size(),
                                          events[i + 1], 1, &awaited),
            "zeCommandListAppendMemoryCopy");
    }
  }

  std::vector<Block> blocks;  // outlive the lists that use them
  Pool pool;
  std::vector<Event> events;
  std::vector<List> lists;
};

}  // namespace

void play_event_chain(Stage& stage) {
  const std::size_t links = stage.random.between(1, 6);
  const std::size_t bytes = stage.draw_size();
  const std::uint64_t seed = stage.random.next();
  Chain chain(stage, links, bytes);
  test::write_pattern(chain.blocks.front().data(), bytes, seed);
  chain.submit();
  require(zeEventQueryStatus(chain.events.back()) != ZE_RESULT_SUCCESS,
          "the last event of a chain is signalled before its first");
  check(zeEventHostSignal(chain.events.front()), "zeEventHostSignal");
  check(zeEventHostSynchronize(chain.events.back(), test::patience_ns), "zeEventHostSynchronize");
  stage.copied += links * bytes;
  require_held(stage, chain.blocks.back().data(), bytes, seed, "the end of a chain of events");
}

void play_repeated_list(Stage& stage) {
  const std::size_t bytes = stage.draw_size();
  Block from(stage.site, test::MemoryKind::host, bytes);
  Block block = stage.draw_block(bytes);
  Block to = stage.draw_host_block(bytes);
  const Queue queue = make_queue(stage.site);
  const List list = make_list(stage.site);
  check(zeCommandListAppendMemoryCopy(list, block.data(), from.data(), bytes, nullptr, 0, nullptr), "a copy");
  check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr), "zeCommandListAppendBarrier");
  check(zeCommandListAppendMemoryCopy(list, to.data(), block.data(), bytes, nullptr, 0, nullptr), "a copy");
  check(zeCommandListClose(list), "zeCommandListClose");
  const std::uint64_t rounds = stage.random.between(2, 5);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t seed = stage.random.next();
    test::write_pattern(from.data(), bytes, seed);
    ze_command_list_handle_t executed = list;
    check(zeCommandQueueExecuteCommandLists(queue, 1, &executed, nullptr),
          "zeCommandQueueExecuteCommandLists");
    check(zeCommandQueueSynchronize(queue, test::patience_ns), "zeCommandQueueSynchronize");
    stage.copied += 2 * bytes;
    require_pattern(to.data(), bytes, seed, "a list that ran again");
  }
}

void play_objects(Stage& stage) {
  const std::size_t count = stage.random.between(1, 10);
  // In the order in which they may end, backwards, also when a board is reset amid this.
  const Context context = make_context(stage.site.driver);
  const Site site{stage.site.driver, stage.site.device, context};
  const Pool pool = make_pool(site, 16, stage.random.one_in(2) ? ZE_EVENT_POOL_FLAG_IPC : 0);
  std::vector<Queue> queues;
  std::vector<List> lists;
  std::vector<Fence> fences;
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < count; ++i) {
    queues.push_back(make_queue(site));
    lists.push_back(stage.random.one_in(2) ? make_list(site)
                                           : make_immediate_list(site, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS));
    fences.push_back(make_fence(queues.back()));
    events.push_back(make_event(pool, i));
  }
  const Block block(site, test::MemoryKind::device, stage.draw_size());
}

void play_refusals(Stage& stage) {
  Block block(stage.site, test::MemoryKind::device, stage.draw_size());
  void* const pointer = block.data();
  block.end();
  void* base = nullptr;
  std::size_t bytes = 0;
  // Another thread may have been given the address meanwhile.
  const ze_result_t answered = zeMemGetAddressRange(stage.site.context, pointer, &base, &bytes);
  require(answered != ZE_RESULT_SUCCESS || base != nullptr, "the range of freed memory has no beginning");
  const Event none;
  require(zeEventHostSignal(none) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "a null event was signalled");
  require(zeMemFree(stage.site.context, nullptr) == ZE_RESULT_ERROR_INVALID_NULL_POINTER, "null was freed");
}

}  // namespace datum::soak
