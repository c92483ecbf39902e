#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <sys/resource.h>
#include <thread>
#include <vector>

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

/// CPU time of the calling thread, nanoseconds.
double thread_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// CPU time of the whole process, nanoseconds.
double process_cpu_ns() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// What reading the thread's clock twice costs.
double clock_cost_ns() {
  std::vector<double> costs;
  for (int round = 0; round < 1000; ++round) {
    const double begin = thread_cpu_ns();
    costs.push_back(thread_cpu_ns() - begin);
  }
  return median(costs);
}

/// What the calling thread does itself for one copy: whether the board is done is seen by the bytes that it
/// writes, untimed, so that nothing of this is waiting, and the board's thread is awake, so that waking it is
/// none of it either. The doorbell takes the simulated board's turn, which is included.
Figure host_work_figure(const Session& session, const Lists& lists) {
  constexpr int rounds = 5000;
  auto* to = static_cast<unsigned char*>(session.allocate_host(4096));
  auto* from = static_cast<unsigned char*>(session.allocate_host(4096));
  const double clock_ns = clock_cost_ns();
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const auto value = static_cast<unsigned char>(round % 255 + 1);
    std::memset(from, value, 64);
    const double begin = thread_cpu_ns();
    check(zeCommandListAppendMemoryCopy(lists.list, to, from, 64, nullptr, 0, nullptr),
          "zeCommandListAppendMemoryCopy");
    check(zeCommandListClose(lists.list), "zeCommandListClose");
    ze_command_list_handle_t list = lists.list;
    check(zeCommandQueueExecuteCommandLists(lists.queue, 1, &list, nullptr),
          "zeCommandQueueExecuteCommandLists");
    const double submitted = thread_cpu_ns();
    while (std::atomic_ref(to[63]).load(std::memory_order_acquire) != value) {
    }
    const double settled = thread_cpu_ns() + 3000;  // the record follows the bytes
    while (thread_cpu_ns() < settled) {
    }
    const double done = thread_cpu_ns();
    check(zeCommandQueueSynchronize(lists.queue, UINT64_MAX), "zeCommandQueueSynchronize");
    check(zeCommandListReset(lists.list), "zeCommandListReset");
    times.push_back(submitted - begin + thread_cpu_ns() - done - 2 * clock_ns);
  }
  session.free(to);
  session.free(from);
  return {"copy_host_work", median(times) / 1000, "us", 1.0, Better::lower, std::nullopt, false};
}

/// 1,000 copies in one list against as many calls of memcpy between the same kinds of memory.
Figure bulk_figure(const Session& session, const Lists& lists) {
  constexpr std::size_t bytes = 64 * 1024;
  constexpr int copies = 1000;
  constexpr int rounds = 15;
  void* to = session.allocate_device(bytes);
  void* from = session.allocate_host(bytes);
  void* plain = session.allocate_host(bytes);
  std::memset(from, 1, bytes);
  std::memset(plain, 2, bytes);
  for (int copy = 0; copy < copies; ++copy) {
    check(zeCommandListAppendMemoryCopy(lists.list, to, from, bytes, nullptr, 0, nullptr),
          "zeCommandListAppendMemoryCopy");
  }
  check(zeCommandListClose(lists.list), "zeCommandListClose");
  std::vector<double> ratios;
  using Clock = std::chrono::steady_clock;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    ze_command_list_handle_t list = lists.list;
    check(zeCommandQueueExecuteCommandLists(lists.queue, 1, &list, nullptr),
          "zeCommandQueueExecuteCommandLists");
    check(zeCommandQueueSynchronize(lists.queue, UINT64_MAX), "zeCommandQueueSynchronize");
    const auto between = Clock::now();
    for (int copy = 0; copy < copies; ++copy) {
      std::memcpy(plain, from, bytes);
      asm volatile("" ::: "memory");
    }
    const auto end = Clock::now();
    ratios.push_back(std::chrono::duration<double>(between - begin) /
                     std::chrono::duration<double>(end - between));
  }
  check(zeCommandListReset(lists.list), "zeCommandListReset");
  session.free(to);
  session.free(from);
  session.free(plain);
  return {"copies_1000_of_64k", median(ratios), "x memcpy", 2, Better::lower, std::nullopt, false};
}

/// From the board's write of an event to the return of a thread that slept until then; and what sleeping
/// costs.
std::vector<Figure> waiting_figures(const Session& session, const Lists& lists) {
  constexpr int rounds = 300;
  ze_event_pool_desc_t pool_desc{};
  pool_desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
  pool_desc.count = 2;
  ze_event_pool_handle_t pool = nullptr;
  check(zeEventPoolCreate(session.context(), &pool_desc, 0, nullptr, &pool), "zeEventPoolCreate");
  ze_event_desc_t event_desc{};
  event_desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  ze_event_handle_t gate = nullptr;
  ze_event_handle_t done = nullptr;
  check(zeEventCreate(pool, &event_desc, &gate), "zeEventCreate");
  event_desc.index = 1;
  check(zeEventCreate(pool, &event_desc, &done), "zeEventCreate");
  check(zeCommandListAppendBarrier(lists.list, done, 1, &gate), "zeCommandListAppendBarrier");
  check(zeCommandListClose(lists.list), "zeCommandListClose");
  std::vector<double> latencies;
  for (int round = 0; round < rounds; ++round) {
    ze_command_list_handle_t list = lists.list;
    check(zeCommandQueueExecuteCommandLists(lists.queue, 1, &list, nullptr),
          "zeCommandQueueExecuteCommandLists");
    std::atomic<std::uint64_t> woken_ns{0};
    std::thread waiter([&] {
      if (zeEventHostSynchronize(done, UINT64_MAX) == ZE_RESULT_SUCCESS) {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        woken_ns =
            static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    check(zeEventHostSignal(gate), "zeEventHostSignal");
    waiter.join();
    ze_kernel_timestamp_result_t times{};
    check(zeEventQueryKernelTimestamp(done, &times), "zeEventQueryKernelTimestamp");
    latencies.push_back(static_cast<double>(woken_ns.load() - times.global.kernelEnd));
    check(zeCommandQueueSynchronize(lists.queue, UINT64_MAX), "zeCommandQueueSynchronize");
    zeEventHostReset(gate);
    zeEventHostReset(done);
  }
  constexpr std::uint64_t wait_ns = 500'000'000;
  const double before = process_cpu_ns();
  static_cast<void>(zeEventHostSynchronize(done, wait_ns));
  const double percent = 100.0 * (process_cpu_ns() - before) / static_cast<double>(wait_ns);
  check(zeCommandListReset(lists.list), "zeCommandListReset");
  zeEventDestroy(gate);
  zeEventDestroy(done);
  zeEventPoolDestroy(pool);
  return {{"event_seen_after", median(latencies) / 1000, "us", 20, Better::lower, std::nullopt, false},
          {"waiting_cpu", percent, "% of a core", 1, Better::lower, std::nullopt, false}};
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
    figures.push_back(host_work_figure(session, lists));
    figures.push_back(bulk_figure(session, lists));
    for (Figure& figure : waiting_figures(session, lists)) {
      figures.push_back(std::move(figure));
    }
  }
  for (Figure& figure : event_figures(session)) {
    figures.push_back(std::move(figure));
  }
  session.free(to);
  session.free(from);
  return figures;
}

}  // namespace datum::bench
