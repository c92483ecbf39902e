// Host memory of the driver's own that a board may reach: rings, completion records, staging, event words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "driver/memory/host_pool.hpp"

namespace datum {

class DmaMap;

/// A piece of an arena. Aligned to its size's next power of two up to 4 KiB. Freed by the arena that made it.
struct HostBlock {
  std::byte* host = nullptr;
  Iova iova{};
  std::uint64_t bytes = 0;
};

/// The driver's own host memory on one device. Thread safe; kernel calls only when the pool behind it adds or
/// removes a piece, and none of them holds up who finds room or gives it back. Blocks of 4 KiB and more have
/// pages of their own, smaller ones share pages with their like. Event pools also want the block inside a
/// context's space: see Context::map_block.
class HostArena {
 public:
  /// Both outlive it.
  HostArena(HostPool& pool, DmaMap& dma);
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  /// `bytes` > 0; rounded up to 64, and to whole pages from 4 KiB. Contents are zero. out_of_host_memory with
  /// limit and cure.
  Result<HostBlock> allocate(std::uint64_t bytes);
  void free(const HostBlock& block);

 private:
  static constexpr std::uint64_t smallest_bytes = 64;
  static constexpr unsigned small_sizes = 6;  ///< 64, 128 ... 2048

  /// One page of equal small blocks.
  struct SmallPage {
    HostPages pages{};
    std::uint64_t used = 0;  ///< a bit a block
    unsigned size_index = 0;
  };

  Result<HostBlock> allocate_small(unsigned size_index);
  HostBlock take_small(unsigned size_index) noexcept DATUM_REQUIRES(mutex_);
  std::optional<HostPages> take_out(const HostBlock& block);
  Result<HostBlock> allocate_pages(std::uint64_t bytes);

  HostPool& pool_;
  DmaMap& dma_;
  Mutex mutex_;
  std::unordered_map<std::byte*, HostPages> pages_ DATUM_GUARDED_BY(mutex_);        ///< by first byte
  std::unordered_map<std::byte*, SmallPage> small_pages_ DATUM_GUARDED_BY(mutex_);  ///< by first byte
  std::array<std::vector<std::byte*>, small_sizes>
      with_room_ DATUM_GUARDED_BY(mutex_);  ///< small pages with a free block
};

}  // namespace datum
