// From a board's clock to the host's, also where the board's count begins anew.
#include <gtest/gtest.h>

#include "driver/device/clock_pair.hpp"

namespace datum::test {
namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

ClockPair pair_of(std::uint64_t host_ns, std::uint64_t board_ticks, std::uint64_t ticks_per_s = ns_per_s) {
  ClockPair pair;
  pair.host_ns = host_ns;
  pair.board_ticks = board_ticks;
  pair.ticks_per_s = ticks_per_s;
  return pair;
}

TEST(ClockPair, given_times_before_and_after_the_reading_when_converted_then_they_are_as_far_from_it) {
  const ClockPair clocks = pair_of(50 * ns_per_s, 7'000);
  EXPECT_EQ(clocks.host_time_of(7'000), 50 * ns_per_s);
  EXPECT_EQ(clocks.host_time_of(7'123), 50 * ns_per_s + 123);
  EXPECT_EQ(clocks.host_time_of(6'500), 50 * ns_per_s - 500);
}

TEST(ClockPair,
     given_a_count_that_wrapped_between_the_time_and_the_reading_then_the_time_is_still_the_earlier) {
  const ClockPair after = pair_of(50 * ns_per_s, 400);
  EXPECT_EQ(after.host_time_of(~0ULL - 599), 50 * ns_per_s - 1'000);
  EXPECT_EQ(after.host_time_of(0), 50 * ns_per_s - 400);
  const ClockPair before = pair_of(50 * ns_per_s, ~0ULL - 99);
  EXPECT_EQ(before.host_time_of(900), 50 * ns_per_s + 1'000);
}

TEST(ClockPair, given_a_clock_of_another_frequency_when_converted_then_hours_lose_no_nanosecond) {
  constexpr std::uint64_t hz = 300'000'000;
  constexpr std::uint64_t day_s = 86'400;
  const ClockPair clocks = pair_of(10 * day_s * ns_per_s, ~0ULL - 50, hz);
  EXPECT_EQ(clocks.host_time_of(clocks.board_ticks + day_s * hz + 3), (11 * day_s) * ns_per_s + 10);
  EXPECT_EQ(clocks.host_time_of(clocks.board_ticks - day_s * hz - 30), (9 * day_s) * ns_per_s - 100);
}

}  // namespace
}  // namespace datum::test
