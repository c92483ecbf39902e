// What a page is to the boards that use it.
#pragma once

#include <cstdint>

namespace datum {

/// What boards may do with pages, as leaves of the page tables say it.
struct PageRights {
  bool writable = true;
  std::uint8_t cache_policy = 0;

  bool operator==(const PageRights&) const noexcept = default;
};

/// What makes two allocations of one page interchangeable within a context.
struct PageKind {
  static constexpr std::uint8_t in_host = 0xff;

  std::uint8_t board = in_host;  ///< whose memory: index among the context's devices
  std::uint8_t ordinal = 0;
  PageRights rights;

  bool operator==(const PageKind&) const noexcept = default;
};

}  // namespace datum
