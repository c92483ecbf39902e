#include "tools/bench/memory_measurements.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "tools/bench/micro_benchmark.hpp"

namespace datum::bench {
namespace {

constexpr std::size_t small_bytes = 4096;
constexpr std::chrono::milliseconds throughput_window{100};

struct Kind {
  const char* name;
  void* (Session::*allocate)(std::size_t) const;
};

constexpr Kind kinds[] = {{"device", &Session::allocate_device},
                          {"host", &Session::allocate_host},
                          {"shared", &Session::allocate_shared}};

/// "1k" for 1000, "1m" for a million.
std::string count_text(std::size_t count) {
  if (count >= 1'000'000) {
    return fmt::format("{}m", count / 1'000'000);
  }
  return count >= 1'000 ? fmt::format("{}k", count / 1'000) : fmt::format("{}", count);
}

/// Allocations of 4 KiB that only lie there.
class Live {
 public:
  Live(const Session& session, const Kind& kind) : session_(session), kind_(kind) {}

  ~Live() {
    for (void* pointer : pointers_) {
      zeMemFree(session_.context(), pointer);
    }
  }

  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  void grow_to(std::size_t count) {
    pointers_.reserve(count);
    while (pointers_.size() < count) {
      pointers_.push_back((session_.*kind_.allocate)(small_bytes));
    }
  }

  [[nodiscard]] const std::vector<void*>& pointers() const { return pointers_; }

 private:
  const Session& session_;
  const Kind& kind_;
  std::vector<void*> pointers_;
};

Figure microseconds(std::string name, const Timing& timing, std::optional<double> goal_us) {
  return {std::move(name), timing.ns / 1000, "us", goal_us, Better::lower, std::nullopt, timing.noisy};
}

Figure nanoseconds(std::string name, const Timing& timing, std::optional<double> goal_ns) {
  return {std::move(name), timing.ns, "ns", goal_ns, Better::lower, std::nullopt, timing.noisy};
}

Timing time_pair(const Session& session, const Kind& kind) {
  return time_call("pair", [&] { session.free((session.*kind.allocate)(small_bytes)); });
}

void time_pairs(const Session& session, const Kind& kind, std::vector<Figure>& figures) {
  const std::string pair = fmt::format("{}_alloc_free_4k", kind.name);
  figures.push_back(microseconds(pair, time_pair(session, kind), 0.5));

  Live live(session, kind);
  live.grow_to(10);
  const Timing few = time_pair(session, kind);
  figures.push_back(microseconds(pair + "_10_live", few, std::nullopt));
  for (const std::size_t count : {1'000U, 10'000U, 30'000U}) {
    live.grow_to(count);
    const Timing many = time_pair(session, kind);
    const std::string name = fmt::format("{}_{}_live", pair, count_text(count));
    figures.push_back(microseconds(name, many, std::nullopt));
    figures.push_back({name + "_over_10", many.ns / few.ns, "ratio", 1.3, Better::lower, std::nullopt,
                       many.noisy || few.noisy});
  }
}

/// Nanoseconds on the wall for one pair, with `thread_count` threads at it, each with 1,000 live.
double threads_ns(const Session& session, int thread_count) {
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> pairs = 0;
  std::barrier start(thread_count + 1);
  std::barrier end(thread_count + 1);
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(thread_count));
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&] {
      Live live(session, kinds[0]);
      live.grow_to(1'000);
      start.arrive_and_wait();
      std::size_t count = 0;
      for (; !stop.load(std::memory_order_relaxed); ++count) {
        session.free(session.allocate_device(small_bytes));
      }
      pairs += count;
      end.arrive_and_wait();
    });
  }
  start.arrive_and_wait();
  const double elapsed_ns = wall_ns([&] {
    std::this_thread::sleep_for(throughput_window);
    stop = true;
    end.arrive_and_wait();
  });
  return elapsed_ns / static_cast<double>(pairs);
}

void time_threads(const Session& session, std::vector<Figure>& figures) {
  Timing alone;
  for (const int count : {1, 2, 4}) {
    const Timing timing = repeat([&] { return threads_ns(session, count); });
    const std::string name = fmt::format("device_pairs_{}_threads", count);
    figures.push_back(
        {name, 1e6 / timing.ns, "thousand/s", std::nullopt, Better::higher, std::nullopt, timing.noisy});
    if (count == 1) {
      alone = timing;
      continue;
    }
    figures.push_back({name + "_over_1", alone.ns / timing.ns, "ratio", count == 2 ? 1.3 : 1.0,
                       Better::higher, std::nullopt, timing.noisy || alone.noisy});
  }
}

