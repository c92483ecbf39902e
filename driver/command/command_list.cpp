#include "driver/command/command_list.hpp"

#include "driver/command/event.hpp"
#include "driver/object/context.hpp"

namespace datum {

namespace {

/// Ends what was recorded for one call, unless it stays.
struct TakenBack {
  RecordedCommands& recorded;
  std::size_t commands;
  std::size_t waits;
  bool stays = false;

  TakenBack(RecordedCommands& in, std::size_t commands_before, std::size_t waits_before) noexcept
      : recorded(in), commands(commands_before), waits(waits_before) {}

  TakenBack(const TakenBack&) = delete;
  TakenBack& operator=(const TakenBack&) = delete;

  ~TakenBack() {
    if (!stays) {
      recorded.commands.resize(commands);
      recorded.waits.resize(waits);
    }
  }
};

}  // namespace

CommandList::CommandList(Context& context, Device& device) : context_(context), device_(device) {
  context_.add_child();
}

CommandList::CommandList(const CommandList& source)
    : context_(source.context_),
      device_(source.device_),
      settings_(source.settings_),
      list_flags_(source.list_flags_),
      in_order_(source.in_order_),
      closed_(source.closed_),
      mutable_(source.mutable_),
      recorded_(source.recorded_),
      named_(source.named_) {
  context_.add_child();
}

CommandList::~CommandList() { context_.remove_child(); }

Result<CommandList*> CommandList::create(Context& context, Device& device, std::uint32_t ordinal,
                                         std::uint32_t flags, bool in_order, bool is_mutable) {
  std::unique_ptr<CommandList> list(new CommandList(context, device));
  list->settings_.ordinal = ordinal;
  list->list_flags_ = flags;
  list->in_order_ = in_order;
  list->mutable_ = is_mutable;
  return publish(std::move(list));
}

Result<CommandList*> CommandList::clone(const CommandList& source) {
  if (!source.closed_) {
    return make_error(ErrorCode::invalid_argument, "the command list is not closed",
                      "call zeCommandListClose before cloning it");
  }
  return publish(std::unique_ptr<CommandList>(new CommandList(source)));
}

Result<CommandList*> CommandList::create_immediate(Context& context, Device& device,
                                                   const QueueSettings& settings) {
  std::unique_ptr<CommandList> list(new CommandList(context, device));
  list->settings_ = settings;
  list->in_order_ = settings.in_order;
  list->submitter_ = std::make_unique<Submitter>(context, device, settings.rank());
  return publish(std::move(list));
}

Result<CommandList*> CommandList::publish(std::unique_ptr<CommandList> list) {
  Result<HandleSlot*> handle = register_handle(ObjectType::command_list, list.get());
  if (!handle) {
    return std::move(handle).error();
  }
  list->handle_ = *handle;
  return list.release();
}

Status CommandList::destroy() {
  if (submitter_ != nullptr) {
    if (Status closed = submitter_->close(); !closed) {
      return closed;
    }
  }
  unregister_handle(handle_);
  delete this;
  return {};
}

Status CommandList::close() {
  if (Status alive = context_.alive(); !alive) {
    return alive;
  }
  closed_ = !immediate();
  return {};
}

Status CommandList::reset() {
  if (Status alive = context_.alive(); !alive) {
    return alive;
  }
  recorded_.clear();
  named_.clear();
  closed_ = false;
  return {};
}

Status CommandList::append(const CommandBody& body, Event* signal, std::span<Event* const> waits) {
  return append(std::span(&body, 1), signal, waits);
}

Status CommandList::append(std::span<const CommandBody> bodies, Event* signal,
                           std::span<Event* const> waits) {
  if (Status alive = context_.alive(); !alive) {
    return alive;
  }
  if (closed_) {
    return make_error(ErrorCode::invalid_argument, "the command list is closed",
                      "reset it before recording anew");
  }
  if (Status fits = check_signal(signal); !fits) {
    return fits;
  }
  const std::size_t commands_before = recorded_.commands.size();
  const std::size_t waits_before = recorded_.waits.size();
  TakenBack until_taken{recorded_, commands_before, waits_before};
  for (Event* event : waits) {
    recorded_.waits.emplace_back(event);
  }
  for (std::size_t index = 0; index < bodies.size(); ++index) {
    Command& command = recorded_.commands.emplace_back();
    command.body = bodies[index];
    command.first_wait = static_cast<std::uint32_t>(waits_before);
    command.wait_count = index == 0 ? static_cast<std::uint32_t>(waits.size()) : 0;
    if (index + 1 == bodies.size()) {
      command.signal = EventReference(signal);
    }
  }
  if (!immediate()) {
    if (mutable_ && !bodies.empty()) {
      named_.appended(static_cast<std::uint32_t>(commands_before),
                      static_cast<std::uint32_t>(recorded_.commands.size() - 1));
    }
    until_taken.stays = true;
    return {};
  }
  const Batch batch{&recorded_, in_order_};
  Result<std::uint64_t> end = submitter_->submit(std::span(&batch, 1));
  if (!end) {
    return std::move(end).error();
  }
  return settings_.synchronous ? submitter_->synchronize(~0ULL) : Status{};
}

Status CommandList::check_signal(Event* signal) const {
  if (signal != nullptr && signal->counter_based() && !in_order_) {
    return make_error(ErrorCode::invalid_synchronization_object,
                      "a counter-based event cannot be signalled by a list that is not in-order",
                      "create the list with ZE_COMMAND_LIST_FLAG_IN_ORDER or ZE_COMMAND_QUEUE_FLAG_IN_ORDER");
  }
  return {};
}

Status CommandList::synchronize(std::uint64_t timeout_ns) {
  if (!immediate()) {
    return make_error(ErrorCode::invalid_argument, "only an immediate command list can be synchronised",
                      "synchronise the queue that executes the list");
  }
  return submitter_->synchronize(timeout_ns);
}

}  // namespace datum
