#include "tools/bench/event_waiting.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <poll.h>
#include <semaphore>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

#include <datum/base/unique_fd.hpp>

#include "tools/bench/command_objects.hpp"
#include "tools/bench/micro_benchmark.hpp"
#include "tools/bench/processors.hpp"

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
Figure seen_figure(const char* name, const Gated& gated) {
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
  return {name, timing.ns / 1000, "us", 20, Better::lower, std::nullopt, timing.noisy};
}

Figure seen_figure_on_one_processor(const Gated& gated) {
  const OneProcessorForAll here;
  return seen_figure("event_seen_after_on_one_processor", gated);
}

/// Stands in for the board's thread in what the kernel does: sleeps, is woken by the host, writes an eventfd
/// and stays awake for a while.
class Waker {
 public:
  explicit Waker(int event) : thread_([this, event] { loop(event); }) {}

  ~Waker() {
    ends_ = true;
    turn_.release();
    thread_.join();
  }

  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  void wake() { turn_.release(); }

  /// When the last write began; 0: it failed.
  [[nodiscard]] std::uint64_t written_ns() const noexcept { return written_ns_; }

 private:
  static constexpr std::uint64_t awake_ns = 20'000;

  void loop(int event) {
    for (turn_.acquire(); !ends_; turn_.acquire()) {
      const std::uint64_t one = 1;
      const std::uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
      written_ns_ = begin_ns;
      if (::write(event, &one, sizeof one) != sizeof one) {
        written_ns_ = 0;
      }
      std::this_thread::yield();
      while (clock_ns(CLOCK_MONOTONIC) < begin_ns + awake_ns) {
      }
    }
  }

  std::atomic<bool> ends_{false};
  std::atomic<std::uint64_t> written_ns_{0};
  std::binary_semaphore turn_{0};
  std::thread thread_;
};

/// What the kernel needs for the same without any driver: from a write to an eventfd to the return of ppoll
/// in a thread that slept. Threads sleep, wake and stay awake as in seen_figure, since much depends on which
/// processor the kernel puts the woken one on, and on whether that one was idle.
Figure wake_figure(const char* name) {
  const UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  Waker waker(event.get());
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
    waker.wake();
    waiter.join();
    if (waker.written_ns() == 0 || woken_ns == 0) {
      throw Failure("an eventfd did not wake its reader");
    }
    latencies_ns.push_back(static_cast<double>(woken_ns.load() - waker.written_ns()));
  }
  const Timing timing = judge(latencies_ns);
  return {name, timing.ns / 1000, "us", std::nullopt, Better::lower, std::nullopt, timing.noisy};
}

Figure wake_figure_on_one_processor() {
  const OneProcessorForAll here;
  return wake_figure("peer_eventfd_wake_on_one_processor");
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
  return {seen_figure("event_seen_after", gated), wake_figure("peer_eventfd_wake"),
          seen_figure_on_one_processor(gated), wake_figure_on_one_processor(), sleeping_figure(gated)};
}

}  // namespace datum::bench
