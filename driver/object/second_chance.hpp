// What is refused for want of memory while freed memory still waits for a board's word.
#pragma once

#include <datum/base/result.hpp>

namespace datum {

/// Tries again after `drain` gave back what waited. If the board does not give it, the answer stays what it
/// was.
template <class Attempt, class Drain>
auto with_second_chance(Attempt&& attempt, Drain&& drain) {
  auto result = attempt();
  if (!result.ok() && (result.error().code == ErrorCode::out_of_device_memory ||
                       result.error().code == ErrorCode::out_of_host_memory)) {
    drain();
    result = attempt();
  }
  return result;
}

}  // namespace datum
