// What the stand-ins for the driver's functions remember.
#pragma once

#include <string_view>
#include <type_traits>

namespace datum::test {

/// The name of the last stand-in that this thread called; empty if none since forget_calls().
std::string_view last_call() noexcept;

void note_call(const char* function) noexcept;
void forget_calls() noexcept;

/// Answers success: a code of zero, or a handle that is not null (and must not be used).
template <class Return>
Return record_call(const char* function) noexcept {
  note_call(function);
  if constexpr (std::is_pointer_v<Return>) {
    return reinterpret_cast<Return>(1);
  } else {
    return Return{};
  }
}

}  // namespace datum::test
