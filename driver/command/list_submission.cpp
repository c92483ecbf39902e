// Closed lists on their way to a queue or an immediate list.
#include <vector>

#include "driver/command/command_list.hpp"
#include "driver/command/event.hpp"
#include "driver/object/context.hpp"

namespace datum {

namespace {

/// One command that stands before or behind the lists.
RecordedCommands single(const CommandBody& body, Event* signal, std::span<Event* const> waits) {
  RecordedCommands recorded;
  for (Event* event : waits) {
    recorded.waits.emplace_back(event);
  }
  Command& command = recorded.commands.emplace_back();
  command.body = body;
  command.signal = EventReference(signal);
  command.wait_count = static_cast<std::uint32_t>(waits.size());
  return recorded;
}

}  // namespace

Status CommandList::executable_on(const Context& context, const Device& device, std::uint32_t ordinal) const {
  if (immediate()) {
    return make_error(ErrorCode::invalid_argument, "an immediate command list cannot be executed by a queue");
  }
  if (!closed_) {
    return make_error(ErrorCode::invalid_argument, "the command list is not closed",
                      "call zeCommandListClose before executing it");
  }
  if (&device_ != &device || &context_ != &context) {
    return make_error(ErrorCode::invalid_argument, "list and queue belong to different contexts or devices");
  }
  if (settings_.ordinal != ordinal) {
    return make_error(ErrorCode::invalid_command_list_type, "list and queue are of different queue groups");
  }
  return {};
}

Status CommandList::append_lists(std::span<CommandList* const> lists, Event* signal,
                                 std::span<Event* const> waits) {
  if (!immediate()) {
    return make_error(ErrorCode::invalid_argument,
                      "command lists can be appended to an immediate command list only",
                      "execute them on a queue");
  }
  if (Status fits = check_signal(signal); !fits) {
    return fits;
  }
  RecordedCommands before;
  RecordedCommands behind;
  std::vector<Batch> batches;
  batches.reserve(lists.size() + 2);
  if (in_order_ || !waits.empty()) {
    // A barrier waits for everything before, as the next command of an in-order list does.
    before =
        single(in_order_ ? CommandBody(BarrierCommand{}) : CommandBody(SynchronizeCommand{}), nullptr, waits);
    batches.push_back({&before, in_order_});
  }
  for (const CommandList* list : lists) {
    if (Status fits = list->executable_on(context_, device_, settings_.ordinal); !fits) {
      return fits;
    }
    batches.push_back({&list->recorded_, list->in_order_});
  }
  if (signal != nullptr) {
    behind = single(BarrierCommand{}, signal, {});
    batches.push_back({&behind, true});
  }
  if (Result<std::uint64_t> end = submitter_->submit(batches); !end) {
    return std::move(end).error();
  }
  return settings_.synchronous ? submitter_->synchronize(~0ULL) : Status{};
}

}  // namespace datum
