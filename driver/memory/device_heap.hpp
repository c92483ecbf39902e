// The pages of one memory of a board: which are free, and whose data they hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>
#include <datum/base/zeroed_array.hpp>

#include "driver/memory/brief_mutex.hpp"
#include "driver/memory/page_run.hpp"

namespace datum {

/// Exact to the page: what is not handed out can be had, contiguous or not. Single pages in constant time.
/// Knows no virtual addresses and touches no hardware. Thread safe.
///
/// The memory is kept in blocks of 2 MiB. A block is wholly free, wholly taken, or split into pages. Blocks
/// below `fixed_bytes` are where page tables must live, so applications get them last.
class DeviceHeap {
 public:
  struct Options {
    std::uint32_t ordinal = 0;
    std::uint64_t bytes = 0;        ///< of the memory; a last part of a page is not used
    std::uint64_t fixed_bytes = 0;  ///< of it that the fixed aperture shows, from 0; tables only fit there
    bool clean = false;             ///< the board says that the memory read as zero at power-on
    std::uint64_t table_reserve_bytes =
        0;  ///< kept for page tables inside the fixed part: allocate does not hand it out
  };

  explicit DeviceHeap(const Options& options);

  /// Pages of at least `bytes` > 0 bytes in all; 2 MiB pages first when there are so many bytes.
  /// out_of_device_memory: fewer are free; nothing was taken.
  Result<std::vector<PageRun>> allocate(std::uint64_t bytes);
  void free(std::span<const PageRun> runs) noexcept;

  /// One page inside the fixed part. out_of_device_memory.
  Result<DeviceAddress> allocate_table();
  void free_table(DeviceAddress page) noexcept;

  /// Contexts have numbers; the pages of `runs` hold data of `owner` from now on.
  void set_owner(std::span<const PageRun> runs, std::uint32_t owner) noexcept;
  /// The parts of `runs` that hold data of somebody else than `owner`: these are to be cleared before `owner`
  /// may read them.
  [[nodiscard]] std::vector<PageRun> foreign_parts(std::span<const PageRun> runs, std::uint32_t owner) const;

  /// Nobody knows what is in pages that are handed out from now on: the board was reset.
  void forget_contents() noexcept;

  [[nodiscard]] std::uint32_t ordinal() const noexcept { return ordinal_; }

  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return pages_ * small_page_bytes; }

  /// What `allocate` could hand out now, pages in quarantine not counted.
  [[nodiscard]] std::uint64_t free_bytes() const noexcept;

  /// The pages of `runs`, still taken, come back as soon as the board says that it forgot them; end_wait
  /// after they did.
  void begin_wait(std::span<const PageRun> runs) noexcept;
  void end_wait(std::span<const PageRun> runs) noexcept;
  /// What can be had now, if need be after asking the board: free_bytes and what waits for its word.
  [[nodiscard]] std::uint64_t available_bytes() const noexcept;

  /// What `allocate` could hand out at most.
  [[nodiscard]] std::uint64_t usable_bytes() const noexcept {
    return total_bytes() - (table_reserve_pages_ + unused_pages_) * small_page_bytes;
  }

 private:
  static constexpr std::uint32_t none = ~0U;
  static constexpr unsigned block_pages = 512;
  static constexpr unsigned words_per_block = block_pages / 64;
  static constexpr std::uint32_t owner_driver = ~0U;

  struct Block {
    std::uint32_t next = none;  ///< of the zone's partly free blocks
    std::uint32_t previous = none;
    std::uint16_t free_pages = 0;
  };

  /// Blocks [first, end), and where to look for free ones.
  struct Zone {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    std::uint32_t first_partial = none;
    std::uint32_t search_from = 0;  ///< no wholly free block lies before it
    std::uint64_t free_pages = 0;
  };

  [[nodiscard]] Zone& zone_of(std::uint32_t block) noexcept DATUM_REQUIRES(mutex_) {
    return block < low_.end ? low_ : high_;
  }

  [[nodiscard]] std::uint32_t pages_in(std::uint32_t block) const noexcept;
  [[nodiscard]] std::uint64_t low_pages_for_allocation() const noexcept DATUM_REQUIRES(mutex_);
  [[nodiscard]] std::uint64_t free_pages_for_allocation() const noexcept DATUM_REQUIRES(mutex_);
  void link_partial(std::uint32_t block) noexcept DATUM_REQUIRES(mutex_);
  void unlink_partial(std::uint32_t block) noexcept DATUM_REQUIRES(mutex_);
  void set_free_pages(std::uint32_t block, std::uint32_t count) noexcept DATUM_REQUIRES(mutex_);
  [[nodiscard]] std::uint32_t find_free_block(Zone& zone) noexcept DATUM_REQUIRES(mutex_);
  [[nodiscard]] std::uint32_t block_with_free_page(Zone& zone) noexcept DATUM_REQUIRES(mutex_);

  /// Neighbouring free pages of a block that has some.
  struct Neighbours {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
  };

  [[nodiscard]] Neighbours take_neighbours(std::uint32_t block, std::uint64_t most) noexcept
      DATUM_REQUIRES(mutex_);
  std::uint64_t take_blocks(Zone& zone, std::uint64_t count, std::vector<PageRun>& runs)
      DATUM_REQUIRES(mutex_);
  std::uint64_t take_pages(Zone& zone, std::uint64_t count, std::vector<PageRun>& runs)
      DATUM_REQUIRES(mutex_);
  void append(std::vector<PageRun>& runs, std::uint64_t offset_bytes, std::uint64_t bytes) const;
  void release_run(std::uint64_t first_page, std::uint64_t count) noexcept DATUM_REQUIRES(mutex_);

  std::uint32_t ordinal_;
  std::uint64_t pages_;
  bool clean_;
  std::uint64_t table_reserve_pages_;
  std::uint64_t unused_pages_ = 0;  ///< between a fixed part below 2 MiB and the end of its block
  mutable BriefMutex mutex_;
  std::uint64_t table_pages_ DATUM_GUARDED_BY(mutex_) = 0;
  std::uint64_t waiting_bytes_ DATUM_GUARDED_BY(mutex_) = 0;
  Zone low_ DATUM_GUARDED_BY(mutex_);
  Zone high_ DATUM_GUARDED_BY(mutex_);
  std::vector<Block> blocks_ DATUM_GUARDED_BY(mutex_);
  ZeroedArray<std::uint64_t> used_ DATUM_GUARDED_BY(mutex_);  ///< a bit a page
  std::vector<bool> block_has_owner_ DATUM_GUARDED_BY(mutex_);
  ZeroedArray<std::uint32_t> owners_ DATUM_GUARDED_BY(mutex_);  ///< one a page
};

}  // namespace datum
