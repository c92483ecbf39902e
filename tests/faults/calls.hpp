// The calls of the API that have steps of their own.
#pragma once

#include <span>
#include <string>

#include "tests/faults/world.hpp"

namespace datum::test {

/// One call, with what it needs before and what takes its effects back.
struct Call {
  const char* name = nullptr;
  void (*prepare)(World&) = nullptr;  ///< null: nothing
  ze_result_t (*call)(World&) = nullptr;
  void (*undo)(World&) = nullptr;  ///< null: nothing
};

[[nodiscard]] std::span<const Call> calls_with_steps();
/// More of them: of lists, images, events, handles and residency.
[[nodiscard]] std::span<const Call> more_calls_with_steps();
/// Those of the management interface, with steps or without.
[[nodiscard]] std::span<const Call> management_calls();

}  // namespace datum::test
