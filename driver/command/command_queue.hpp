// A command queue of the API.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <datum/base/result.hpp>

#include "driver/command/queue_settings.hpp"
#include "driver/command/submitter.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class CommandList;
class Fence;

/// Thread safe.
class CommandQueue {
 public:
  static Result<CommandQueue*> create(Context& context, Device& device, const QueueSettings& settings);
  /// handle_object_in_use while work is outstanding.
  Status destroy();

  /// `fence` may be null. A synchronous queue returns when the work has ended. Errors before submission leave
  /// everything as it was.
  Status execute(std::span<CommandList* const> lists, Fence* fence);

  Status synchronize(std::uint64_t timeout_ns) { return submitter_.synchronize(timeout_ns); }

  [[nodiscard]] const QueueSettings& settings() const noexcept { return settings_; }

  [[nodiscard]] Submitter& submitter() noexcept { return submitter_; }

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

 private:
  CommandQueue(Context& context, Device& device, const QueueSettings& settings)
      : submitter_(context, device, settings.rank()), settings_(settings) {}

  Submitter submitter_;
  QueueSettings settings_;
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
