// A board that answers but never finishes is found; one that waits or works slowly is left alone.
#include <atomic>
#include <memory>

#include <datum/board/watchdog_mark.hpp>

#include "driver/command/hang_check.hpp"
#include "driver/device/limits.hpp"
#include "tests/fakes/deaf_function.hpp"
#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

constexpr std::uint64_t half_second = 500'000'000;

/// Looks every half second of both clocks at one board.
class Watch {
 public:
  /// Looks until a ring is stuck, at most `looks` times; the number of the look that found one, or 0.
  unsigned looks_until_stuck(unsigned looks) {
    for (unsigned look = 1; look <= looks; ++look) {
      now_ns += half_second;
      beats += beats_per_look;
      const BoardProgress now{std::span(&ring, 1), beats, now_ns * board_speed, now_ns, scale};
      if (check.find_stuck(now)) {
        return look;
      }
    }
    return 0;
  }

  HangCheck check;
  RingProgress ring{3, 10, 5, false, 4096};
  std::uint64_t now_ns = 1'000 * half_second;
  std::uint64_t beats = 77;
  std::uint64_t beats_per_look = 0;
  std::uint64_t board_speed = 1;
  unsigned scale = 1;
};

TEST(HangCheck, given_a_ring_that_does_nothing_when_watched_then_it_is_stuck_within_ten_seconds) {
  Watch watch;
  const unsigned look = watch.looks_until_stuck(100);
  EXPECT_GT(look * half_second, limits::no_progress_ns);
  EXPECT_LE(look, 20U);
}

TEST(HangCheck, given_a_parked_ring_when_watched_for_an_hour_then_it_is_not_stuck) {
  Watch watch;
  watch.ring.parked = true;
  EXPECT_EQ(watch.looks_until_stuck(7200), 0U);
}

TEST(HangCheck, given_a_huge_copy_that_moves_data_when_watched_then_it_has_the_time_that_its_size_needs) {
  Watch watch;
  watch.beats_per_look = 1;
  watch.ring.begun_bytes = 1ULL << 40U;
  EXPECT_EQ(watch.looks_until_stuck(7200), 0U) << "a terabyte at 10 MB/s takes more than an hour";
  watch.ring.begun_bytes = 1ULL << 20U;
  EXPECT_NE(watch.looks_until_stuck(20), 0U) << "others move data, but a megabyte does not take ten seconds";
}

TEST(HangCheck,
     given_a_board_that_crawls_when_watched_then_it_has_the_time_until_its_work_was_moved_many_times) {
  Watch watch;
  watch.ring.begun_bytes = 128U << 20U;
  watch.beats_per_look = 8192;  // a megabyte in a second
  EXPECT_EQ(watch.looks_until_stuck(2 * 500), 0U) << "128 MiB, read and written, by one of several rings";
  EXPECT_NE(watch.looks_until_stuck(2 * 700), 0U) << "a gigabyte was moved, and the ring still stands";
}

TEST(HangCheck, given_a_process_that_was_stopped_for_an_hour_when_it_goes_on_then_the_pause_is_no_hang) {
  Watch watch;
  EXPECT_EQ(watch.looks_until_stuck(2), 0U);
  watch.now_ns += 7200 * half_second;
  EXPECT_EQ(watch.looks_until_stuck(2), 0U);
}

TEST(HangCheck, given_a_slow_simulation_when_watched_then_the_bound_is_scaled) {
  Watch watch;
  watch.scale = 50;
  EXPECT_EQ(watch.looks_until_stuck(8 * 49), 0U);
  EXPECT_NE(watch.looks_until_stuck(16), 0U);
}

TEST(HangCheck, given_a_board_whose_clock_stands_still_when_watched_then_host_time_bounds_it) {
  Watch watch;
  watch.board_speed = 0;
  const unsigned look = watch.looks_until_stuck(100);
  EXPECT_GE(look * half_second, limits::register_wait_host_ns);
  EXPECT_NE(look, 0U);
}

TEST(HangCheck, given_progress_now_and_then_when_watched_then_the_time_starts_anew) {
  Watch watch;
  for (int step = 0; step < 20; ++step) {
    ++watch.ring.head;
    ASSERT_EQ(watch.looks_until_stuck(7), 0U) << step;
  }
}

TEST(HangCheck, given_a_head_that_jumps_to_and_fro_when_watched_then_that_is_no_progress) {
  Watch watch;
  unsigned stuck = 0;
  for (unsigned step = 0; step < 40 && stuck == 0; ++step) {
    watch.ring.head = 6 + step * 7 % 5;
    stuck = watch.looks_until_stuck(1);
  }
  EXPECT_NE(stuck, 0U);
}

class HangTest : public ModelBench {
 protected:
  std::unique_ptr<board::PcieFunction> decorate(std::unique_ptr<board::PcieFunction> function) override {
    return std::make_unique<DeafFunction>(std::move(function), deaf_);
  }

  std::atomic<bool> deaf_{false};
};

TEST_F(HangTest, given_a_board_that_never_begins_its_work_when_waited_for_then_it_is_lost_within_the_bound) {
  Owned<CommandQueue> on = queue();
  Owned<Fence> fence(*Fence::create(*on, false));
  Owned<EventPool> events = pool(1);
  Owned<Event> done = event(*events);
  void* target = host_memory(64);
  Owned<CommandList> work = list();
  ASSERT_TRUE(succeeded(work->append(fill(target, 64, 1), done.get(), {})));
  ASSERT_TRUE(succeeded(work->close()));
  ASSERT_TRUE(succeeded(run(*on, *work)));
  ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
  ASSERT_TRUE(succeeded(done->host_reset()));
  deaf_ = true;
  ASSERT_TRUE(succeeded(run(*on, *work, fence.get())));
  const Status waited = on->synchronize(patience_ns);
  ASSERT_EQ(code(waited), ErrorCode::device_lost);
  EXPECT_NE(waited.error().message.find("does not go on"), std::string::npos) << waited.error().message;
  EXPECT_EQ(code(fence->synchronize(patience_ns)), ErrorCode::device_lost);
  EXPECT_FALSE(done->synchronize(patience_ns).ok());
  EXPECT_EQ(code(device().board().health()), ErrorCode::device_lost);
  EXPECT_EQ(device().board().read64(hw::scratch), board::watchdog_mark)
      << "whoever looks on from the board's side";
  EXPECT_EQ(code(run(*on, *work)), ErrorCode::device_lost);
}

}  // namespace
}  // namespace datum::test