/// Asks for `working_set` pointers, drawn from all that are live, again and again.
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

void time_queries_of_many(const Session& session, std::vector<Figure>& figures) {
  std::vector<std::size_t> counts{1'000, 30'000};
  if (session.is_datum()) {
    counts.insert(counts.end(), {100'000, 1'000'000});
  }
  Live live(session, kinds[0]);
  for (const std::size_t count : counts) {
    live.grow_to(count);
    const std::string text = count_text(count);
    figures.push_back(nanoseconds(fmt::format("query_1k_of_{}_live", text),
                                  time_queries(session, live.pointers(), 1'000), 50));
    if (count >= 100'000) {
      figures.push_back(nanoseconds(fmt::format("query_any_of_{}_live", text),
                                    time_queries(session, live.pointers(), count),
                                    count >= 1'000'000 ? std::optional<double>(300) : std::nullopt));
      figures.push_back(
          microseconds(fmt::format("device_alloc_free_4k_{}_live", text), time_pair(session, kinds[0]), 0.5));
    }
  }
}

ze_ipc_mem_handle_t get_handle(const Session& session, void* block) {
  ze_ipc_mem_handle_t handle{};
  check(zeMemGetIpcHandle(session.context(), block, &handle), "zeMemGetIpcHandle");
  return handle;
}

void put_handle(const Session& session, const ze_ipc_mem_handle_t& handle) {
  check(zeMemPutIpcHandle(session.context(), handle), "zeMemPutIpcHandle");
}

void* open_handle(const Session& session, const ze_ipc_mem_handle_t& handle) {
  void* opened = nullptr;
  check(zeMemOpenIpcHandle(session.context(), session.device(), handle, 0, &opened), "zeMemOpenIpcHandle");
  return opened;
}

void close_handle(const Session& session, void* opened) {
  check(zeMemCloseIpcHandle(session.context(), opened), "zeMemCloseIpcHandle");
}

/// The first handle of each of many allocations, given back at once; on the wall, because the kernel has a
/// part.
Timing time_first_handles(const Session& session) {
  constexpr std::size_t count = 200;
  return repeat([&] {
    Live fresh(session, kinds[0]);
    fresh.grow_to(count);
    return wall_ns([&] {
             for (void* block : fresh.pointers()) {
               put_handle(session, get_handle(session, block));
             }
           }) /
           count;
  });
}

void time_handles(const Session& session, std::vector<Figure>& figures) {
  figures.push_back(microseconds("ipc_first_get_last_put", time_first_handles(session), std::nullopt));

  Live live(session, kinds[0]);
  live.grow_to(1);
  void* const block = live.pointers().front();
  const ze_ipc_mem_handle_t held = get_handle(session, block);
  const Timing cached = time_call("ipc get put", [&] { put_handle(session, get_handle(session, block)); });
  figures.push_back(nanoseconds("ipc_get_put", cached, 100));
  const Timing opening =
      time_call("ipc open close", [&] { close_handle(session, open_handle(session, held)); });
  figures.push_back(microseconds("ipc_open_close", opening, 1000));

  if (session.is_datum()) {
    live.grow_to(2);
    void* const target = live.pointers().back();
    const Timing copying = repeat([&] {
      constexpr int times = 50;
      double total_ns = 0;
      for (int i = 0; i < times; ++i) {
        void* opened = nullptr;
        total_ns += wall_ns([&] {
          opened = open_handle(session, held);
          session.copy(target, opened, small_bytes);
        });
        close_handle(session, opened);
      }
      return total_ns / times;
    });
    figures.push_back(microseconds("ipc_open_first_copy", copying, 1000));
  }
  put_handle(session, held);
}

}  // namespace

std::vector<Figure> measure_memory(const Session& session) {
  std::vector<std::function<void(std::vector<Figure>&)>> parts;
  for (const Kind& kind : kinds) {
    parts.emplace_back([&](std::vector<Figure>& figures) { time_pairs(session, kind, figures); });
  }
  parts.emplace_back([&](std::vector<Figure>& figures) { time_threads(session, figures); });
  parts.emplace_back([&](std::vector<Figure>& figures) { time_queries_of_many(session, figures); });
  parts.emplace_back([&](std::vector<Figure>& figures) { time_handles(session, figures); });

  std::vector<Figure> all;
  for (const auto& part : parts) {
    try {
      part(all);
    } catch (const Failure& failure) {
      if (session.is_datum()) {
        throw;
      }
      fmt::print(stderr, "datum-bench: left out of the peer: {}\n", failure.what());
    }
  }
  return all;
}

}  // namespace datum::bench
