#include "driver/memory/system_memory.hpp"

#include "driver/memory/pin_cache.hpp"

namespace datum {

Result<std::shared_ptr<MemoryBacking>> SystemMemory::take(std::span<const std::unique_ptr<PinCache>> caches,
                                                          void* memory, std::uint64_t bytes,
                                                          PageRights rights) {
  auto made = std::make_shared<SystemMemory>(memory);
  made->held_.reserve(caches.size());
  for (const std::unique_ptr<PinCache>& cache : caches) {
    Result<std::uint64_t> token =
        rights.writable ? cache->pin(memory, bytes, board::DmaAccess::read_write, rights.cache_policy)
                        : cache->pin_read_only(memory, bytes, rights.cache_policy);
    if (!token.ok()) {
      return std::move(token).error();
    }
    made->held_.push_back({cache.get(), *token});
  }
  return std::shared_ptr<MemoryBacking>(std::move(made));
}

SystemMemory::~SystemMemory() {
  for (const Held& held : held_) {
    held.cache->unpin(held.token);
  }
}

}  // namespace datum
