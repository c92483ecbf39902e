#include <algorithm>

#include "tools/bench/event_waiting.hpp"
#include "tools/bench/execution.hpp"
#include "tools/bench/groups.hpp"
#include "tools/bench/host_work.hpp"
#include "tools/bench/peer_driver.hpp"
#include "tools/bench/recording.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {
namespace {

/// Of Intel's GPU driver without a GPU, where it cannot be measured here: another machine.
const std::vector<Figure> published{
    {"append_copy", 0.23, "us", std::nullopt, Better::lower, std::nullopt, false},
    {"event_create", 0.1, "us", std::nullopt, Better::lower, std::nullopt, false},
    {"event_signal_query", 0.05, "us", std::nullopt, Better::lower, std::nullopt, false},
    {"copy_host_work", 1.26, "us", std::nullopt, Better::lower, std::nullopt, false}};

void name_peer(std::vector<Figure>& figures, const std::vector<Figure>& of_peer, const std::string& source) {
  for (Figure& figure : figures) {
    const auto same = std::find_if(of_peer.begin(), of_peer.end(),
                                   [&](const Figure& other) { return other.name == figure.name; });
    if (same != of_peer.end()) {
      figure.peer = Peer{same->value, source + (same->noisy ? ", noisy" : "")};
    }
  }
}

std::vector<Figure> measure_any_driver(const Session& session) {
  std::vector<Figure> figures = measure_recording(session);
  figures.push_back(measure_host_work(session));
  return figures;
}

}  // namespace

std::vector<Figure> run_any_recording_group() { return measure_any_driver(Session("model:")); }

std::vector<Figure> run_commands_group() {
  // Before this process sets a board for itself, which children would inherit.
  const std::optional<PeerDriver> intel = find_intel_driver();
  const std::optional<std::vector<Figure>> of_peer =
      intel ? run_in_child("any-recording", intel->environment) : std::nullopt;

  const Session session("model:");
  std::vector<Figure> figures = measure_any_driver(session);
  if (of_peer) {
    name_peer(figures, *of_peer, intel->source);
  } else {
    name_peer(figures, published, "Intel GPU driver without a GPU, published");
  }
  for (const std::vector<Figure>& more : {measure_execution(session), measure_event_waiting(session)}) {
    figures.insert(figures.end(), more.begin(), more.end());
  }
  return figures;
}

}  // namespace datum::bench
