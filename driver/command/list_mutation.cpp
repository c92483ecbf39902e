// Changes to the commands of a mutable list.
#include <fmt/format.h>

#include "driver/command/command_list.hpp"
#include "driver/command/event.hpp"

namespace datum {

Result<std::uint64_t> CommandList::name_next_command() {
  if (!mutable_) {
    return make_error(ErrorCode::invalid_argument, "the command list is not mutable",
                      "create it with ze_mutable_command_list_exp_desc_t");
  }
  if (closed_) {
    return make_error(ErrorCode::invalid_argument,
                      "the command list is closed: nothing is appended to it next");
  }
  return named_.name_next(static_cast<std::uint32_t>(recorded_.commands.size()));
}

Result<MutableCommands::Range> CommandList::find_mutable(std::uint64_t command_id) const {
  if (!mutable_) {
    return make_error(ErrorCode::invalid_argument, "the command list is not mutable",
                      "create it with ze_mutable_command_list_exp_desc_t");
  }
  const std::optional<MutableCommands::Range> found = named_.find(command_id, recorded_.commands.size());
  if (!found) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} names no command of the command list", command_id));
  }
  return *found;
}

Status CommandList::change_signal(std::uint64_t command_id, Event* signal) {
  Result<MutableCommands::Range> range = find_mutable(command_id);
  if (!range) {
    return std::move(range).error();
  }
  if (Status fits = check_signal(signal); !fits) {
    return make_error(ErrorCode::invalid_argument, fits.error().message, fits.error().hint);
  }
  recorded_.commands[range->last].signal = EventReference(signal);
  return {};
}

Result<std::uint32_t> CommandList::wait_count(std::uint64_t command_id) const {
  Result<MutableCommands::Range> range = find_mutable(command_id);
  if (!range) {
    return std::move(range).error();
  }
  return recorded_.commands[range->first].wait_count;
}

Status CommandList::change_waits(std::uint64_t command_id, std::span<Event* const> waits) {
  Result<MutableCommands::Range> range = find_mutable(command_id);
  if (!range) {
    return std::move(range).error();
  }
  const Command& command = recorded_.commands[range->first];
  if (waits.size() != command.wait_count) {
    return make_error(ErrorCode::invalid_size, fmt::format("{} wait events for a command recorded with {}",
                                                           waits.size(), command.wait_count));
  }
  for (std::size_t index = 0; index < waits.size(); ++index) {
    recorded_.waits[command.first_wait + index] = EventReference(waits[index]);
  }
  return {};
}

}  // namespace datum
