// What an application chose when it created a queue or an immediate list.
#pragma once

#include <cstdint>

namespace datum {

/// The API's numbers, checked before they get here.
struct QueueSettings {
  std::uint32_t ordinal = 0;
  std::uint32_t index = 0;
  std::uint32_t flags = 0;
  std::uint32_t mode = 0;
  std::uint32_t priority = 0;
  bool synchronous = false;
  bool in_order = false;
};

}  // namespace datum
