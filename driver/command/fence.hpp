// A fence: tells the host that what was submitted with it has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <datum/base/result.hpp>

#include "driver/object/handle_table.hpp"

namespace datum {

class CommandQueue;
class Device;
class Stream;

/// A position in its queue's stream: signalled when the stream is retired up to there. The board knows
/// nothing of it, so that it may be destroyed at any time, also under threads that already wait for it: they
/// keep what they look at. Thread safe.
class Fence {
 public:
  static Result<Fence*> create(CommandQueue& queue, bool signalled);
  void destroy();

  /// Unsignalled from here on, until the stream is retired up to `position`.
  void arm(std::uint64_t position);
  /// Unsignalled from here on; work that is outstanding signals it all the same when it ends.
  Status reset();
  /// Success when signalled; not_ready; why the work failed.
  Status query();
  Status synchronize(std::uint64_t timeout_ns);

  [[nodiscard]] const std::shared_ptr<Stream>& stream() const noexcept { return state_->stream; }

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

 private:
  static constexpr std::uint64_t never = ~0ULL;

  struct State {
    State(CommandQueue& queue, bool signalled);

    [[nodiscard]] bool ended() const noexcept;
    /// The board is lost, or was reset since: nobody signals what is not signalled yet.
    [[nodiscard]] bool lost() const noexcept;
    Status outcome();

    Device& device;
    std::shared_ptr<Stream> stream;
    std::atomic<std::uint64_t> position;  ///< 0: signalled from the start; never: unsignalled
  };

  explicit Fence(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
