#include "driver/command/counter.hpp"
#include "driver/command/event.hpp"
#include "driver/command/stream.hpp"
#include "driver/object/device.hpp"

namespace datum {

Stream::Stream(Context& context, Device& device, QueueRank rank)
    : context_(context),
      device_index_(device.index()),
      space_(context.space(device).number()),
      board_life_(context.board_life(device)),
      rank_(rank) {}

void Submission::clear() noexcept {
  for (const StreamItem& item : items) {
    if (item.event != nullptr && item.event->release()) {
      delete item.event;
    }
  }
  for (const SubmittedPoint& point : points) {
    if (point.event->release()) {
      delete point.event;
    }
  }
  items.clear();
  keeps.clear();
  steps.clear();
  points.clear();
}

void Submission::follow_points(const StreamCounters& counters) {
  for (const SubmittedPoint& point : points) {
    const std::shared_ptr<Counter>& counter = counters[static_cast<std::size_t>(point.reach)];
    counter->give_out(point.value);
    point.event->follow({counter, point.value});
    if (point.event->release()) {
      delete point.event;
    }
  }
  points.clear();
}

}  // namespace datum
