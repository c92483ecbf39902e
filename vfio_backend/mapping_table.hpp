// Which DMA mappings of a card are live, and what keeps their memory.
#pragma once

#include <cstdint>
#include <map>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

#include "vfio_backend/address_space.hpp"
#include "vfio_backend/syscalls.hpp"

namespace datum::vfio {

/// The kernel is laxer than the seam: it unmaps all that lies in a range. So that exactly one mapping is
/// undone, they are known here. Not thread-safe.
class MappingTable {
 public:
  /// `limits` outlives the table.
  explicit MappingTable(const SpaceLimits& limits) noexcept : limits_(limits) {}

  /// invalid_argument: [`iova`, `iova` + `bytes`) is empty, misaligned, outside the IOMMU's ranges or
  /// overlaps a live mapping.
  [[nodiscard]] Status check(Iova iova, std::uint64_t bytes) const;
  /// `check` has just succeeded. `file` is the mapping of a file that the kernel pinned through this process,
  /// if it was so.
  void add(Iova iova, std::uint64_t bytes, OwnedMapping file);
  [[nodiscard]] bool has(Iova iova, std::uint64_t bytes) const;
  /// `has` is true.
  void remove(Iova iova);

 private:
  struct Entry {
    std::uint64_t bytes;
    OwnedMapping file;
  };

  const SpaceLimits& limits_;
  std::map<std::uint64_t, Entry> entries_;  // by first IOVA
};

}  // namespace datum::vfio
