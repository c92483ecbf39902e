// The addresses at which the board sees host memory, chosen inside the ranges that its IOMMU translates.
#pragma once

#include <cstdint>
#include <span>

#include <datum/base/address.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "driver/memory/range_allocator.hpp"

namespace datum {

/// Has nothing to do with host addresses: an IOMMU may have 39 bits where pointers have 47. Never gives out
/// address 0. Thread safe.
class IovaAllocator {
 public:
  /// `granule_bytes` is a power of two, at least 4 KiB.
  IovaAllocator(std::span<const board::IovaRange> ranges, std::uint64_t granule_bytes);

  /// A multiple of the granule of at least `bytes`; 2 MiB aligned from 2 MiB on. out_of_host_memory: the
  /// ranges are full.
  Result<Iova> take(std::uint64_t bytes);
  /// With the bytes of take.
  void release(Iova iova, std::uint64_t bytes) noexcept;

  [[nodiscard]] std::uint64_t granule_bytes() const noexcept { return granule_bytes_; }

  [[nodiscard]] std::uint64_t free_bytes();

 private:
  std::uint64_t granule_bytes_;
  Mutex mutex_;
  RangeAllocator ranges_ DATUM_GUARDED_BY(mutex_);
};

}  // namespace datum
