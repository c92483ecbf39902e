// Whether the word that a WAIT_VALUE waits for lets it pass, as the host sees it.
#pragma once

#include <atomic>
#include <cstdint>

#include <datum/hw/registers.hpp>

namespace datum {

enum class Held : std::uint8_t { no, yes, failed };

/// Host memory of the driver's own, whose device address is its host address. `wait` must be a copy that no
/// board can write.
[[nodiscard]] inline std::uint64_t read_waited_word(const hw::Descriptor& wait) {
  auto* word = reinterpret_cast<std::uint64_t*>(wait.dst_address());
  return std::atomic_ref(*word).load(std::memory_order_acquire);
}

[[nodiscard]] inline Held look_at_waited_word(const hw::Descriptor& wait) {
  const std::uint64_t word = read_waited_word(wait);
  if ((word & wait.wait_error_mask()) != 0) {
    return Held::failed;
  }
  const std::uint64_t seen = word & wait.wait_mask();
  switch (wait.wait_condition()) {
  case hw::WaitCondition::equal:
    return seen == wait.value() ? Held::yes : Held::no;
  case hw::WaitCondition::not_equal:
    return seen != wait.value() ? Held::yes : Held::no;
  case hw::WaitCondition::greater_equal:
    return seen >= wait.value() ? Held::yes : Held::no;
  }
  return Held::no;
}

}  // namespace datum
