// What the board and its driver do, held against the triggers of a waveform.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <datum/hw/registers.hpp>

#include "sim/board/waveform_options.hpp"
#include "sim/host/host_watch.hpp"

namespace datum::sim {

/// Knows only what crosses the board's ports, so that it holds for any RTL.
class WaveformTriggerWatch final : public HostWatch {
 public:
  /// `fire` is called whenever one of the triggers comes.
  WaveformTriggerWatch(const std::vector<WaveformTrigger>& triggers, std::function<void()> fire)
      : triggers_(triggers), fire_(std::move(fire)) {}

  /// Rings of this board: the vector behind theirs tells of faults.
  void set_rings(unsigned rings) noexcept { rings_ = rings; }

  /// Before the board gets the write. `bytes` is 4 or 8.
  void saw_write(std::uint32_t offset, std::uint64_t value, unsigned bytes);
  void saw_read(std::uint64_t iova, std::span<const std::byte> data) noexcept override;
  void saw_message(unsigned vector) noexcept override;

  /// Whether one of the triggers is of this kind.
  [[nodiscard]] bool waits_for(WaveformTrigger::Kind kind) const noexcept;

 private:
  struct Ring {
    std::uint64_t base = 0;
    std::uint32_t size_log2 = 0;
  };

  void learn_ring(std::uint32_t offset, std::uint64_t value, unsigned bytes) noexcept;
  [[nodiscard]] bool is_awaited(unsigned ring, std::uint32_t number) const noexcept;

  const std::vector<WaveformTrigger>& triggers_;
  std::function<void()> fire_;
  unsigned rings_ = hw::ring_page_block_count;
  std::array<Ring, hw::ring_page_block_count> ring_{};
};

}  // namespace datum::sim
