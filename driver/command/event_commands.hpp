// Commands that do nothing but synchronise.
#pragma once

#include <datum/base/result.hpp>

#include "driver/command/event_reference.hpp"

namespace datum {

class Lowering;

/// Completes when everything before it has.
struct BarrierCommand {
  Status lower(Lowering& lowering) const;
};

/// Only its dependencies count: waits, or a signal.
struct SynchronizeCommand {
  Status lower(Lowering& lowering) const;
};

struct ResetEventCommand {
  EventReference event;

  Status lower(Lowering& lowering) const;
};

}  // namespace datum
