// Counter-based events of several processes: a handle names the file of a queue's counter and the value that
// it has to reach. Opened, it is an event of its own.
#include <algorithm>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/command/event.hpp"
#include "driver/memory/open_shared_file.hpp"
#include "driver/object/context.hpp"

namespace datum {
namespace {

constexpr std::uint32_t known_flags = 0x7f;
constexpr std::uint32_t known_scopes = 0x7;
/// Times lie in memory of the event's own process.
constexpr std::uint32_t timestamp_flags = 0x30;

/// What a handle says comes from another process.
Status check(const SharedEventPoint& point, std::uint64_t given_out) {
  if ((point.flags & shared_counter_flag) == 0 || point.flags > known_flags ||
      point.signal_scope > known_scopes || point.wait_scope > known_scopes) {
    return make_error(ErrorCode::invalid_argument, "the handle speaks of an event that cannot be");
  }
  if (point.value > given_out) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the handle waits for value {} of a counter that has given out {}",
                                  point.value, given_out));
  }
  return {};
}

}  // namespace

Result<Event*> Event::open_counter_based(Context& context, const OpenedFile& file,
                                         const std::optional<SharedEventPoint>& point) {
  Result<std::shared_ptr<Counter>> counter = Counter::open(context, file);
  if (!counter) {
    return std::move(counter).error();
  }
  const std::uint64_t given_out = (*counter)->given_out_elsewhere();
  const SharedEventPoint wanted =
      point.value_or(SharedEventPoint{given_out, static_cast<std::uint8_t>(shared_counter_flag), 0, 0});
  if (Status legal = check(wanted, given_out); !legal) {
    return std::move(legal).error();
  }
  std::unique_ptr<Event> event(new Event(context, nullptr, 0));
  context.add_child();
  event->signal_scope_ = wanted.signal_scope;
  event->wait_scope_ = wanted.wait_scope;
  event->counter_based_ = true;
  event->counter_flags_ = wanted.flags & ~timestamp_flags;
  event->opened_ = true;
  event->follow({std::move(*counter), wanted.value});
  return publish(std::move(event));
}

Result<IpcHandleBytes> Event::ipc_handle() {
  if (!counter_based_ || counter_reach() != CounterReach::processes) {
    return make_error(ErrorCode::invalid_synchronization_object,
                      "the event is not a counter-based one that was created to be shared",
                      "create it by zeEventCounterBasedCreate with ZE_EVENT_COUNTER_BASED_FLAG_IPC");
  }
  CounterPoint now = point();
  if (now.counter == nullptr) {
    Result<std::shared_ptr<Counter>> idle = context_.idle_counter().get(context_);
    if (!idle) {
      return std::move(idle).error();
    }
    now.counter = std::move(*idle);
  }
  Result<IpcHandleBytes> bytes = now.counter->ipc_handle();
  if (!bytes) {
    return bytes;
  }
  Result<IpcHandle> handle = decode_ipc_handle(*bytes);
  if (!handle) {
    return std::move(handle).error();
  }
  handle->hints->point = {now.value, static_cast<std::uint8_t>(counter_flags_),
                          static_cast<std::uint8_t>(signal_scope_), static_cast<std::uint8_t>(wait_scope_)};
  const ScopedLock lock(mutex_);
  if (std::find(handed_out_.begin(), handed_out_.end(), now.counter) == handed_out_.end()) {
    handed_out_.push_back(std::move(now.counter));
  }
  return encode(*handle);
}

}  // namespace datum
