// What an application chose when it created a queue or an immediate list.
#pragma once

#include <cstdint>

namespace datum {

/// Which of several queues that want a ring gets it first; the API's numbers are in another order.
enum class QueueRank : std::uint8_t { high, normal, low };

/// The API's numbers, checked before they get here.
struct QueueSettings {
  std::uint32_t ordinal = 0;
  std::uint32_t index = 0;
  std::uint32_t flags = 0;
  std::uint32_t mode = 0;
  std::uint32_t priority = 0;
  bool synchronous = false;
  bool in_order = false;

  [[nodiscard]] QueueRank rank() const noexcept {
    return priority == 2 ? QueueRank::high : priority == 1 ? QueueRank::low : QueueRank::normal;
  }
};

}  // namespace datum
