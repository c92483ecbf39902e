#include "tools/bench/recording.hpp"

#include <vector>

#include "tools/bench/command_objects.hpp"
#include "tools/bench/micro_benchmark.hpp"

namespace datum::bench {
namespace {

Figure append_figure(const CommandObjects& lists, void* to, const void* from) {
  constexpr int appends = 1000;
  const Timing timing = time_body("append", appends, [&] {
    for (int i = 0; i < appends; ++i) {
      check(zeCommandListAppendMemoryCopy(lists.list, to, from, 64, nullptr, 0, nullptr),
            "zeCommandListAppendMemoryCopy");
    }
    check(zeCommandListReset(lists.list), "zeCommandListReset");
  });
  return {"append_copy", timing.ns / 1000, "us", 0.2, Better::lower, std::nullopt, timing.noisy};
}

std::vector<Figure> event_figures(const Session& session) {
  constexpr std::uint32_t many = 1024;
  const EventPool pool(session, many, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
  ze_event_desc_t event_desc{};
  event_desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  std::vector<ze_event_handle_t> events(many);
  const Timing create = repeat([&] {
    constexpr int rounds = 64;
    double ns = 0;
    for (int round = 0; round < rounds; ++round) {
      ns += wall_ns([&] {
        for (std::uint32_t index = 0; index < many; ++index) {
          event_desc.index = index;
          check(zeEventCreate(pool.handle, &event_desc, &events[index]), "zeEventCreate");
        }
      });
      for (ze_event_handle_t event : events) {
        check(zeEventDestroy(event), "zeEventDestroy");
      }
    }
    return ns / rounds / many;
  });
  event_desc.index = 0;
  ze_event_handle_t event = nullptr;
  const Timing pair = time_call("create_destroy", [&] {
    check(zeEventCreate(pool.handle, &event_desc, &event), "zeEventCreate");
    check(zeEventDestroy(event), "zeEventDestroy");
  });
  check(zeEventCreate(pool.handle, &event_desc, &event), "zeEventCreate");
  const Timing signal = time_call("signal", [&] {
    check(zeEventHostSignal(event), "zeEventHostSignal");
    check(zeEventQueryStatus(event), "zeEventQueryStatus");
  });
  zeEventDestroy(event);
  return {
      {"event_create", create.ns / 1000, "us", 0.1, Better::lower, std::nullopt, create.noisy},
      {"event_create_destroy", pair.ns / 1000, "us", std::nullopt, Better::lower, std::nullopt, pair.noisy},
      {"event_signal_query", signal.ns / 1000, "us", 0.05, Better::lower, std::nullopt, signal.noisy}};
}

}  // namespace

std::vector<Figure> measure_recording(const Session& session) {
  const CommandObjects objects(session);
  void* to = session.allocate_device(4096);
  void* from = session.allocate_host(4096);
  std::vector<Figure> figures{append_figure(objects, to, from)};
  for (Figure& figure : event_figures(session)) {
    figures.push_back(std::move(figure));
  }
  session.free(to);
  session.free(from);
  return figures;
}

}  // namespace datum::bench
