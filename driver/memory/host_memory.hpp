// Host memory of the driver's own that a board may reach: arenas of 2 MiB over a memfd, each mapped for the board once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

namespace datum {

class Device;

/// A piece of an arena. Aligned to its size's next power of two up to 4 KiB. Freed by the arena that made it.
struct HostBlock {
  std::byte* host = nullptr;
  Iova iova{};
  std::uint64_t bytes = 0;
};

/// The driver's own host memory on one device (rings, completion records, staging, event words). Thread safe, kernel calls only when an arena is added or
/// removed. Event pools also want the block inside a context's space: see Context::map_block.
class HostArena {
 public:
  explicit HostArena(Device& device);
  ~HostArena();
  /// `bytes` > 0; rounded up to 64. Contents are zero. out_of_host_memory with limit and cure.
  Result<HostBlock> allocate(std::uint64_t bytes);
  void free(const HostBlock& block);

 private:
  struct Impl;
  Impl* impl_ = nullptr;
};

}  // namespace datum
