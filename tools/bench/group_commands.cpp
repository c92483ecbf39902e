#include "tools/bench/groups.hpp"
#include "tools/bench/micro_benchmark.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {
namespace {

const char* const intel_source = "Intel GPU driver without a GPU, measured on an AMD EPYC";

struct Lists {
  explicit Lists(const Session& session) {
    ze_command_list_desc_t list_desc{};
    list_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
    check(zeCommandListCreate(session.context(), session.device(), &list_desc, &list), "zeCommandListCreate");
    ze_command_queue_desc_t queue_desc{};
    queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    check(zeCommandQueueCreate(session.context(), session.device(), &queue_desc, &queue),
          "zeCommandQueueCreate");
  }

  ~Lists() {
    zeCommandListDestroy(list);
    zeCommandQueueDestroy(queue);
  }

  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;

  ze_command_list_handle_t list = nullptr;
  ze_command_queue_handle_t queue = nullptr;
};

Figure append_figure(const Lists& lists, void* to, const void* from) {
  constexpr int appends = 1000;
  const Timing timing = time_body("append", appends, [&] {
    for (int i = 0; i < appends; ++i) {
      check(zeCommandListAppendMemoryCopy(lists.list, to, from, 64, nullptr, 0, nullptr),
            "zeCommandListAppendMemoryCopy");
    }
    check(zeCommandListReset(lists.list), "zeCommandListReset");
  });
  return {"append_copy", timing.ns / 1000, "us", 0.2, Better::lower, Peer{0.23, intel_source}, timing.noisy};
}

Figure execute_figure(const Lists& lists, void* to, const void* from) {
  const Timing timing = time_call("execute", [&] {
    check(zeCommandListAppendMemoryCopy(lists.list, to, from, 64, nullptr, 0, nullptr),
          "zeCommandListAppendMemoryCopy");
    check(zeCommandListClose(lists.list), "zeCommandListClose");
    ze_command_list_handle_t list = lists.list;
    check(zeCommandQueueExecuteCommandLists(lists.queue, 1, &list, nullptr),
          "zeCommandQueueExecuteCommandLists");
    check(zeCommandQueueSynchronize(lists.queue, UINT64_MAX), "zeCommandQueueSynchronize");
    check(zeCommandListReset(lists.list), "zeCommandListReset");
  });
  // Contains the board's own work and the way there and back, so it has no goal of its own.
  return {"copy_64b_round_trip_host_cpu",
          timing.ns / 1000,
          "us",
          std::nullopt,
          Better::lower,
          std::nullopt,
          timing.noisy};
}

std::vector<Figure> event_figures(const Session& session) {
  ze_event_pool_desc_t pool_desc{};
  pool_desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  pool_desc.count = 16;
  ze_event_pool_handle_t pool = nullptr;
  check(zeEventPoolCreate(session.context(), &pool_desc, 0, nullptr, &pool), "zeEventPoolCreate");
  ze_event_desc_t event_desc{};
  event_desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  ze_event_handle_t event = nullptr;
  const Timing create = time_call("create", [&] {
    check(zeEventCreate(pool, &event_desc, &event), "zeEventCreate");
    check(zeEventDestroy(event), "zeEventDestroy");
  });
  check(zeEventCreate(pool, &event_desc, &event), "zeEventCreate");
  const Timing signal = time_call("signal", [&] {
    check(zeEventHostSignal(event), "zeEventHostSignal");
    check(zeEventQueryStatus(event), "zeEventQueryStatus");
  });
  zeEventDestroy(event);
  zeEventPoolDestroy(pool);
  return {{"event_create_destroy", create.ns / 1000, "us", 0.1, Better::lower, Peer{0.1, intel_source},
           create.noisy},
          {"event_signal_query", signal.ns / 1000, "us", 0.05, Better::lower, Peer{0.05, intel_source},
           signal.noisy}};
}

}  // namespace

std::vector<Figure> run_commands_group() {
  const Session session("model:");
  void* to = session.allocate_device(4096);
  void* from = session.allocate_host(4096);
  std::vector<Figure> figures;
  {
    const Lists lists(session);
    figures.push_back(append_figure(lists, to, from));
    figures.push_back(execute_figure(lists, to, from));
  }
  for (Figure& figure : event_figures(session)) {
    figures.push_back(std::move(figure));
  }
  session.free(to);
  session.free(from);
  return figures;
}

}  // namespace datum::bench
