// A driver over one board of the golden model, with a context, for tests of the command half.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driver/command/command_list.hpp"
#include "driver/command/command_queue.hpp"
#include "driver/command/event.hpp"
#include "driver/command/event_pool.hpp"
#include "driver/command/fence.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "sim/backend.hpp"

namespace datum::test {

/// No wait of a test lasts longer, so that a lost completion is a failure and not a hang.
inline constexpr std::uint64_t patience_ns = 20'000'000'000;

using Bytes = std::vector<unsigned char>;

inline Bytes pattern(std::size_t count, unsigned seed) {
  Bytes bytes(count);
  for (std::size_t index = 0; index < count; ++index) {
    bytes[index] = static_cast<unsigned char>((index * 7 + index / 251 + seed * 31) & 0xffU);
  }
  return bytes;
}

/// What a queue or list is: destroyed, which must succeed, at the end of its scope.
template <class Object>
class Owned {
 public:
  explicit Owned(Object* object) : object_(object) {}

  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}

  Owned& operator=(Owned&&) = delete;

  ~Owned() {
    if (object_ == nullptr) {
      return;
    }
    if constexpr (std::is_void_v<decltype(object_->destroy())>) {
      object_->destroy();
    } else {
      Status destroyed = object_->destroy();
      EXPECT_TRUE(destroyed.ok()) << destroyed.error().message;
    }
  }

  Object* operator->() const { return object_; }

  Object& operator*() const { return *object_; }

  [[nodiscard]] Object* get() const { return object_; }

  Object* release() { return std::exchange(object_, nullptr); }

 private:
  Object* object_;
};

class ModelBench : public ::testing::Test {
 protected:
  void SetUp() override { open(""); }

  void TearDown() override {
    context_.reset();
    driver_.reset();
  }

  /// A new driver over "model:OPTIONS".
  void open(const std::string& options) {
    open_board("model:memory=256M" + (options.empty() ? "" : "," + options));
  }

  void open_board(const std::string& address) {
    context_.reset();
    driver_.reset();
    auto opened = sim::open_simulated(address);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    sim_ = opened->get();
    std::unique_ptr<board::PcieFunction> function = std::move(*opened);
    Result<std::unique_ptr<Board>> board = Board::adopt(decorate(std::move(function)));
    ASSERT_TRUE(board.ok()) << board.error().message;
    std::vector<std::unique_ptr<Board>> boards;
    boards.push_back(std::move(*board));
    Result<std::unique_ptr<Driver>> driver = Driver::create(std::move(boards));
    ASSERT_TRUE(driver.ok()) << driver.error().message;
    driver_ = std::move(*driver);
    Result<std::unique_ptr<Context>> context = Context::create(*driver_, {&device()});
    ASSERT_TRUE(context.ok()) << context.error().message;
    context_ = std::move(*context);
  }

  /// What stands between the driver and the board.
  virtual std::unique_ptr<board::PcieFunction> decorate(std::unique_ptr<board::PcieFunction> function) {
    return function;
  }

  Device& device() { return *driver_->devices().front(); }

  Context& context() { return *context_; }

  static QueueSettings settings(bool in_order = false, bool synchronous = false) {
    QueueSettings chosen;
    chosen.in_order = in_order;
    chosen.synchronous = synchronous;
    return chosen;
  }

  Owned<CommandQueue> queue() { return Owned(*CommandQueue::create(context(), device(), settings())); }

  Owned<CommandList> list(bool in_order = false) {
    return Owned(*CommandList::create(context(), device(), 0, 0, in_order));
  }

  Owned<CommandList> immediate(bool in_order = true, bool synchronous = false) {
    return Owned(*CommandList::create_immediate(context(), device(), settings(in_order, synchronous)));
  }

  Owned<EventPool> pool(std::uint32_t count, bool timestamps = false) {
    Result<EventPool*> made = EventPool::create(context(), {}, count, 0, timestamps);
    EXPECT_TRUE(made.ok());
    return Owned(*made);
  }

  static Owned<Event> event(EventPool& of, std::uint32_t index = 0) {
    return Owned(*Event::create(of, index, 0, 0));
  }

  void* device_memory(std::size_t bytes) { return context().allocate_device(device(), 0, bytes, 0).value(); }

  void* host_memory(std::size_t bytes) { return context().allocate_host(bytes, 0).value(); }

  static CopyCommand copy(void* to, const void* from, std::size_t bytes) {
    CopyCommand command;
    command.dst = to;
    command.src = from;
    command.shape.row_bytes = bytes;
    return command;
  }

  static FillCommand fill(void* to, std::size_t bytes, unsigned char value) {
    FillCommand command;
    command.dst = to;
    command.bytes = bytes;
    command.pattern[0] = value;
    return command;
  }

  static Status run(CommandQueue& on, CommandList& closed, Fence* fence = nullptr) {
    CommandList* one = &closed;
    return on.execute(std::span(&one, 1), fence);
  }

  Status copy_and_wait(void* to, const void* from, std::size_t bytes) {
    Owned<CommandList> now = immediate(true, true);
    return now->append(copy(to, from, bytes), nullptr, {});
  }

  Bytes read_back(const void* from, std::size_t bytes) {
    Bytes to(bytes);
    Status copied = copy_and_wait(to.data(), from, bytes);
    EXPECT_TRUE(copied.ok()) << copied.error().message;
    return to;
  }

  static ErrorCode code(const Status& status) {
    return status.ok() ? ErrorCode::not_available : status.error().code;
  }

  sim::SimFunction* sim_ = nullptr;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Context> context_;
};

/// Succeeded, or says why not.
inline ::testing::AssertionResult succeeded(const Status& status) {
  return status.ok() ? ::testing::AssertionSuccess()
                     : ::testing::AssertionFailure() << status.error().message;
}

}  // namespace datum::test
