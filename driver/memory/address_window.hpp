// The host virtual addresses that Datum chooses: reserved without access, so that no other mapping of the
// process ever has one of them and a host access to device memory faults at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <datum/base/mapping.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "driver/memory/buddy_pages.hpp"
#include "driver/memory/range_allocator.hpp"

namespace datum {

/// Addresses taken from the window. A plain token: it is given back by hand, exactly once.
struct AddressRange {
  static constexpr std::uint32_t no_slab = ~0U;

  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;       ///< as taken: at least what was asked for
  std::uint32_t slab = no_slab;  ///< of the window's own books, like the two after it
  std::uint16_t page = 0;
  std::uint8_t order = 0;
};

/// Up to 1 MiB in constant time and without kernel calls; above logarithmic in the number of holes. Grows by
/// further windows when the first is full. Whoever maps memory into a range puts the reservation back before
/// the range is freed (release_pages). Thread safe.
class AddressWindow {
 public:
  /// The largest alignment that an allocation of the API may ask for.
  static constexpr std::uint64_t max_alignment_bytes = 1ULL << 30U;
  static constexpr std::uint64_t default_bytes = 1ULL << 40U;

  /// Reserves `largest_bytes`, or half of it and so on where the process has a limit. out_of_host_memory: not
  /// even 64 MiB.
  static Result<std::unique_ptr<AddressWindow>> reserve(std::uint64_t largest_bytes = default_bytes);

  /// `bytes` > 0; `alignment` a power of two up to max_alignment_bytes; the range is 4 KiB aligned at least,
  /// and 2 MiB from 2 MiB on. out_of_host_memory: no room and no further window to be had.
  Result<AddressRange> take(std::uint64_t bytes, std::uint64_t alignment);
  /// Exactly `bytes`, a multiple of 4 KiB, and at `wanted` if it is not 0. Does not grow the window. Empty:
  /// there is no such range.
  std::optional<AddressRange> take_exact(std::uint64_t bytes, std::uint64_t alignment, std::uintptr_t wanted);
  void release(const AddressRange& range) noexcept;

  /// Whether any byte of [`address`, `address` + `bytes`) is the window's. Wait-free.
  [[nodiscard]] bool overlaps(std::uintptr_t address, std::uint64_t bytes) const noexcept;

  /// Replaces whatever is mapped at the range by the bare reservation.
  static Status release_pages(std::uintptr_t base, std::uint64_t bytes);

 private:
  static constexpr unsigned max_windows = 64;
  AddressWindow() = default;
  Status grow(std::uint64_t wanted_bytes, std::uint64_t least_bytes) DATUM_REQUIRES(mutex_);
  Result<std::uintptr_t> take_large(std::uint64_t bytes, std::uint64_t alignment) DATUM_REQUIRES(mutex_);
  Result<BuddyBlock> take_block(unsigned order) DATUM_REQUIRES(mutex_);

  Mutex mutex_;
  RangeAllocator large_ DATUM_GUARDED_BY(mutex_);
  BuddyPages small_ DATUM_GUARDED_BY(mutex_);
  std::vector<std::uintptr_t> slab_bases_ DATUM_GUARDED_BY(mutex_);
  std::uint32_t spare_slab_ DATUM_GUARDED_BY(mutex_) =
      AddressRange::no_slab;  ///< a wholly free one is kept, so that taking and
                              ///< giving back does not add and remove it
  std::vector<Mapping> windows_ DATUM_GUARDED_BY(mutex_);

  struct Extent {
    std::atomic<std::uintptr_t> first{0};
    std::atomic<std::uintptr_t> end{0};
  };

  std::array<Extent, max_windows> extents_{};
  std::atomic<unsigned> extent_count_{0};
};

}  // namespace datum
