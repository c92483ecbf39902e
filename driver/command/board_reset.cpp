// A board begins its next life: what the driver had on it ends.
#include <datum/base/mutex.hpp>

#include "driver/command/ring_scheduler.hpp"
#include "driver/command/ring_scheduler_impl.hpp"
#include "driver/device/board.hpp"
#include "driver/object/device.hpp"

namespace datum {

Status RingScheduler::reset_board() {
  Board& board = impl_->device.board();
  // Lost from its first step on, so that nobody submits or waits for more; and reset before anything is ended
  // here, so that the board writes no event word after the host did.
  Status reset = board.reset();
  if (!reset && !board.is_lost()) {
    return reset;
  }
  Aftermath after;
  UniqueLock lock(impl_->mutex);
  impl_->feeder.fail_all(reset ? make_error(ErrorCode::device_lost, "the board was reset") : reset.error(),
                         after);
  impl_->feeder.board_was_reset();
  impl_->hang_check = {};
  impl_->update_hints();
  impl_->settle(after);
  lock.unlock();
  board.hub().notify();
  impl_->own->board_was_reset();
  if (reset) {
    board.begin_next_life();
    board.hub().notify();  // who waits for something of the life before
  }
  return reset;
}

void RingScheduler::driver_space_is_back() { impl_->own->driver_space_is_back(); }

}  // namespace datum
