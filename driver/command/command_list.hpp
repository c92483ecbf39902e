// A command list of the API, regular or immediate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <datum/base/result.hpp>

#include "driver/command/queue_settings.hpp"
#include "driver/command/recorded_commands.hpp"
#include "driver/command/submitter.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class Context;
class Device;
class Event;

/// A regular list records; an immediate one submits each command as it comes. Not thread safe: as the
/// specification has it, one list is recorded by one thread at a time. Nothing of a regular list is in use
/// once it was submitted: it may be reset, recorded anew or destroyed while the board works.
class CommandList {
 public:
  static Result<CommandList*> create(Context& context, Device& device, std::uint32_t ordinal,
                                     std::uint32_t flags, bool in_order);
  static Result<CommandList*> create_immediate(Context& context, Device& device,
                                               const QueueSettings& settings);
  /// An immediate list with work outstanding: handle_object_in_use.
  Status destroy();

  /// Success as well for a list that is closed or immediate.
  Status close();
  Status reset();
  /// invalid_argument: the list is closed. The list stays as it was on any error. A synchronous list returns
  /// when the command has ended.
  Status append(const CommandBody& body, Event* signal, std::span<Event* const> waits);
  /// The same for a command of several bodies, of which the first waits and the last signals.
  Status append(std::span<const CommandBody> bodies, Event* signal, std::span<Event* const> waits);
  /// invalid_argument on a regular list.
  Status synchronize(std::uint64_t timeout_ns);

  [[nodiscard]] bool immediate() const noexcept { return submitter_ != nullptr; }

  [[nodiscard]] bool closed() const noexcept { return closed_; }

  [[nodiscard]] bool in_order() const noexcept { return in_order_; }

  [[nodiscard]] std::uint32_t ordinal() const noexcept { return settings_.ordinal; }

  [[nodiscard]] std::uint32_t list_flags() const noexcept { return list_flags_; }

  [[nodiscard]] const QueueSettings& settings() const noexcept {
    return settings_;
  }  ///< of an immediate list

  [[nodiscard]] const RecordedCommands& recorded() const noexcept { return recorded_; }

  [[nodiscard]] Context& context() noexcept { return context_; }

  [[nodiscard]] Device& device() noexcept { return device_; }

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

 private:
  CommandList(Context& context, Device& device);
  friend std::default_delete<CommandList>;
  ~CommandList();
  static Result<CommandList*> publish(std::unique_ptr<CommandList> list);

  Context& context_;
  Device& device_;
  QueueSettings settings_;
  std::uint32_t list_flags_ = 0;
  bool in_order_ = false;
  bool closed_ = false;
  RecordedCommands recorded_;
  std::unique_ptr<Submitter> submitter_;  ///< of an immediate list
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
