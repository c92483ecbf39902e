#include <algorithm>

#include <fmt/format.h>

#include "tools/bench/groups.hpp"
#include "tools/bench/map_calls.hpp"
#include "tools/bench/micro_benchmark.hpp"
#include "tools/bench/pages.hpp"
#include "tools/bench/peer_driver.hpp"
#include "tools/bench/session.hpp"
#include "tools/bench/system_calls.hpp"

namespace datum::bench {
namespace {

constexpr const char* first_card = "vfio:";
constexpr double mapping_goal = 1.1;
/// A call for small pages takes long and is always the same; one for huge pages is over before the caches are
/// what they will be.
constexpr int long_call_repetitions = 7;
constexpr int short_call_repetitions = 41;

/// What mapping costs, over some repetitions: the whole call of the driver, and how many times what the
/// kernel's part of the very same call takes.
struct Cost {
  Timing whole;
  double over_kernel_call = 0;
  bool noisy = false;
  unsigned most_calls = 0;
};

Cost measure(const std::function<void*()>& map, const Session& session, int repetitions) {
  std::vector<double> wholes;
  std::vector<double> ratios;
  Cost cost;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    void* mapped = nullptr;
    static_cast<void>(take_map_calls());
    const double whole_ns = wall_ns([&] { mapped = map(); });
    const MapCalls calls = take_map_calls();
    session.free(mapped);
    if (calls.count == 0) {
      throw Failure("nothing was mapped by the kernel: this is no card, or the driver does not find this "
                    "program's ioctl");
    }
    wholes.push_back(whole_ns);
    ratios.push_back(whole_ns / calls.ns);
    cost.most_calls = std::max(cost.most_calls, calls.count);
  }
  cost.whole = judge(wholes);
  const Timing ratio = judge(ratios);
  cost.over_kernel_call = ratio.ns;
  cost.noisy = ratio.noisy;
  return cost;
}

/// Shows ordinary memory to the board.
void* show_to_board(const Session& session, const Pages& pages) {
  const ze_external_memmap_sysmem_ext_desc_t memory{ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                                                    nullptr, pages.data(), pages.size_bytes()};
  const ze_host_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &memory, 0};
  void* pointer = nullptr;
  check(zeMemAllocHost(session.context(), &desc, pages.size_bytes(), 0, &pointer), "zeMemAllocHost");
  return pointer;
}

void add(std::vector<Figure>& figures, const std::string& name, std::size_t bytes, const Cost& cost,
         std::optional<double> goal) {
  constexpr double gib = 1U << 30U;
  figures.push_back(
      {name, cost.whole.ns / 1000, "us", std::nullopt, Better::lower, std::nullopt, cost.whole.noisy});
  figures.push_back({name + "_per_gib", cost.whole.ns * 1e-9 * gib / static_cast<double>(bytes), "s/GiB",
                     std::nullopt, Better::lower, std::nullopt, cost.whole.noisy});
  figures.push_back({name + "_over_kernel_call", cost.over_kernel_call, "ratio", goal, Better::lower,
                     std::nullopt, cost.noisy});
  figures.push_back({name + "_map_calls", static_cast<double>(cost.most_calls), "calls", 1, Better::lower,
                     std::nullopt, false});
}

/// System calls of many allocations of 4 KiB, and of freeing them if that counts too, once pieces are there.
Figure count_small_allocations(const char* name, bool with_free) {
  constexpr std::size_t blocks = 256;
  const std::optional<long> calls = count_system_calls([with_free](const Counted& counted) {
    const Session session(first_card);
    std::vector<void*> pointers(blocks);
    const auto allocate = [&] {
      std::ranges::generate(pointers, [&] { return session.allocate_host(4096); });
    };
    const auto free = [&] { std::ranges::for_each(pointers, [&](void* pointer) { session.free(pointer); }); };
    allocate();
    free();
    counted([&] {
      allocate();
      if (with_free) {
        free();
      }
    });
  });
  if (!calls) {
    throw Failure("a child that allocates could not be traced");
  }
  return {name, static_cast<double>(*calls), "calls", 0, Better::lower, std::nullopt, false};
}

void name_bare(std::vector<Figure>& figures, const std::vector<Figure>& bare) {
  for (Figure& figure : figures) {
    const auto same = std::ranges::find(bare, figure.name, &Figure::name);
    if (same != bare.end()) {
      figure.peer = Peer{same->value, std::string("the bare call, in a program without the driver") +
                                          (same->noisy ? ", noisy" : "")};
    }
  }
}

}  // namespace

std::vector<Figure> run_vfio_group() {
  // A card serves one process at a time, so the children come first, one after the other.
  std::vector<Figure> figures{count_small_allocations("host_alloc_4k_x256_system_calls", false),
                              count_small_allocations("host_alloc_free_4k_x256_system_calls", true)};
  choose_board(first_card);
  const std::optional<std::vector<Figure>> bare = run_in_child("bare-mapping", {});
  if (!bare) {
    throw Failure("the bare calls could not be measured");
  }
  const Session session(first_card);
  for (const std::size_t bytes : mapped_sizes) {
    for (const PageKind kind : {PageKind::small, PageKind::huge}) {
      const Pages pages(bytes, kind);
      add(figures, mapping_name(bytes, kind), bytes,
          measure([&] { return show_to_board(session, pages); }, session,
                  kind == PageKind::huge ? short_call_repetitions : long_call_repetitions),
          mapping_goal);
    }
  }
  const std::size_t largest = std::ranges::max(mapped_sizes);
  // More than mapping: the memory is made, too.
  add(figures, "host_alloc_16m", largest,
      measure([&] { return session.allocate_host(largest); }, session, long_call_repetitions), std::nullopt);
  name_bare(figures, *bare);
  return figures;
}

}  // namespace datum::bench
