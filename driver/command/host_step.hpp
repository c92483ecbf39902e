// Work that the host does in the middle of a stream: moving memory that the board cannot reach, and calling
// functions of the application.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "driver/memory/host_memory.hpp"

namespace datum {

class Context;
class Device;

/// Rows of the application's memory against rows packed one behind the other in staging memory; or a call.
struct HostStep {
  enum class Kind : std::uint8_t {
    gather,   ///< application to staging
    scatter,  ///< staging to application
    call,     ///< `function(argument)`
  };
  Kind kind = Kind::gather;
  std::byte* user = nullptr;
  std::uint64_t row_bytes = 0;
  std::uint64_t rows = 1;
  std::uint64_t row_pitch = 0;
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
};

/// The host steps of one stream: a page of words and, once it is needed, a staging buffer that the board
/// reaches, and the steps that are due. The ring writes a step's number into the request word and waits until
/// the answer word has reached it; the worker does the step and writes the answer.
class HostSteps {
 public:
  /// Memory of `device`'s arena, mapped in `context`'s space.
  static Result<std::unique_ptr<HostSteps>> create(Device& device, Context& context);
  ~HostSteps();
  HostSteps(const HostSteps&) = delete;
  HostSteps& operator=(const HostSteps&) = delete;

  [[nodiscard]] std::uint64_t* request_word() noexcept;
  [[nodiscard]] std::uint64_t* answer_word() noexcept;

  /// Before the first step that moves memory. The stream's owner serialises.
  Status need_staging();

  [[nodiscard]] std::byte* staging() noexcept { return staging_.host; }

  [[nodiscard]] std::uint64_t staging_bytes() const noexcept { return staging_.bytes; }

  /// The number that the next added step gets. The stream's owner serialises.
  [[nodiscard]] std::uint64_t next_number() const noexcept {
    return next_number_.load(std::memory_order_acquire);
  }

  /// All of them or, where memory runs out, none. The stream's owner serialises.
  void add(std::span<const HostStep> steps);

  /// Steps were added that are not answered yet.
  [[nodiscard]] bool outstanding() const noexcept {
    return answered_.load(std::memory_order_acquire) + 1 < next_number();
  }

  /// Of them, some call a function.
  [[nodiscard]] bool calls_outstanding() const noexcept {
    return calls_.load(std::memory_order_acquire) != 0;
  }

  /// Of the step that is due, or will be next.
  [[nodiscard]] bool next_is_call();

  /// A step is due that was not answered.
  [[nodiscard]] bool due() const noexcept;
  /// Does the step that is due; true: it was answered and the ring is to be kicked. False: the board asked
  /// for a step that does not exist. One thread at a time. An application pointer that cannot be accessed is
  /// answered with the word that `fail` makes of the error, which fails the ring's wait.
  bool perform(const std::function<std::uint64_t(Error)>& fail);

 private:
  HostSteps(Device& device, Context& context) : device_(device), context_(context) {}

  Status allocate(HostBlock& block, bool& mapped, std::uint64_t bytes);

  /// Errno, or 0.
  static int move(const HostStep& step, std::byte* staging);

  Device& device_;
  Context& context_;
  HostBlock words_;
  HostBlock staging_;
  bool words_mapped_ = false;
  bool staging_mapped_ = false;
  std::atomic<std::uint64_t> next_number_{1};
  std::atomic<std::uint64_t> answered_{0};
  std::atomic<unsigned> calls_{0};
  Mutex mutex_;  ///< of steps_
  std::deque<HostStep> steps_ DATUM_GUARDED_BY(mutex_);
};

}  // namespace datum
