// What makes pages interchangeable.
#pragma once

#include <cstdint>

#include "driver/memory/page_rights.hpp"

namespace datum {

/// What makes two allocations of one page interchangeable within a context.
struct PageKind {
  static constexpr std::uint8_t in_host = 0xff;

  std::uint8_t board = in_host;  ///< whose memory: index among the context's devices
  std::uint8_t ordinal = 0;
  PageRights rights;

  bool operator==(const PageKind&) const noexcept = default;
};

}  // namespace datum
