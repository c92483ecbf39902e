// Finds a board that answers but does not finish what it was given.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "driver/device/limits.hpp"

namespace datum {

class Board;
struct LentRing;

/// How far one ring with work outstanding has come.
struct RingProgress {
  unsigned ring = 0;
  std::uint32_t head = 0;
  std::uint32_t completed = 0;
  bool parked = false;            ///< at a wait: may stay there for ever
  std::uint64_t begun_bytes = 0;  ///< of the descriptors that may have begun and are not known to have ended
};

/// In a fixed place: whoever waits looks now and then, also when the heap is used up.
struct WorkingRings {
  std::array<LentRing*, limits::max_rings> first{};
  std::size_t count = 0;
};

/// One look at a board.
struct BoardProgress {
  std::span<const RingProgress> rings;  ///< those with work outstanding
  std::uint64_t beats = 0;              ///< data moved so far, in beats of bus_beat_bytes
  std::uint64_t board_ns = 0;           ///< the seam's clock
  std::uint64_t host_ns = 0;
  unsigned wait_scale = 1;
};

/// A ring is stuck when it neither parks nor begins or ends anything for a time in which its descriptors
/// could have been done many times over: short where the whole board moves no data, else by their size and
/// the number of rings that share the board. A board that crawls, but moves data, has the time until it has
/// moved that work many times over. Time in which nobody looked counts for little, so that a process or
/// simulation that was stopped for a while is no hang. Not thread safe.
class HangCheck {
 public:
  /// The first ring that is stuck.
  std::optional<unsigned> find_stuck(const BoardProgress& now);

  /// Asks the registers of `board` about rings with work outstanding. Why the board is as good as lost, or
  /// nothing.
  std::optional<std::string> look(Board& board, const WorkingRings& rings);

 private:
  struct Seen {
    std::uint32_t head = 0;
    std::uint32_t completed = 0;
    bool known = false;
    std::uint64_t still_ns = 0;      ///< of the seam's clock without progress of the ring
    std::uint64_t moved_bytes = 0;   ///< by the whole board in that time
    std::uint64_t dead_ns = 0;       ///< and without data moved by the board
    std::uint64_t dead_host_ns = 0;  ///< the same in host time
  };

  std::array<Seen, limits::max_rings> seen_{};  ///< by ring
  std::uint64_t last_beats_ = 0;
  std::uint64_t last_board_ns_ = 0;
  std::uint64_t last_host_ns_ = 0;
};

}  // namespace datum
