// The golden model's way to bytes, on the board and on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <datum/base/zeroed_array.hpp>

#include "sim/host/host_bus.hpp"
#include "sim/memory/dram_array.hpp"
#include "sim/model/counters.hpp"
#include "sim/model/ecc_unit.hpp"
#include "sim/model/physical.hpp"
#include "sim/model/word_watch.hpp"

namespace datum::sim {

enum class Side : std::uint8_t { none, read, write };

struct CopyOutcome {
  std::uint64_t bytes = 0;  ///< moved before the failure
  Side failed = Side::none;
};

/// Accesses move bytes until the first that is refused and return how many came through.
class MemoryPort {
 public:
  MemoryPort(DramArray& dram, EccUnit& ecc, HostBus& host, std::uint64_t onchip_bytes, Counters& counters,
             WordWatch& watch);

  [[nodiscard]] std::uint64_t dram_bytes() const noexcept { return dram_.size_bytes(); }

  [[nodiscard]] std::uint64_t onchip_bytes() const noexcept { return onchip_.size(); }

  [[nodiscard]] std::uint64_t read(Physical from, std::span<std::byte> to);
  [[nodiscard]] std::uint64_t write(Physical to, std::span<const std::byte> from);
  [[nodiscard]] CopyOutcome copy(Physical from, Physical to, std::uint64_t bytes);

  /// Which ring the next accesses belong to.
  void set_requester(unsigned ring) noexcept { host_.set_requester(ring); }

  /// The last access is under way on the host and must be made again.
  [[nodiscard]] bool pending() const noexcept { return host_.pending(); }

  void forget(unsigned ring) { host_.forget(ring); }

  [[nodiscard]] bool busy(unsigned ring) const { return host_.busy(ring); }

  /// The last access ended at a column that cannot be corrected.
  [[nodiscard]] bool uncorrectable() const noexcept { return uncorrectable_; }

  /// Memory of the board itself to be read, as much of it as lies in one piece and is right; empty where
  /// there is none.
  [[nodiscard]] std::span<const std::byte> readable(Physical first, std::uint64_t bytes);
  /// Memory of the board itself, all of which is about to be written, as much of it as lies in one piece;
  /// empty where there is none.
  [[nodiscard]] std::span<std::byte> writable(Physical first, std::uint64_t bytes);

 private:
  [[nodiscard]] std::span<std::byte> local(Physical first, std::uint64_t bytes) noexcept;
  void count(Target target, std::uint64_t bytes, Side side) noexcept;
  [[nodiscard]] CopyOutcome copy_piece(Physical from, Physical to, std::uint64_t bytes);
  [[nodiscard]] CopyOutcome bounce(Physical from, Physical to, std::uint64_t bytes);

  DramArray& dram_;
  EccUnit& ecc_;
  HostBus& host_;
  Counters& counters_;
  WordWatch& watch_;
  ZeroedArray<std::byte> onchip_;
  std::vector<std::byte> bounce_;
  bool uncorrectable_ = false;
};

}  // namespace datum::sim
