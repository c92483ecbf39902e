#include "tools/bench/peer_allocators.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <sys/mman.h>

#include "tools/bench/micro_benchmark.hpp"

namespace datum::bench {
namespace {

constexpr std::size_t page_bytes = 4096;

/// Volatile, so that the compiler keeps the allocation.
void touch(void* memory) { *static_cast<volatile char*>(memory) = 1; }

Figure peer_figure(const char* name, const Timing& timing) {
  return {name, timing.ns / 1000, "us", std::nullopt, Better::lower, std::nullopt, timing.noisy};
}

/// From the folder of scripts/fetch_peers, or the system's; it is never closed, because threads may have its
/// blocks.
void* load_mimalloc() {
  void* const fetched = ::dlopen(DATUM_PEERS_ROOT "/lib/libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
  return fetched != nullptr ? fetched : ::dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

std::vector<Figure> measure_allocators() {
  std::vector<Figure> figures;
  figures.push_back(peer_figure("peer_mmap_munmap_4k", time_call("mmap", [] {
                                  void* const memory = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE,
                                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                                  if (memory != MAP_FAILED) {
                                    touch(memory);
                                    ::munmap(memory, page_bytes);
                                  }
                                })));
  figures.push_back(peer_figure("peer_malloc_free_4k", time_call("malloc", [] {
                                  void* const memory = std::malloc(page_bytes);
                                  if (memory != nullptr) {
                                    touch(memory);
                                  }
                                  std::free(memory);
                                })));
  if (void* const mimalloc = load_mimalloc()) {
    const auto allocate = reinterpret_cast<void* (*)(std::size_t)>(::dlsym(mimalloc, "mi_malloc"));
    const auto release = reinterpret_cast<void (*)(void*)>(::dlsym(mimalloc, "mi_free"));
    if (allocate != nullptr && release != nullptr) {
      figures.push_back(peer_figure("peer_mimalloc_4k", time_call("mimalloc", [&] {
                                      void* const memory = allocate(page_bytes);
                                      if (memory != nullptr) {
                                        touch(memory);
                                      }
                                      release(memory);
                                    })));
    }
  }
  return figures;
}

}  // namespace datum::bench
