// Which DMA mappings of a card are live, and what keeps their memory.
#pragma once

#include <cstdint>
#include <map>

#include <datum/base/address.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "vfio_backend/address_space.hpp"
#include "vfio_backend/syscalls.hpp"

namespace datum::vfio {

/// The kernel is laxer than the seam: it unmaps all that lies in a range. So that exactly one mapping is
/// undone, they are known here, also while the kernel is still at one, which may take long. Safe from any
/// thread.
class MappingTable {
 public:
  /// `limits` outlives the table.
  explicit MappingTable(const SpaceLimits& limits) noexcept : limits_(limits) {}

  /// Takes the range for a mapping that the kernel is asked for next. invalid_argument: [`iova`, `iova` +
  /// `bytes`) is empty, misaligned, outside the IOMMU's ranges or overlaps another one.
  [[nodiscard]] Status begin_map(Iova iova, std::uint64_t bytes);
  /// The kernel has made the mapping. `file` is the mapping of a file that it pinned through this process, if
  /// it was so.
  void end_map(Iova iova, OwnedMapping file);
  /// Makes the mapping of exactly that range one that is being undone. invalid_argument: there is none.
  [[nodiscard]] Status begin_unmap(Iova iova, std::uint64_t bytes);
  /// The kernel has not undone it: it stays.
  void keep(Iova iova);
  /// The kernel has not made it, or has undone it.
  void remove(Iova iova);

 private:
  struct Entry {
    std::uint64_t bytes;
    bool settled;  ///< the kernel is not at it
    OwnedMapping file;
  };

  const SpaceLimits& limits_;
  Mutex mutex_;
  std::map<std::uint64_t, Entry> entries_ DATUM_GUARDED_BY(mutex_);  // by first IOVA
};

}  // namespace datum::vfio
