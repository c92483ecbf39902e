// System memory (malloc, stack, file mappings) that commands in flight may touch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum {

class AddressSpace;
class DmaMap;

/// The pins of one address space. Pages are pinned whole, each at most once whoever asks for it, and appear
/// in the space at the address that the application uses. Thread safe; calls wait for the board.
class PinCache {
 public:
  /// Both outlive it.
  PinCache(AddressSpace& space, DmaMap& dma) : space_(space), dma_(dma) {}

  ~PinCache();
  PinCache(const PinCache&) = delete;
  PinCache& operator=(const PinCache&) = delete;

  /// Makes the pages of [`pointer`, +`bytes`) reachable, at least with `access`, and returns a token for
  /// unpin. `bytes` > 0. The range must stay mapped until unpin. invalid_argument: nothing is mapped there,
  /// or not with that access. out_of_host_memory: limits of the system; nothing is pinned then.
  Result<std::uint64_t> pin(const void* pointer, std::uint64_t bytes, board::DmaAccess access);
  /// The same for reading only, and no pin of the pages gets more while this one holds them. not_available:
  /// commands in flight write there.
  Result<std::uint64_t> pin_read_only(const void* pointer, std::uint64_t bytes);
  /// Returns when the board can no longer reach what no other pin holds.
  void unpin(std::uint64_t token) noexcept;

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
  };

  struct Hold {
    std::vector<std::uint64_t> firsts;  ///< of the segments that a token holds
    bool read_only = false;
  };

  struct Pages {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };

  using Segments = std::map<std::uint64_t, Segment>;  ///< by first address

  Result<std::uint64_t> pin_as(const void* pointer, std::uint64_t bytes, board::DmaAccess access,
                               bool read_only);
  Result<std::vector<std::uint64_t>> hold(Pages pages, board::DmaAccess access);
  Status keep_read_only(const std::vector<std::uint64_t>& firsts);
  Status add_segment(Pages pages, board::DmaAccess access);
  Status widen_access(std::uint64_t first, Segment& segment);
  void let_go(const std::vector<std::uint64_t>& firsts) noexcept;

  AddressSpace& space_;
  DmaMap& dma_;
  std::mutex mutex_;
  Segments segments_;
  std::uint64_t next_token_ = 1;
  std::map<std::uint64_t, Hold> holds_;  ///< by token
};

}  // namespace datum
