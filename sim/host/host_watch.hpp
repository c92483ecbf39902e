// Who looks on at what the board does to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace datum::sim {

/// Under the board's turn.
class HostWatch {
 public:
  HostWatch() = default;
  virtual ~HostWatch() = default;
  HostWatch(const HostWatch&) = delete;
  HostWatch& operator=(const HostWatch&) = delete;

  /// The board has read `data`, which may be less than it asked for.
  virtual void saw_read(std::uint64_t iova, std::span<const std::byte> data) noexcept = 0;
  /// An interrupt message came.
  virtual void saw_message(unsigned vector) noexcept = 0;
};

}  // namespace datum::sim
