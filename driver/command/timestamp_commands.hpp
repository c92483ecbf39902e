// Commands that write times of the board into memory.
#pragma once

#include <cstdint>
#include <vector>

#include <datum/base/result.hpp>

#include "driver/command/event_reference.hpp"

namespace datum {

class Lowering;

/// Writes TIMER as of the moment when everything before has ended.
struct TimestampCommand {
  std::uint64_t* dst = nullptr;

  Status lower(Lowering& lowering) const;
};

/// Writes start and end of the work that signalled an event, twice: as global and as context times (this
/// board counts alike).
struct QueryTimestampsCommand {
  void* dst = nullptr;  ///< of one result: four 64-bit words
  EventReference event;

  Status lower(Lowering& lowering) const;
};

}  // namespace datum
