// Sentences for what ended a stream.
#include <fmt/format.h>

#include "driver/command/event_word.hpp"
#include "driver/command/failure_words.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/command/stream_feeder.hpp"
#include "driver/command/waited_word.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {

Error StreamFeeder::dependency_error(Stream& stream, const hw::Descriptor& wait) {
  const std::uint64_t word = read_waited_word(wait);
  if ((word & event_word::error_mask) != 0) {
    Error original = find_failure(device_.driver(), word);
    const bool own_step =
        stream.steps_ != nullptr && device_va(stream.steps_->answer_word()) == DeviceVa{wait.dst_address()};
    if (!own_step) {
      original.message = "a command that this one waited for failed: " + original.message;
    }
    return original;
  }
  return make_error(ErrorCode::unknown, "a command that this one waited for failed");
}

Error StreamFeeder::describe_failure(Stream& stream, const RingFault& fault) {
  const Ring& ring = stream.ring_->ring;
  const hw::Descriptor& descriptor = ring.slot(ring.completed() + 1);
  if (fault.status == hw::Status::dependency && descriptor.opcode() == hw::Opcode::wait_value) {
    return dependency_error(stream, descriptor);
  }
  return make_error(ErrorCode::unknown,
                    fmt::format("command {} of the queue, a {}, failed: {}", stream.completed_ + 1,
                                describe(descriptor), describe(fault)),
                    "the queue takes no more work: destroy it and create another");
}

void StreamFeeder::board_was_reset() noexcept {
  for (const std::unique_ptr<LentRing>& lent : pool_.made()) {
    lent->ring.board_was_reset();
  }
}

}  // namespace datum
