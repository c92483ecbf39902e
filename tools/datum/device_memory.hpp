// A board's own memory through its aperture, one piece after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

#include "tools/datum/open_board.hpp"

namespace datum::tool {

/// Memory beyond the fixed part is reached by moving the sliding window, which is put back at the end; the
/// driver does not use it. Not thread safe. The board outlives the object.
class DeviceMemory {
 public:
  /// device_lost: the board does not say how large its memories are.
  static Result<DeviceMemory> create(OpenBoard& board);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory& operator=(DeviceMemory&&) = delete;

  /// 0: there is no such memory.
  [[nodiscard]] std::uint64_t size_bytes(unsigned ordinal) const noexcept;

  /// invalid_argument: not inside the memory.
  Status read(DeviceAddress from, std::span<std::byte> to);
  Status write(DeviceAddress to, std::span<const std::byte> from);

 private:
  DeviceMemory(OpenBoard& board, std::uint64_t fixed_bytes, std::uint64_t window_bytes);

  /// Where in BAR2 `at` is, and how many bytes from there on are.
  struct Piece {
    std::uint64_t bar_offset = 0;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] Status check(DeviceAddress at, std::uint64_t bytes) const;
  [[nodiscard]] Piece reach(DeviceAddress at);

  OpenBoard* board_;
  std::uint64_t fixed_bytes_;
  std::uint64_t window_bytes_;
  std::optional<std::uint64_t> window_before_;  ///< of WINDOW_BASE, once it was moved
};

}  // namespace datum::tool
