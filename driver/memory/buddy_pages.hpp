// Blocks of 1, 2, 4 ... 512 pages inside slabs of 512 pages (2 MiB): the small sizes of every address
// allocator.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace datum {

/// A block of 2^order pages; `page` is a multiple of its size.
struct BuddyBlock {
  std::uint32_t slab = 0;
  std::uint16_t page = 0;
  std::uint8_t order = 0;
};

/// Constant time but for splitting and merging, at most nine steps each. Knows nothing of addresses: slabs
/// are numbers. Not thread safe.
class BuddyPages {
 public:
  static constexpr unsigned slab_pages = 512;
  static constexpr unsigned slab_order = 9;

  /// A slab of free pages. Numbers of removed slabs are used again.
  std::uint32_t add_slab();
  /// Every page of it must be free.
  void remove_slab(std::uint32_t slab) noexcept;

  /// Empty: no slab has a free block of that size; add one.
  std::optional<BuddyBlock> take(unsigned order) noexcept;
  /// Returns whether the block's slab is wholly free now.
  bool release(const BuddyBlock& block) noexcept;

 private:
  static constexpr std::uint32_t none = ~0U;
  static constexpr std::uint8_t not_a_free_head = 0xff;

  struct Slab {
    std::array<std::uint8_t, slab_pages>
        free_order{};  ///< of the free block that begins here, or not_a_free_head
    std::array<std::uint32_t, slab_pages> next{};
    std::array<std::uint32_t, slab_pages> previous{};
  };

  [[nodiscard]] static std::uint32_t key(std::uint32_t slab, std::uint32_t page) noexcept {
    return slab * slab_pages + page;
  }

  [[nodiscard]] Slab& slab_of(std::uint32_t block) noexcept { return *slabs_[block / slab_pages]; }

  void push(std::uint32_t block, unsigned order) noexcept;
  void unlink(std::uint32_t block, unsigned order) noexcept;

  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<std::uint32_t> unused_numbers_;
  std::array<std::uint32_t, slab_order + 1> first_free_{none, none, none, none, none,
                                                        none, none, none, none, none};
};

/// The order of the smallest block that holds `bytes` (at most 2 MiB) and is aligned to `alignment` (a power
/// of two, at most 2 MiB).
[[nodiscard]] unsigned buddy_order(std::uint64_t bytes, std::uint64_t alignment) noexcept;

}  // namespace datum
