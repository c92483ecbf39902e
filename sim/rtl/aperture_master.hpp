// The host's side of BAR2: bursts of full beats, of which byte strobes select what is written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/rtl/board_pins.hpp"

namespace datum::sim {

class ApertureMaster {
 public:
  static constexpr std::size_t beat_bytes = 64;
  static constexpr std::size_t max_beats = 16;
  static constexpr std::size_t burst_bytes = beat_bytes * max_beats;

  explicit ApertureMaster(BoardPins& pins) noexcept : pins_(pins) {}

  void idle() noexcept;

  /// How much of an access at `offset` one burst takes: bursts stay inside 4 KiB.
  [[nodiscard]] static std::uint64_t piece(std::uint64_t offset, std::uint64_t bytes) noexcept;

  /// `to` or `from` is one piece, and stays where it is until `done`.
  void begin_read(std::uint64_t offset, std::span<std::byte> to) noexcept;
  void begin_write(std::uint64_t offset, std::span<const std::byte> from) noexcept;

  void sample() noexcept;
  void advance() noexcept;

  [[nodiscard]] bool done() const noexcept { return done_; }

 private:
  void drive_write_beat() noexcept;
  void take_read_beat() noexcept;

  /// Bytes of beat `beat` that the access covers: [first, last) of the lane, and where they stand in the
  /// access.
  struct Lane {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t at = 0;
  };

  [[nodiscard]] Lane lane(std::size_t beat) const noexcept;

  BoardPins& pins_;
  std::uint64_t offset_ = 0;
  std::span<std::byte> to_;
  std::span<const std::byte> from_;
  std::size_t bytes_ = 0;
  std::size_t beats_ = 0;
  std::size_t beat_ = 0;
  bool done_ = true;
  bool aw_ = false;
  bool w_ = false;
  bool ar_ = false;
  bool r_ = false;
  bool last_ = false;
  bool b_ = false;
};

}  // namespace datum::sim
