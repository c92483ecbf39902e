// How boards may use pages, and how they are to cache them.
#pragma once

#include <cstdint>

namespace datum {

struct PageRights {
  bool writable = true;
  /// The bias that the application asked for: bits of ze_host_mem_alloc_flags_t, 1 cached, 2 uncached, 4
  /// write-combined. Leaves of page tables carry it; no board of today does otherwise for it.
  std::uint8_t cache_policy = 0;

  friend constexpr bool operator==(const PageRights&, const PageRights&) = default;
};

}  // namespace datum
