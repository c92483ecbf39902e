// What the stand-ins for the driver's functions remember.
#pragma once

#include <string_view>

namespace datum::test {

/// The name of the last stand-in that this thread called; empty if none since forget_calls().
std::string_view last_call() noexcept;

void note_call(const char* function) noexcept;
void forget_calls() noexcept;

template <class Return>
Return record_call(const char* function) noexcept {
  note_call(function);
  return Return{};
}

}  // namespace datum::test
