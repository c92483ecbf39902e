// Free ranges of an address space that nobody needs to touch: by size for the best fit, by address for
// merging.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace datum {

/// Addresses and sizes are whatever the owner counts in. Logarithmic in the number of free ranges. Not thread
/// safe.
class RangeAllocator {
 public:
  /// Makes [`first`, `first` + `bytes`) free; also how a range is given back. It must not overlap a free one.
  void release(std::uint64_t first, std::uint64_t bytes);
  /// The smallest free range that holds `bytes` at a multiple of `alignment` (a power of two), cut to size;
  /// empty: there is none.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment);

  /// Exactly [`first`, `first` + `bytes`). False: not all of it is free, and nothing was taken.
  bool take_at(std::uint64_t first, std::uint64_t bytes);

  [[nodiscard]] std::uint64_t free_bytes() const noexcept { return free_bytes_; }

  [[nodiscard]] std::size_t range_count() const noexcept { return by_address_.size(); }

 private:
  using ByAddress = std::map<std::uint64_t, std::uint64_t>;
  void insert(std::uint64_t first, std::uint64_t bytes);
  void remove(ByAddress::iterator range);
  void cut(ByAddress::iterator range, std::uint64_t first, std::uint64_t bytes);

  ByAddress by_address_;                                       ///< first address -> bytes
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  ///< (bytes, first address)
  std::uint64_t free_bytes_ = 0;
};

}  // namespace datum
