#include <random>
#include <vector>

#include "tools/bench/groups.hpp"
#include "tools/bench/micro_benchmark.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {
namespace {

constexpr std::size_t small_bytes = 4096;

/// Peers were measured on another machine than this one: they say what is usual, not who wins here.
const char* const intel_source = "Intel GPU driver without a GPU, measured on an AMD EPYC";

Figure pair_figure(const Session& session, const char* name, void* (Session::*allocate)(std::size_t) const,
                   double peer_us) {
  const Timing timing =
      time_call(name, [&session, allocate] { session.free((session.*allocate)(small_bytes)); });
  return {name, timing.ns / 1000, "us", 0.5, Better::lower, Peer{peer_us, intel_source}, timing.noisy};
}

Timing time_queries(const Session& session, const std::vector<void*>& pointers, std::size_t working_set) {
  std::mt19937_64 random(1);
  std::vector<void*> asked(working_set);
  for (void*& pointer : asked) {
    pointer = pointers[random() % pointers.size()];
  }
  std::size_t next = 0;
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  return time_call("query", [&] {
    check(zeMemGetAllocProperties(session.context(), asked[next], &properties, nullptr),
          "zeMemGetAllocProperties");
    next = next + 1 == asked.size() ? 0 : next + 1;
  });
}

/// Handles of one allocation, of which one is out all the time; and opening it.
void time_sharing(const Session& session, std::vector<Figure>& figures) {
  void* const block = session.allocate_device(small_bytes);
  ze_ipc_mem_handle_t held{};
  check(zeMemGetIpcHandle(session.context(), block, &held), "zeMemGetIpcHandle");
  const Timing pair = time_call("ipc get put", [&] {
    ze_ipc_mem_handle_t handle{};
    check(zeMemGetIpcHandle(session.context(), block, &handle), "zeMemGetIpcHandle");
    check(zeMemPutIpcHandle(session.context(), handle), "zeMemPutIpcHandle");
  });
  figures.push_back({"ipc_get_put", pair.ns, "ns", 100, Better::lower, std::nullopt, pair.noisy});
  const Timing opening = time_call("ipc open close", [&] {
    void* opened = nullptr;
    check(zeMemOpenIpcHandle(session.context(), session.device(), held, 0, &opened), "zeMemOpenIpcHandle");
    check(zeMemCloseIpcHandle(session.context(), opened), "zeMemCloseIpcHandle");
  });
  figures.push_back(
      {"ipc_open_close", opening.ns / 1000, "us", 1000, Better::lower, std::nullopt, opening.noisy});
  check(zeMemPutIpcHandle(session.context(), held), "zeMemPutIpcHandle");
  session.free(block);
}

}  // namespace

std::vector<Figure> run_memory_group() {
  const Session session("model:");
  std::vector<Figure> figures;

  const Timing empty = time_call("empty", [&session] {
    ze_api_version_t version{};
    check(zeDriverGetApiVersion(session.driver(), &version), "zeDriverGetApiVersion");
  });
  figures.push_back({"empty_call", empty.ns, "ns", std::nullopt, Better::lower, std::nullopt, empty.noisy});
  figures.push_back(pair_figure(session, "device_alloc_free_4k", &Session::allocate_device, 0.85));
  figures.push_back(pair_figure(session, "host_alloc_free_4k", &Session::allocate_host, 1.18));
  figures.push_back(pair_figure(session, "shared_alloc_free_4k", &Session::allocate_shared, 1.18));

  time_sharing(session, figures);

  std::vector<void*> live(100'000);
  for (void*& pointer : live) {
    pointer = session.allocate_device(small_bytes);
  }
  const Timing near = time_queries(session, live, 1'000);
  const Timing far = time_queries(session, live, 100'000);
  figures.push_back({"query_1k_of_100k_live", near.ns, "ns", 50, Better::lower, std::nullopt, near.noisy});
  figures.push_back({"query_over_empty_call", near.ns / empty.ns, "ratio", 10, Better::lower, std::nullopt,
                     near.noisy || empty.noisy});
  figures.push_back(
      {"query_any_of_100k_live", far.ns, "ns", std::nullopt, Better::lower, std::nullopt, far.noisy});
  const Timing crowded =
      time_call("crowded", [&session] { session.free(session.allocate_device(small_bytes)); });
  figures.push_back({"device_alloc_free_4k_100k_live", crowded.ns / 1000, "us", 0.5, Better::lower,
                     Peer{139, "Intel GPU driver without a GPU, 30,000 live"}, crowded.noisy});
  for (void* pointer : live) {
    session.free(pointer);
  }
  return figures;
}

}  // namespace datum::bench
