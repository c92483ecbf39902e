// A fence: tells the host that what was submitted with it has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <datum/base/result.hpp>

#include "driver/object/handle_table.hpp"

namespace datum {

class CommandQueue;
class Device;
class Stream;

/// A position in its queue's stream: signalled when the stream is retired up to there. The board knows
/// nothing of it, so that it may be destroyed at any time. Thread safe.
class Fence {
 public:
  static Result<Fence*> create(CommandQueue& queue, bool signalled);
  void destroy();

  /// Unsignalled from here on, until the stream is retired up to `position`.
  void arm(std::uint64_t position);
  /// Unsignalled from here on; work that is outstanding signals it all the same when it ends.
  void reset();
  /// Success when signalled; not_ready; why the work failed.
  Status query();
  Status synchronize(std::uint64_t timeout_ns);

  [[nodiscard]] const std::shared_ptr<Stream>& stream() const noexcept { return stream_; }

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

 private:
  static constexpr std::uint64_t never = ~0ULL;

  explicit Fence(CommandQueue& queue, bool signalled);
  Status outcome();

  Device& device_;
  std::shared_ptr<Stream> stream_;
  std::atomic<std::uint64_t> position_;  ///< 0: signalled from the start; never: unsignalled
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
