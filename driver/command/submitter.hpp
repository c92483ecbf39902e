// What a queue and an immediate list have in common: a stream, and the way into it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "driver/command/queue_settings.hpp"
#include "driver/command/recorded_commands.hpp"
#include "driver/command/stream.hpp"

namespace datum {

class Context;
class Device;

/// Commands, and whether each begins only when the one before has ended.
struct Batch {
  const RecordedCommands* commands = nullptr;
  bool in_order = false;
};

/// Thread safe.
class Submitter {
 public:
  Submitter(Context& context, Device& device, QueueRank rank);
  ~Submitter();
  Submitter(const Submitter&) = delete;
  Submitter& operator=(const Submitter&) = delete;

  [[nodiscard]] Context& context() noexcept { return stream_->context(); }

  [[nodiscard]] Device& device() noexcept { return device_; }

  [[nodiscard]] const std::shared_ptr<Stream>& stream() noexcept { return stream_; }

  /// Lowers and submits the batches as one. Returns the position at whose retirement all has ended. On an
  /// error nothing was submitted.
  Result<std::uint64_t> submit(std::span<const Batch> batches);
  /// Waits for everything submitted so far.
  Status synchronize(std::uint64_t timeout_ns);
  /// handle_object_in_use while work is outstanding. Nothing may be submitted afterwards.
  Status close();

 private:
  Device& device_;
  std::shared_ptr<Stream> stream_;
  Mutex mutex_;  ///< lowering and submitting are one step
  Submission submission_ DATUM_GUARDED_BY(mutex_);
};

}  // namespace datum
