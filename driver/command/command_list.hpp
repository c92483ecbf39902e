// A command list of the API, regular or immediate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <datum/base/result.hpp>

#include "driver/command/mutable_commands.hpp"
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
                                     std::uint32_t flags, bool in_order, bool is_mutable = false);
  /// A closed list with the commands and properties of `source`, which is closed too, else invalid_argument.
  static Result<CommandList*> clone(const CommandList& source);
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
  /// On an immediate list, from any thread: submits closed regular lists, which begin when `waits` are
  /// signalled; `signal` is when all of them have ended. Nothing is submitted on an error.
  Status append_lists(std::span<CommandList* const> lists, Event* signal, std::span<Event* const> waits);
  /// Whether the list may be submitted on a queue of `ordinal`; else why not.
  [[nodiscard]] Status executable_on(const Context& context, const Device& device,
                                     std::uint32_t ordinal) const;

  // --- of a mutable list

  [[nodiscard]] bool is_mutable() const noexcept { return mutable_; }

  /// Names what is appended next; any thread. invalid_argument: not mutable, or closed.
  Result<std::uint64_t> name_next_command();
  /// `signal` null: none from now on. invalid_argument: no such command.
  Status change_signal(std::uint64_t command_id, Event* signal);
  /// As many as the command was recorded with (invalid_size); null: none in that place.
  Status change_waits(std::uint64_t command_id, std::span<Event* const> waits);
  /// How many events the command waits for.
  Result<std::uint32_t> wait_count(std::uint64_t command_id) const;

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
  CommandList(const CommandList& source);
  CommandList(CommandList&&) = delete;
  CommandList& operator=(const CommandList&) = delete;
  CommandList& operator=(CommandList&&) = delete;
  friend std::default_delete<CommandList>;
  ~CommandList();
  static Result<CommandList*> publish(std::unique_ptr<CommandList> list);
  /// A counter-based event follows a list that does things in order.
  [[nodiscard]] Status check_signal(Event* signal) const;
  Result<MutableCommands::Range> find_mutable(std::uint64_t command_id) const;

  Context& context_;
  Device& device_;
  QueueSettings settings_;
  std::uint32_t list_flags_ = 0;
  bool in_order_ = false;
  bool closed_ = false;
  bool mutable_ = false;
  RecordedCommands recorded_;
  MutableCommands named_;
  std::unique_ptr<Submitter> submitter_;  ///< of an immediate list
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
