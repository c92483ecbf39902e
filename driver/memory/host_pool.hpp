// Host memory that boards may reach: pieces over memfds inside the address window, each mapped for a board
// once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "driver/memory/address_window.hpp"
#include "driver/memory/brief_mutex.hpp"
#include "driver/memory/buddy_pages.hpp"

namespace datum {

class DmaMap;

/// One mapping of a memfd at a range of the window, and the addresses at which boards see it. Unmaps
/// everywhere when it is destroyed. Any thread may map it for boards and ask for addresses; its file is for
/// one thread at a time, unless said otherwise.
class HostPiece {
 public:
  /// `bytes` is a multiple of 4 KiB. Contents are zero. The file stays open until close_file, to be mapped
  /// for boards and at further places; a `shareable` one may be taken (take_file) and given to other
  /// processes. out_of_host_memory.
  static Result<std::unique_ptr<HostPiece>> create(AddressWindow& window, std::uint64_t bytes,
                                                   std::uint64_t alignment, bool shareable = false);
  /// The first `bytes` of a file that somebody else made, and that nobody can cut short.
  static Result<std::unique_ptr<HostPiece>> adopt(AddressWindow& window, std::uint64_t bytes, UniqueFd file);
  ~HostPiece();
  HostPiece(const HostPiece&) = delete;
  HostPiece& operator=(const HostPiece&) = delete;

  /// Makes the piece visible to the board of `dma` if it is not; only then it may wait, for the kernel and
  /// for others that map the piece. out_of_host_memory with limit and cure.
  Status map_for(DmaMap& dma);
  /// For each in turn, until one refuses.
  Status map_for_all(std::span<DmaMap* const> maps);

  /// Boards that are added later see the piece by its addresses: a descriptor for each piece would be too
  /// many.
  void close_file() noexcept { file_ = UniqueFd(); }

  /// The board is about to go.
  void unmap_for(DmaMap& dma) noexcept;

  /// Boards that see the piece. Waits for those that are about to see it.
  [[nodiscard]] std::size_t board_count() noexcept;

  [[nodiscard]] bool has_file() const noexcept { return shareable_ && file_.valid(); }

  /// The file of the piece (make_shared_file), once; whoever has it may share the piece.
  [[nodiscard]] UniqueFd take_file() noexcept { return std::move(file_); }

  [[nodiscard]] std::byte* host() const noexcept { return host_; }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// Owned by the piece, its byte 0 is the piece's first; -1 after close_file.
  [[nodiscard]] int file() const noexcept { return file_.get(); }

  /// `dma` is one for which it was mapped.
  [[nodiscard]] Iova iova(const DmaMap& dma) const noexcept;

 private:
  struct BoardMapping {
    DmaMap* dma = nullptr;
    Iova iova{};
  };

  explicit HostPiece(AddressWindow& window) : window_(window) {}

  [[nodiscard]] bool is_mapped_for(const DmaMap& dma) const noexcept;
  Status build(std::uint64_t bytes, std::uint64_t alignment, bool shareable);
  Status place(std::uint64_t bytes, std::uint64_t alignment);
  Status map();

  AddressWindow& window_;
  AddressRange range_{};
  bool reserved_ = false;
  bool mapped_ = false;
  std::byte* host_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool shareable_ = false;
  UniqueFd file_;        ///< until it is closed: the piece's bytes, cannot shrink
  Mutex mapping_mutex_;  ///< held while the kernel maps the piece for a board
  mutable BriefMutex boards_mutex_;
  std::vector<BoardMapping> boards_ DATUM_GUARDED_BY(boards_mutex_);
};

/// Pages out of a pool. A plain token: given back by hand, exactly once.
struct HostPages {
  HostPiece* piece = nullptr;
  std::byte* host = nullptr;
  std::uint64_t bytes = 0;
  BuddyBlock block{};
  bool whole_piece = false;
  bool unused_before = false;  ///< nobody had them since the kernel gave them: all zero

