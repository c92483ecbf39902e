// Memory of the process (malloc, stack, file mappings) as an allocation: pinned where it is for as long as
// the allocation lives.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <datum/base/result.hpp>

#include "driver/memory/memory_backing.hpp"
#include "driver/memory/page_rights.hpp"

namespace datum {

class PinCache;

/// The pins of one imported range, one for each board of the context. The destructor returns when no board
/// can reach the memory any longer. The pin caches outlive it.
class SystemMemory : public MemoryBacking {
 public:
  /// `memory` and `bytes` are whole pages. Errors are those of PinCache::pin and PinCache::pin_read_only;
  /// then nothing is pinned.
  static Result<std::shared_ptr<MemoryBacking>> take(std::span<const std::unique_ptr<PinCache>> caches,
                                                     void* memory, std::uint64_t bytes, PageRights rights);

  explicit SystemMemory(void* memory) noexcept : MemoryBacking(memory) {}

  ~SystemMemory();
  SystemMemory(const SystemMemory&) = delete;
  SystemMemory& operator=(const SystemMemory&) = delete;

 private:
  struct Held {
    PinCache* cache = nullptr;
    std::uint64_t token = 0;
  };

  std::vector<Held> held_;
};

}  // namespace datum
