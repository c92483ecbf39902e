#include "driver/command/command_list.hpp"

#include "driver/object/context.hpp"

namespace datum {

CommandList::CommandList(Context& context, Device& device) : context_(context), device_(device) {
  context_.add_child();
}

CommandList::~CommandList() { context_.remove_child(); }

Result<CommandList*> CommandList::create(Context& context, Device& device, std::uint32_t ordinal,
                                         std::uint32_t flags, bool in_order) {
  std::unique_ptr<CommandList> list(new CommandList(context, device));
  list->settings_.ordinal = ordinal;
  list->list_flags_ = flags;
  list->in_order_ = in_order;
  return publish(std::move(list));
}

Result<CommandList*> CommandList::create_immediate(Context& context, Device& device,
                                                   const QueueSettings& settings) {
  std::unique_ptr<CommandList> list(new CommandList(context, device));
  list->settings_ = settings;
  list->in_order_ = settings.in_order;
  list->submitter_ = std::make_unique<Submitter>(context, device);
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
  closed_ = !immediate();
  return {};
}

Status CommandList::reset() {
  recorded_.clear();
  closed_ = false;
  return {};
}

Status CommandList::append(const CommandBody& body, Event* signal, std::span<Event* const> waits) {
  return append(std::span(&body, 1), signal, waits);
}

Status CommandList::append(std::span<const CommandBody> bodies, Event* signal,
                           std::span<Event* const> waits) {
  if (closed_) {
    return make_error(ErrorCode::invalid_argument, "the command list is closed",
                      "reset it before recording anew");
  }
  const std::size_t commands_before = recorded_.commands.size();
  const std::size_t waits_before = recorded_.waits.size();
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
    return {};
  }
  const Batch batch{&recorded_, in_order_};
  Result<std::uint64_t> end = submitter_->submit(std::span(&batch, 1));
  recorded_.commands.resize(commands_before);
  recorded_.waits.resize(waits_before);
  if (!end) {
    return std::move(end).error();
  }
  return settings_.synchronous ? submitter_->synchronize(~0ULL) : Status{};
}

Status CommandList::synchronize(std::uint64_t timeout_ns) {
  if (!immediate()) {
    return make_error(ErrorCode::invalid_argument, "only an immediate command list can be synchronised",
                      "synchronise the queue that executes the list");
  }
  return submitter_->synchronize(timeout_ns);
}

}  // namespace datum