  /// `dma` is one of those that the pages were taken for.
  [[nodiscard]] Iova iova(const DmaMap& dma) const noexcept {
    return piece->iova(dma) + static_cast<std::uint64_t>(host - piece->host());
  }
};

/// Up to 1 MiB out of shared pieces of 2 MiB, so that little lockable memory goes far; above, a piece of its
/// own. Kernel calls only when a piece comes or goes. Thread safe. While the kernel maps a shared piece, who
/// finds pages in another one goes on, and so does who gives pages back; who needs a new one waits for this.
class HostPool {
 public:
  static constexpr std::uint64_t piece_bytes = large_page_bytes;
  /// Stands for the driver's own use among the numbers of contexts, which begin at 1.
  static constexpr std::uint32_t owner_driver = ~0U;

  explicit HostPool(AddressWindow& window) : window_(window) {}

  HostPool(const HostPool&) = delete;
  HostPool& operator=(const HostPool&) = delete;
  ~HostPool() = default;

  /// Whole pages of at least `bytes` > 0, reachable for the board of each of `maps`. `alignment` is a power
  /// of two up to AddressWindow::max_alignment_bytes. out_of_host_memory: the message names the limit.
  /// A page reads as zero, or as what `owner` left in it: nothing of another owner's is ever seen.
  Result<HostPages> take(std::uint64_t bytes, std::uint64_t alignment, std::span<DmaMap* const> maps,
                         std::uint32_t owner = owner_driver);
  /// No board may be able to reach the pages any longer; the boards that see them outlive the call.
  void release(const HostPages& pages) noexcept;
  /// The file that holds exactly `pages`, of which nobody else has a descriptor; empty: they share one with
  /// others, or it was not kept. To be taken once.
  UniqueFd take_file(const HostPages& pages) noexcept;
  /// Boards that see the piece which `pages` are of.
  [[nodiscard]] std::size_t board_count(const HostPages& pages) noexcept;
  /// Unmaps every piece for a board that is about to go.
  void forget_board(DmaMap& dma) noexcept;

 private:
  using PageOwners = std::array<std::uint32_t, BuddyPages::slab_pages>;
  static constexpr std::uint32_t owner_nobody = 0;

  Result<HostPages> take_small(std::uint64_t whole, std::uint64_t alignment, std::span<DmaMap* const> maps,
                               std::uint32_t owner);
  Result<HostPages> take_large(std::uint64_t whole, std::uint64_t alignment, std::span<DmaMap* const> maps);
  Result<HostPages> take_block(unsigned order, std::uint32_t owner, std::span<DmaMap* const> maps);
  Result<HostPages> take_from_new_slab(unsigned order, std::uint32_t owner, std::span<DmaMap* const> maps)
      DATUM_REQUIRES(growing_mutex_);
  [[nodiscard]] std::optional<HostPages> take_free_block(unsigned order, std::uint32_t owner) noexcept
      DATUM_REQUIRES(mutex_);
  void add_slab(std::unique_ptr<HostPiece> piece) DATUM_REQUIRES(mutex_);
  [[nodiscard]] bool hand_over(const BuddyBlock& block, std::uint32_t owner) noexcept DATUM_REQUIRES(mutex_);
  [[nodiscard]] std::unique_ptr<HostPiece> release_block(const HostPages& pages) noexcept;
  [[nodiscard]] bool may_keep_file() const noexcept DATUM_REQUIRES(mutex_);

  AddressWindow& window_;
  Mutex growing_mutex_;  ///< before mutex_: held while a slab is made, its mapping for boards included
  Mutex mutex_;          ///< of all below; no mapping is made under it
  BuddyPages blocks_ DATUM_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<HostPiece>> slabs_ DATUM_GUARDED_BY(mutex_);  ///< by slab number of `blocks_`
  std::vector<std::unique_ptr<HostPiece>> large_ DATUM_GUARDED_BY(mutex_);
  std::size_t kept_files_ DATUM_GUARDED_BY(mutex_) = 0;
  std::uint32_t spare_slab_ DATUM_GUARDED_BY(mutex_) = AddressRange::no_slab;
  std::vector<std::unique_ptr<PageOwners>>
      owners_ DATUM_GUARDED_BY(mutex_);  ///< by slab: whose bytes each page holds
};

}  // namespace datum
