// Maintenance of the board's MMU: spaces, roots, table memory, invalidation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum {

class Board;

/// Thread safe. Page tables themselves are built in driver/memory/address_space.hpp; this only brings them to
/// the board.
class Mmu {
 public:
  /// `space_count` and `aperture_fixed_bytes` as the board reported them.
  Mmu(Board& board, board::Bar& registers, board::Bar& aperture, unsigned space_count,
      std::uint64_t aperture_fixed_bytes);

  /// A space number that nobody uses; space 0 is never given out here (the driver's own, see
  /// driver/object/device.hpp). out_of_device_memory when all are taken.
  Result<unsigned> acquire_space();
  /// The space's root must have been cleared.
  void release_space(unsigned space);

  /// Writes table entries through the fixed aperture. `at` must be an ordinal-0 address inside the fixed
  /// part.
  Status write_entries(DeviceAddress at, std::span<const std::uint64_t> entries);
  /// Returns when every write_entries before it has arrived (a read back flushes posted writes).
  Status flush_writes();

  /// `root` is ordinal 0. Invalidates the space.
  Status set_root(unsigned space, DeviceAddress root);
  Status clear_root(unsigned space);

  /// Returns when no TLB holds the range and every access that used it was answered. `bytes` 0: the whole
  /// space. device_lost when the board does not answer within its bound.
  Status invalidate(unsigned space, DeviceVa first, std::uint64_t bytes);

 private:
  Board& board_;
  board::Bar& registers_;
  board::Bar& aperture_;
  std::uint64_t aperture_fixed_bytes_;
  Mutex spaces_mutex_;
  std::vector<bool> space_used_ DATUM_GUARDED_BY(spaces_mutex_);
  Mutex invalidation_mutex_;  ///< the board takes one at a time
};

}  // namespace datum
