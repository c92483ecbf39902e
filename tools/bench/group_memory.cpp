#include <algorithm>
#include <map>

#include "tools/bench/groups.hpp"
#include "tools/bench/memory_measurements.hpp"
#include "tools/bench/micro_benchmark.hpp"
#include "tools/bench/peer_allocators.hpp"
#include "tools/bench/peer_driver.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {
namespace {

constexpr double start_goal_us = 5000;
const char* const start_name = "init_to_first_context";

/// Of Intel's GPU driver without a GPU, where it cannot be measured here: another machine, so no more than
/// what is usual.
const std::map<std::string, double>& published_values() {
  static const std::map<std::string, double> values{{"device_alloc_free_4k", 0.85},
                                                    {"host_alloc_free_4k", 1.18},
                                                    {"shared_alloc_free_4k", 1.18},
                                                    {"device_alloc_free_4k_1k_live", 8.4},
                                                    {"device_alloc_free_4k_10k_live", 61},
                                                    {"device_alloc_free_4k_30k_live", 139},
                                                    {"device_pairs_1_threads", 25},
                                                    {"device_pairs_2_threads", 18},
                                                    {"device_pairs_4_threads", 8},
                                                    {"query_1k_of_1k_live", 100},
                                                    {"query_1k_of_30k_live", 720},
                                                    {"ipc_get_put", 70},
                                                    {"ipc_open_close", 1.1},
                                                    {start_name, 60'000}};
  return values;
}

void name_published(std::vector<Figure>& figures) {
  for (Figure& figure : figures) {
    const auto found = published_values().find(figure.name);
    if (found != published_values().end()) {
      figure.peer = Peer{found->second, "Intel GPU driver without a GPU, published"};
    }
  }
}

/// The peer's value of each figure that it has, and for the three plain pairs how much of it Datum takes.
void name_measured(std::vector<Figure>& figures, const std::vector<Figure>& of_peer,
                   const std::string& source) {
  std::vector<Figure> shares;
  for (Figure& figure : figures) {
    const auto same = std::find_if(of_peer.begin(), of_peer.end(),
                                   [&](const Figure& other) { return other.name == figure.name; });
    if (same == of_peer.end()) {
      continue;
    }
    figure.peer = Peer{same->value, source + (same->noisy ? ", noisy" : "")};
    if (figure.name.ends_with("_alloc_free_4k")) {
      shares.push_back({figure.name + "_over_peer", figure.value / same->value, "ratio", 0.6, Better::lower,
                        std::nullopt, figure.noisy || same->noisy});
    }
  }
  figures.insert(figures.end(), shares.begin(), shares.end());
}

/// Initialisation to first context, each time in a new process.
Figure measure_start(const Environment& environment) {
  const Timing timing = repeat([&] {
    const auto figures = run_in_child("start", environment);
    if (!figures || figures->empty()) {
      throw Failure("a child could not be initialised");
    }
    return figures->front().value * 1000;
  });
  return {start_name, timing.ns / 1000, "us", start_goal_us, Better::lower, std::nullopt, timing.noisy};
}

std::vector<Figure> measure_peer(const PeerDriver& peer) {
  std::vector<Figure> figures = run_in_child("any-driver", peer.environment).value_or(std::vector<Figure>{});
  if (!figures.empty()) {
    figures.push_back(measure_start(peer.environment));
  }
  return figures;
}

}  // namespace

std::vector<Figure> run_any_driver_group() { return measure_memory(Session("model:memory=16G")); }

std::vector<Figure> run_start_group() {
  choose_board("model:");
  const double ns = wall_ns([] {
    ze_init_driver_type_desc_t types{};
    types.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC;
    types.flags = UINT32_MAX;
    std::uint32_t count = 1;
    ze_driver_handle_t driver = nullptr;
    check(zeInitDrivers(&count, &driver, &types), "zeInitDrivers");
    ze_device_handle_t device = nullptr;
    count = 1;
    check(zeDeviceGet(driver, &count, &device), "zeDeviceGet");
    ze_context_desc_t desc{};
    desc.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
    ze_context_handle_t context = nullptr;
    check(zeContextCreate(driver, &desc, &context), "zeContextCreate");
  });
  return {{start_name, ns / 1000, "us", start_goal_us, Better::lower, std::nullopt, false}};
}

std::vector<Figure> run_memory_group() {
  // Before this process sets a board for itself, which children would inherit.
  std::vector<Figure> figures{measure_start({})};

  const Session session("model:memory=16G");
  const Timing empty = time_call("empty", [&session] {
    ze_api_version_t version{};
    check(zeDriverGetApiVersion(session.driver(), &version), "zeDriverGetApiVersion");
  });
  figures.push_back({"empty_call", empty.ns, "ns", std::nullopt, Better::lower, std::nullopt, empty.noisy});
  const std::vector<Figure> measured = measure_memory(session);
  figures.insert(figures.end(), measured.begin(), measured.end());
  for (const Figure& query : measured) {
    if (query.name == "query_1k_of_100k_live") {
      figures.push_back({"query_over_empty_call", query.value / empty.ns, "ratio", 10, Better::lower,
                         std::nullopt, query.noisy || empty.noisy});
    }
  }

  const std::optional<PeerDriver> intel = find_intel_driver();
  const std::vector<Figure> of_peer = intel ? measure_peer(*intel) : std::vector<Figure>{};
  if (of_peer.empty()) {
    name_published(figures);
  } else {
    name_measured(figures, of_peer, intel->source);
  }
  const std::vector<Figure> allocators = measure_allocators();
  figures.insert(figures.end(), allocators.begin(), allocators.end());
  return figures;
}

}  // namespace datum::bench
