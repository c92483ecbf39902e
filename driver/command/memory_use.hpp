// Whether commands touch a range of memory: asked when the range is to be freed.
#pragma once

#include <cstdint>
#include <memory>

#include <datum/base/address.hpp>
#include <datum/hw/registers.hpp>

namespace datum {

class Stream;

/// [va, va + bytes) of the address space of that number on one board.
struct UsedRange {
  unsigned space = 0;
  DeviceVa va{};
  std::uint64_t bytes = 0;
};

/// Whether the board reads or writes the range when it executes the descriptor. A region counts from its
/// first byte to its last one, its gaps included.
[[nodiscard]] bool touches(const hw::Descriptor& descriptor, const UsedRange& range) noexcept;

/// A stream whose outstanding work touches a range, and the position of the last item that does.
struct MemoryUse {
  std::shared_ptr<Stream> stream;
  std::uint64_t position = 0;
};

}  // namespace datum
