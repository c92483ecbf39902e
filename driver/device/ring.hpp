// One hardware ring: slots, doorbell, completion record.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>
#include <datum/base/zeroed_array.hpp>
#include <datum/hw/registers.hpp>

#include "driver/device/faults.hpp"

namespace datum {

class Board;

/// Memory that a ring works in, owned by the caller, alive while the ring is.
struct RingMemory {
  hw::Descriptor* slots = nullptr;  ///< 2^size_log2 of them, 4 KiB aligned
  Iova slots_iova{};
  std::uint64_t* record = nullptr;  ///< 8 words, 64-byte aligned; the board writes them
  Iova record_iova{};
  unsigned size_log2 = 0;
};

/// The spaces that a ring's descriptors may name.
class SpaceSet {
 public:
  static constexpr unsigned capacity = 4;

  [[nodiscard]] bool contains(unsigned space) const noexcept;
  /// False: no room.
  bool add(unsigned space) noexcept;
  /// As RING_SPACES holds it.
  [[nodiscard]] std::uint64_t packed() const noexcept;

 private:
  std::array<std::uint16_t, capacity> spaces_{};
  unsigned count_ = 0;
};

/// A slot's number in a ring's life counts up from 1 at each start; the board's sequence numbers are these.
/// Not thread safe: the owner locks.
class Ring {
 public:
  /// `index` < ring_count of the board. No access to the board yet.
  Ring(Board& board, unsigned index, const RingMemory& memory);

  [[nodiscard]] unsigned index() const noexcept { return index_; }

  [[nodiscard]] unsigned size() const noexcept { return 1U << memory_.size_log2; }

  [[nodiscard]] bool running() const noexcept { return running_; }

  [[nodiscard]] const SpaceSet& spaces() const noexcept { return spaces_; }

  /// Configures and enables the ring, empty. device_lost.
  Status start(const SpaceSet& spaces);
  /// Returns when no access of the ring is outstanding. What had not begun is forgotten. device_lost.
  Status stop();

  /// After stop(): what is in the slots is no longer outstanding.
  void forget() noexcept { completed_ = rung_ = filled_; }

  /// The board has forgotten the ring; it has to be started anew.
  void board_was_reset() noexcept {
    running_ = false;
    forget();
  }

  /// Slots that may be filled now.
  [[nodiscard]] unsigned free_slots() const noexcept { return size() - (filled_ - completed_); }

  /// Fills the next slot; free_slots() > 0. Returns its number.
  std::uint32_t put(const hw::Descriptor& descriptor) noexcept;
  /// Makes what was put visible to the board.
  void ring_doorbell() noexcept;
  void kick() noexcept;

  [[nodiscard]] std::uint32_t filled() const noexcept { return filled_; }  ///< number of the last slot put

  [[nodiscard]] std::uint32_t completed() const noexcept {
    return completed_;
  }  ///< all up to this one have ended well

  /// As it was put: the board can write the slots themselves, so nothing that the host follows is read there.
  [[nodiscard]] const hw::Descriptor& slot(std::uint32_t number) const noexcept {
    return kept_[(number - 1) & (size() - 1)];
  }

  /// Reads the completion record and moves completed() on. A fault: the ring stopped, or the board talks
  /// nonsense. Costs one memory read when nothing is new.
  [[nodiscard]] std::optional<RingFault> poll();
  /// The same from the registers: a fault whose record could not be written shows only here.
  [[nodiscard]] std::optional<RingFault> poll_registers();

 private:
  /// Writes the registers and waits. device_lost: it does not stop.
  Status disable();
  [[nodiscard]] RingFault read_fault(hw::Status status, hw::FaultReason reason) const;
  [[nodiscard]] static RingFault contradiction(std::string sentence);

  Board& board_;
  unsigned index_;
  RingMemory memory_;
  ZeroedArray<hw::Descriptor> kept_;
  SpaceSet spaces_;
  bool running_ = false;
  bool faulted_ = false;
  std::uint32_t filled_ = 0;
  std::uint32_t rung_ = 0;
  std::uint32_t completed_ = 0;
  std::uint64_t last_record_ = 0;
};

}  // namespace datum
