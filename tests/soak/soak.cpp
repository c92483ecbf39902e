#include "tests/soak/soak.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/soak/management.hpp"

namespace datum::soak {
namespace {

using Clock = std::chrono::steady_clock;

/// An epoch takes about a second; one that takes so long hangs.
constexpr std::chrono::minutes longest_epoch{5};
/// In one epoch of so many the boards are reset amid the work.
constexpr std::uint64_t resets_one_in = 3;

std::uint64_t mixed(std::uint64_t seed, std::uint64_t epoch, std::uint64_t worker, std::uint64_t number) {
  test::Random random(seed);
  for (const std::uint64_t part : {epoch, worker, number}) {
    random = test::Random(random.next() ^ part);
  }
  return random.next();
}

bool resets_in(std::uint64_t epoch) { return epoch % resets_one_in == resets_one_in - 1; }

template <class Scenes>
std::size_t draw_scene(const Scenes& all, test::Random& random) {
  std::uint64_t weights = 0;
  for (const auto& scene : all) {
    weights += scene.weight;
  }
  std::uint64_t drawn = random.below(weights);
  std::size_t index = 0;
  while (drawn >= all[index].weight) {
    drawn -= all[index++].weight;
  }
  return index;
}

/// A context of the board's present life: while it is being reset there is none to be had.
Context make_context_after_reset(ze_driver_handle_t driver) {
  const auto until = Clock::now() + std::chrono::seconds(30);
  for (;;) {
    try {
      return make_context(driver);
    } catch (const BoardLost& lost) {
      require(Clock::now() < until, std::string("the board does not come back: ") + lost.what());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Soak::Soak(const Options& options)
    : options_(options),
      start_(Clock::now()),
      finish_(start_ + options.duration),
      scenes_each_(test::on_rtl() ? 6 : 60),
      largest_(test::on_rtl() ? 4096 : 512U << 10U),
      progress_(options.threads + options.peers) {
  check(test::session().result, "initialisation");
  require(!test::session().devices.empty(), "there is no board");
  for (unsigned i = 0; i < options.peers; ++i) {
    peers_.push_back(std::make_unique<Peer>());
  }
}

bool Soak::goes_on() const {
  if (verdict().failed()) {
    return false;
  }
  return options_.epochs != 0 ? tally_.epochs < options_.epochs
                              : Clock::now() < finish_ || tally_.epochs < 2 * resets_one_in;
}

void Soak::run() {
  while (goes_on()) {
    run_epoch(tally_.epochs);
    ++tally_.epochs;
    std::size_t live = 0;
    for (const auto& peer : peers_) {
      live += peer->runs() ? 1 : 0;
    }
    held_.push_back(take_holdings(folder_, live));
  }
  end_peers();
  if (verdict().failed()) {
    return;
  }
  Holdings before{};
  for (std::size_t i = 0; i < (held_.size() + 1) / 2; ++i) {
    keep_most(before, held_[i]);
  }
  const std::string grown = growth(before, take_holdings(folder_, 0));
  require(grown.empty(), grown);
  for (std::size_t i = 0; i < test::session().devices.size(); ++i) {
    require(reset_board(i) == ZE_RESULT_SUCCESS, "at the end somebody still has a context on the board");
  }
}

void Soak::run_epoch(std::uint64_t epoch) {
  Context shared = make_context(test::session().driver);
  scenes_done_ = 0;
  working_ = workers();
  std::vector<std::thread> threads;
  for (std::size_t worker = 0; worker < workers(); ++worker) {
    threads.emplace_back([this, epoch, worker, &shared] {
      work(epoch, worker, shared);
      finish_worker();
    });
  }
  if (options_.resets && resets_in(epoch)) {
    reset_amid_work(epoch);
  }
  wait_for_workers(epoch);
  for (std::thread& thread : threads) {
    thread.join();
  }
  shared.destroy();
  require_clean_ends();
}

void Soak::reset_amid_work(std::uint64_t epoch) {
  test::Random random(mixed(options_.seed, epoch, workers(), 0));
  for (std::uint64_t left = random.between(1, 2); left > 0; --left) {
    const std::uint64_t moment = random.below(scenes_of_epoch());
    while (scenes_done_ < moment && !verdict().failed()) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const std::size_t board = random.below(test::session().devices.size());
    if (const ze_result_t code = reset_board(board, true); code != ZE_RESULT_SUCCESS) {
      verdict().fail("zesDeviceReset answered " + test::result_text(code) + ": " + test::last_error_text());
    }
    ++tally_.resets;
  }
}

void Soak::work(std::uint64_t epoch, std::size_t worker, ze_context_handle_t shared) {
  const auto& session = test::session();
  test::Random random(mixed(options_.seed, epoch, worker, UINT64_MAX));
  Context own;
  try {
    if (!random.one_in(2)) {
      own = make_context_after_reset(session.driver);
    }
    const ze_device_handle_t device = session.devices[random.below(session.devices.size())];
    Stage stage{{session.driver, device, own.get() != nullptr ? own.get() : shared}, random, largest_};
    for (std::uint64_t number = 0; number < scenes_each_ && !verdict().failed(); ++number) {
      try {
        play(epoch, worker, number, stage);
        require_clean_ends();
      } catch (const BoardLost& lost) {
        require(options_.resets && resets_in(epoch), std::string("nobody reset the board: ") + lost.what());
        ++tally_.ended_by_reset;
        stage.kept.clear();
        own.destroy();
        require_clean_ends();
        own = make_context_after_reset(session.driver);
        stage.site.context = own;
      }
      ++scenes_done_;
    }
    tally_.copied_bytes += stage.copied;
    stage.kept.clear();
    own.destroy();
    require_clean_ends();
  } catch (const std::exception& failure) {
    verdict().fail("epoch " + std::to_string(epoch) + ", worker " + std::to_string(worker) + ", scene " +
                   std::to_string(progress_[worker].number) + " (" + progress_[worker].scene.load() +
                   "): " + failure.what());
  }
}

void Soak::play(std::uint64_t epoch, std::size_t worker, std::uint64_t number, Stage& stage) {
  stage.random = test::Random(mixed(options_.seed, epoch, worker, number));
  progress_[worker].number = number;
  if (worker >= options_.threads) {
    play_with_peer(worker, *peers_[worker - options_.threads], stage);
    return;
  }
  const std::size_t drawn = draw_scene(scenes, stage.random);
  progress_[worker].scene = scenes[drawn].name;
  scenes[drawn].play(stage);
  ++tally_.played[drawn];
}

void Soak::play_with_peer(std::size_t worker, Peer& peer, Stage& stage) {
  const std::size_t drawn = draw_scene(peer_scenes, stage.random);
  progress_[worker].scene = peer_scenes[drawn].name;
  peer.start();
  try {
    peer_scenes[drawn].play(stage, peer);
  } catch (const BoardLost&) {
    peer.kill();  // it may be amid anything
    ++tally_.peers_killed;
    throw;
  }
  tally_.peers_killed += peer.runs() ? 0 : 1;
  ++tally_.played_with_peers[drawn];
}

void Soak::finish_worker() {
  const std::lock_guard guard(mutex_);
  --working_;
  worker_finished_.notify_all();
}

void Soak::wait_for_workers(std::uint64_t epoch) {
  std::unique_lock lock(mutex_);
  if (worker_finished_.wait_for(lock, longest_epoch, [this] { return working_ == 0; })) {
    return;
  }
  std::fprintf(stderr, "soak: epoch %llu hangs:\n", static_cast<unsigned long long>(epoch));
  for (std::size_t worker = 0; worker < workers(); ++worker) {
    std::fprintf(stderr, "  worker %zu in its scene %llu (%s)\n", worker,
                 static_cast<unsigned long long>(progress_[worker].number.load()),
                 progress_[worker].scene.load());
  }
  for (const auto& peer : peers_) {
    peer->kill();
  }
  std::abort();  // leaves an image of the threads
}

void Soak::end_peers() {
  for (const auto& peer : peers_) {
    peer->end();
  }
}

void Soak::print_summary() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("%llu epochs in %.1f s, %.1f MiB copied\n", number(tally_.epochs), seconds,
              static_cast<double>(tally_.copied_bytes) / (1 << 20));
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    std::printf("  %-28s %10llu\n", scenes[i].name, number(tally_.played[i]));
  }
  for (std::size_t i = 0; i < peer_scenes.size(); ++i) {
    std::printf("  %-28s %10llu\n", peer_scenes[i].name, number(tally_.played_with_peers[i]));
  }
  std::printf("  %-28s %10llu\n  %-28s %10llu\n  %-28s %10llu\n", "resets of boards", number(tally_.resets),
              "scenes that a reset ended", number(tally_.ended_by_reset), "peers killed",
              number(tally_.peers_killed));
  if (held_.empty()) {
    return;
  }
  std::printf("%-30s %14s %14s\n", "held", "first epoch", "last epoch");
  for (std::size_t i = 0; i < holding_kinds; ++i) {
    std::printf("  %-28s %14lld %14lld\n", held_.front()[i].name,
                static_cast<long long>(held_.front()[i].count),
                static_cast<long long>(held_.back()[i].count));
  }
}

}  // namespace datum::soak
