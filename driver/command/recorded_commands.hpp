// What a list holds: commands by pointer, nothing read, nothing mapped.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "driver/command/copy_command.hpp"
#include "driver/command/event_commands.hpp"
#include "driver/command/event_reference.hpp"
#include "driver/command/fill_command.hpp"
#include "driver/command/host_function_command.hpp"
#include "driver/command/timestamp_commands.hpp"

namespace datum {

using CommandBody =
    std::variant<CopyCommand, FillCommand, BarrierCommand, SynchronizeCommand, ResetEventCommand,
                 TimestampCommand, QueryTimestampsCommand, HostFunctionCommand>;

struct Command {
  CommandBody body;
  EventReference signal;
  std::uint32_t first_wait = 0;  ///< into RecordedCommands::waits
  std::uint32_t wait_count = 0;
};

/// Flat, so that appending is two writes and allocates nothing in a steady state.
struct RecordedCommands {
  std::vector<Command> commands;
  std::vector<EventReference> waits;

  void clear() noexcept {
    commands.clear();
    waits.clear();
  }

  [[nodiscard]] std::span<const EventReference> waits_of(const Command& command) const noexcept {
    return std::span(waits).subspan(command.first_wait, command.wait_count);
  }
};

}  // namespace datum
