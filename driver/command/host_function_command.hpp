// Calls a function of the application on the host.
#pragma once

#include <datum/base/result.hpp>

namespace datum {

class Lowering;

/// Called by the driver's worker each time the command is executed, when everything before it has ended; what
/// follows it begins when it has returned. Not called when the queue failed before.
struct HostFunctionCommand {
  void (*function)(void*) = nullptr;
  void* argument = nullptr;

  Status lower(Lowering& lowering) const;
};

}  // namespace datum
