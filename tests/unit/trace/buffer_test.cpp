// Events in a buffer of fixed size.
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "driver/trace/buffer.hpp"

namespace datum::test {

namespace {

trace::Event numbered(std::uint64_t number) {
  trace::Event event{};
  event.id = number;
  event.words[0] = ~number;
  return event;
}

}  // namespace

TEST(TraceBuffer, given_fewer_events_than_fit_when_read_then_all_are_there_in_order) {
  trace::Buffer buffer;
  ASSERT_TRUE(buffer.allocate(8));
  for (std::uint64_t i = 0; i < 5; ++i) {
    buffer.add(numbered(i));
  }
  const auto events = buffer.whole();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events.front()->id, 0U);
  EXPECT_EQ(events.back()->id, 4U);
  EXPECT_EQ(buffer.lost(), 0U);
}

TEST(TraceBuffer, given_more_events_than_fit_when_read_then_the_latest_are_there_and_the_others_counted) {
  trace::Buffer buffer;
  ASSERT_TRUE(buffer.allocate(8));
  for (std::uint64_t i = 0; i < 21; ++i) {
    buffer.add(numbered(i));
  }
  const auto events = buffer.whole();
  ASSERT_EQ(events.size(), 8U);
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(events[i]->id, 13 + i);
  }
  EXPECT_EQ(buffer.lost(), 13U);
}

TEST(TraceBuffer, given_threads_that_add_when_read_then_every_event_is_whole) {
  constexpr unsigned threads = 4;
  constexpr std::uint64_t each = 2000;
  trace::Buffer buffer;
  ASSERT_TRUE(buffer.allocate(threads * each));
  std::vector<std::thread> all;
  for (unsigned thread = 0; thread < threads; ++thread) {
    all.emplace_back([&buffer, thread] {
      for (std::uint64_t i = 0; i < each; ++i) {
        buffer.add(numbered(thread * each + i));
      }
    });
  }
  for (std::thread& thread : all) {
    thread.join();
  }
  const auto events = buffer.whole();
  ASSERT_EQ(events.size(), threads * each);
  std::vector<bool> seen(threads * each);
  for (const trace::Event* event : events) {
    EXPECT_EQ(event->words[0], ~event->id);
    EXPECT_FALSE(seen[event->id]);
    seen[event->id] = true;
  }
}

TEST(TraceBuffer, given_a_buffer_when_cleared_then_it_begins_anew) {
  trace::Buffer buffer;
  ASSERT_TRUE(buffer.allocate(1024));
  buffer.add(numbered(1));
  buffer.clear();
  EXPECT_TRUE(buffer.whole().empty());
  buffer.add(numbered(2));
  ASSERT_EQ(buffer.whole().size(), 1U);
}

}  // namespace datum::test
