// System memory (malloc, stack, file mappings) that commands in flight may touch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum {

class AddressSpace;
class DmaMap;

/// The pins of one address space. Pages are pinned whole, each at most once whoever asks for it, and appear
/// in the space at the address that the application uses. Thread safe; calls wait for the board, and for the
/// kernel over their own pages, but not over others.
class PinCache {
 public:
  /// Both outlive it.
  PinCache(AddressSpace& space, DmaMap& dma);

  ~PinCache();
  PinCache(const PinCache&) = delete;
  PinCache& operator=(const PinCache&) = delete;

  /// Whether the process itself may access the range that way; pins nothing. Errors are those of pin.
  [[nodiscard]] static Status check(const void* pointer, std::uint64_t bytes, board::DmaAccess access);
  /// Makes the pages of [`pointer`, +`bytes`) reachable, at least with `access`, and returns a token for
  /// unpin. `bytes` > 0. The range must stay mapped until unpin. invalid_argument: nothing is mapped there,
  /// or not with that access. out_of_host_memory: limits of the system; nothing is pinned then. Leaves carry
  /// `cache_policy` (PageRights); pages that were pinned before keep theirs.
  Result<std::uint64_t> pin(const void* pointer, std::uint64_t bytes, board::DmaAccess access,
                            std::uint8_t cache_policy = 0);
  /// The same for reading only, and no pin of the pages gets more while this one holds them. not_available:
  /// commands in flight write there.
  Result<std::uint64_t> pin_read_only(const void* pointer, std::uint64_t bytes,
                                      std::uint8_t cache_policy = 0);
  /// Returns when the board can no longer reach what no other pin holds.
  void unpin(std::uint64_t token) noexcept;

  /// Whether copies are to pin what they use; else they go through memory of the driver's (DATUM_PINNING).
  [[nodiscard]] bool serves_copies() const noexcept { return serves_copies_; }

  /// Pages that are pinned now.
  [[nodiscard]] std::uint64_t pinned_bytes();

 private:
  /// Pages that were pinned together. Segments never overlap and are never split: a pin holds all that it
  /// touches.
  struct Segment {
    std::uint64_t bytes = 0;
    Iova iova{};
    board::DmaAccess access = board::DmaAccess::read;
    std::uint64_t pins = 0;
    std::uint64_t read_only_pins = 0;  ///< of them; while there are any the access stays as it is
    std::uint8_t cache_policy = 0;
    bool under_way = false;  ///< the kernel is at it; it is nobody else's until that is over
  };

  struct Hold {
    std::vector<std::uint64_t> firsts;  ///< of the segments that a token holds
    bool read_only = false;
  };

  /// How a caller wants to reach pages.
  struct Wish {
    board::DmaAccess access = board::DmaAccess::read;
    bool read_only = false;  ///< and nobody is to reach them otherwise
    std::uint8_t cache_policy = 0;
  };

  struct Pages {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };

  using Segments = std::map<std::uint64_t, Segment>;  ///< by first address

  Result<std::uint64_t> pin_as(const void* pointer, std::uint64_t bytes, Wish wish);
  Result<std::vector<std::uint64_t>> hold(Pages pages, Wish wish) DATUM_REQUIRES(mutex_);
  Status keep_read_only(const std::vector<std::uint64_t>& firsts) DATUM_REQUIRES(mutex_);
  template <class Work>
  Status work_on(Segment& segment, const Work& work) DATUM_REQUIRES(mutex_);
  Status add_segment(Pages pages, Wish wish) DATUM_REQUIRES(mutex_);
  Result<Iova> map_pages(std::uint64_t first, std::uint64_t bytes, board::DmaAccess access);
  Status map_segment(Pages pages, Wish wish, Iova& iova);
  Status widen_access(std::uint64_t first, Segment& segment) DATUM_REQUIRES(mutex_);
  Status map_for_writing(std::uint64_t first, Segment& segment);
  void let_go(const std::vector<std::uint64_t>& firsts) noexcept DATUM_REQUIRES(mutex_);

  AddressSpace& space_;
  DmaMap& dma_;
  bool serves_copies_;
  Mutex mutex_;
  ConditionVariable settled_;  ///< a segment is no longer under way
  Segments segments_ DATUM_GUARDED_BY(mutex_);
  std::uint64_t next_token_ DATUM_GUARDED_BY(mutex_) = 1;
  std::map<std::uint64_t, Hold> holds_ DATUM_GUARDED_BY(mutex_);  ///< by token
};

}  // namespace datum
