#include "tools/bench/event_waiting.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

#include <datum/base/unique_fd.hpp>

#include "tools/bench/command_objects.hpp"
#include "tools/bench/micro_benchmark.hpp"

namespace datum::bench {
namespace {

constexpr int waits = 300;
constexpr auto time_to_fall_asleep = std::chrono::milliseconds(1);

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

/// A gate that the host opens and an event that the board signals then, with its time.
struct Gated {
  explicit Gated(const Session& session)
      : objects(session),
        pool(session, 2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP) {
    ze_event_desc_t desc{};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    check(zeEventCreate(pool.handle, &desc, &gate), "zeEventCreate");
    desc.index = 1;
    check(zeEventCreate(pool.handle, &desc, &done), "zeEventCreate");
    check(zeCommandListAppendBarrier(objects.list, done, 1, &gate), "zeCommandListAppendBarrier");
    objects.close();
  }

  ~Gated() {
    zeEventDestroy(gate);
    zeEventDestroy(done);
  }

  Gated(const Gated&) = delete;
  Gated& operator=(const Gated&) = delete;

  CommandObjects objects;
  EventPool pool;
  ze_event_handle_t gate = nullptr;
  ze_event_handle_t done = nullptr;
};

/// From the time that the board takes just before it writes the event, to the return of a thread that slept.
Figure seen_figure(const Gated& gated) {
  std::vector<double> latencies_ns;
  for (int round = 0; round < waits; ++round) {
    gated.objects.execute();
    std::atomic<std::uint64_t> woken_ns{0};
    std::thread waiter([&] {
      if (zeEventHostSynchronize(gated.done, UINT64_MAX) == ZE_RESULT_SUCCESS) {
        woken_ns = clock_ns(CLOCK_MONOTONIC);
      }
    });
    std::this_thread::sleep_for(time_to_fall_asleep);
    check(zeEventHostSignal(gated.gate), "zeEventHostSignal");
    waiter.join();
    ze_kernel_timestamp_result_t times{};
    check(zeEventQueryKernelTimestamp(gated.done, &times), "zeEventQueryKernelTimestamp");
    latencies_ns.push_back(static_cast<double>(woken_ns.load() - times.global.kernelEnd));
    gated.objects.wait();
    check(zeEventHostReset(gated.gate), "zeEventHostReset");
    check(zeEventHostReset(gated.done), "zeEventHostReset");
  }
  const Timing timing = judge(latencies_ns);
  return {"event_seen_after", timing.ns / 1000, "us", 20, Better::lower, std::nullopt, timing.noisy};
}

/// What the kernel needs for the same without any driver: from a write to an eventfd to the return of ppoll
/// in a thread that slept.
Figure wake_figure() {
  const UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::vector<double> latencies_ns;
  for (int round = 0; round < waits; ++round) {
    std::atomic<std::uint64_t> woken_ns{0};
    std::thread waiter([&] {
      pollfd entry{event.get(), POLLIN, 0};
      const int ready = ::ppoll(&entry, 1, nullptr, nullptr);
      woken_ns = clock_ns(CLOCK_MONOTONIC);
      std::uint64_t count = 0;
      if (ready != 1 || ::read(event.get(), &count, sizeof count) != sizeof count) {
        woken_ns = 0;
      }
    });
    std::this_thread::sleep_for(time_to_fall_asleep);
    const std::uint64_t one = 1;
    const std::uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    const bool written = ::write(event.get(), &one, sizeof one) == sizeof one;
    waiter.join();
    if (!written || woken_ns == 0) {
      throw Failure("an eventfd did not wake its reader");
    }
    latencies_ns.push_back(static_cast<double>(woken_ns.load() - begin_ns));
  }
  const Timing timing = judge(latencies_ns);
  return {"peer_eventfd_wake", timing.ns / 1000, "us",        std::nullopt,
          Better::lower,       std::nullopt,     timing.noisy};
}

Figure sleeping_figure(const Gated& gated) {
  constexpr std::uint64_t wait_ns = 500'000'000;
  const std::uint64_t before_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  static_cast<void>(zeEventHostSynchronize(gated.done, wait_ns));
  const auto spent_ns = static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns);
  return {"waiting_cpu", 100.0 * spent_ns / static_cast<double>(wait_ns),
          "% of a core", 1,
          Better::lower, std::nullopt,
          false};
}

}  // namespace

std::vector<Figure> measure_event_waiting(const Session& session) {
  const Gated gated(session);
  return {seen_figure(gated), wake_figure(), sleeping_figure(gated)};
}

}  // namespace datum::bench
