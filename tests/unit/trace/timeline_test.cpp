// Events as slices, arrows and counters of a timeline.
#include <cstdio>
#include <deque>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <datum/hw/registers.hpp>

#include "driver/trace/ring_slices.hpp"
#include "driver/trace/timeline.hpp"

namespace datum::test {

namespace {

using nlohmann::json;
using trace::Event;
using trace::Kind;

constexpr std::uint32_t thread = 4711;
constexpr int process = 4700;

}  // namespace

class TraceTimeline : public ::testing::Test {
 protected:
  Event& add(Kind kind, std::uint64_t begin_ns, std::uint64_t end_ns,
             std::initializer_list<std::uint64_t> words = {}) {
    Event& event = events_.emplace_back();
    event = {};
    event.kind = kind;
    event.name = "name";
    event.begin_ns = begin_ns;
    event.end_ns = end_ns;
    event.thread = thread;
    event.ring = 3;
    event.word_count = static_cast<std::uint32_t>(words.size());
    std::copy(words.begin(), words.end(), event.words.begin());
    return event;
  }

  void call(std::uint64_t number, const char* signature, std::uint64_t begin_ns, std::uint64_t end_ns,
            std::initializer_list<std::uint64_t> words = {}) {
    Event& event = add(Kind::api_call, begin_ns, end_ns, words);
    event.id = number;
    event.name = signature;
  }

  void descriptor(std::uint64_t number, std::uint64_t at_ns, std::uint64_t call_number,
                  bool interrupts = false) {
    add(Kind::descriptor, at_ns, at_ns,
        {number, static_cast<std::uint64_t>(hw::Opcode::copy), interrupts ? 1U : 0U, 4096, 0x1000, 0x2000})
        .id = call_number;
  }

  void completion(std::uint64_t number, std::uint64_t seen_ns, std::uint64_t timer,
                  hw::Status status = hw::Status::ok, std::uint64_t cycles = 0) {
    add(Kind::completion, seen_ns, seen_ns, {number, static_cast<std::uint64_t>(status), timer, cycles});
  }

  /// TIMER is host time minus 1000 ns.
  void clock() { add(Kind::clock, 1000, 1000, {0, 1'000'000'000}); }

  /// The clock has 300 MHz.
  void clock_with_cycles(std::uint64_t at_ns, std::uint64_t timer, std::uint64_t cycles) {
    add(Kind::clock, at_ns, at_ns, {timer, 1'000'000'000, cycles, 300'000'000});
  }

  json cycle_of_end(std::uint64_t timer) {
    descriptor(1, 2500, 0);
    completion(1, 9500, timer);
    return with(timeline(), "cat", "descriptor").at(0).at("args").at("cycle");
  }

  json timeline(std::uint64_t lost = 0) {
    std::vector<const Event*> all;
    for (const Event& event : events_) {
      all.push_back(&event);
    }
    char* text = nullptr;
    std::size_t bytes = 0;
    std::FILE* const file = ::open_memstream(&text, &bytes);
    EXPECT_TRUE(trace::write_timeline(file, all, names_, lost, process));
    std::fclose(file);
    json parsed = json::parse(std::string(text, bytes));
    std::free(text);
    return parsed;
  }

  static std::vector<json> with(const json& timeline, const char* member, const char* value) {
    std::vector<json> found;
    for (const json& event : timeline.at("traceEvents")) {
      if (event.contains(member) && event.at(member) == value) {
        found.push_back(event);
      }
    }
    return found;
  }

  std::vector<trace::DescriptorSlice> slices() {
    std::vector<const Event*> all;
    trace::BoardTime time;
    for (const Event& event : events_) {
      if (event.kind == Kind::clock) {
        time.add_reading(event);
      }
      all.push_back(&event);
    }
    return trace::slices_of_ring(all, time);
  }

  std::deque<Event> events_;
  trace::Names names_;
};

TEST_F(TraceTimeline, given_a_call_when_written_then_its_slice_has_name_time_result_and_arguments_by_name) {
  call(7, "zeMemFree(hContext, ptr)", 2'000'500, 2'001'750, {0x10, 0x20});
  events_.back().result = static_cast<std::int32_t>(0x78000004);
  const json slice = with(timeline(), "cat", "api").at(0);
  EXPECT_EQ(slice.at("name"), "zeMemFree");
  EXPECT_EQ(slice.at("ph"), "X");
  EXPECT_DOUBLE_EQ(slice.at("ts"), 2000.5);
  EXPECT_DOUBLE_EQ(slice.at("dur"), 1.25);
  EXPECT_EQ(slice.at("tid"), thread);
  EXPECT_EQ(slice.at("args"),
            (json{{"call", 7}, {"result", "0x78000004"}, {"hContext", "0x10"}, {"ptr", "0x20"}}));
}

TEST_F(TraceTimeline,
       given_a_descriptor_with_an_interrupt_when_written_then_arrows_lead_from_call_to_ring_to_interrupt) {
  clock();
  call(1, "zeX(a)", 2000, 3000);
  descriptor(1, 2500, 1, true);
  add(Kind::doorbell, 2600, 2600, {1});
  add(Kind::interrupt, 2700, 9000);
  completion(1, 9500, 7000);
  const json all = timeline();
  const json start = with(all, "ph", "s").at(0);
  const json step = with(all, "ph", "t").at(0);
  const json end = with(all, "ph", "f").at(0);
  EXPECT_EQ(start.at("id"), step.at("id"));
  EXPECT_EQ(start.at("id"), end.at("id"));
  EXPECT_EQ(start.at("tid"), thread);
  EXPECT_DOUBLE_EQ(start.at("ts"), 2.5);
  const json slice = with(all, "cat", "descriptor").at(0);
  EXPECT_EQ(slice.at("name"), "COPY");
  EXPECT_EQ(slice.at("tid"), 3);
  EXPECT_DOUBLE_EQ(slice.at("ts"), 2.6);
  EXPECT_DOUBLE_EQ(slice.at("dur"), 5.4);  // TIMER 7000 is 8000 ns of the host
  EXPECT_EQ(step.at("pid"), slice.at("pid"));
  EXPECT_EQ(step.at("ts"), slice.at("ts"));
  const json interrupt = with(all, "name", "interrupt").at(0);
  EXPECT_DOUBLE_EQ(interrupt.at("ts"), 9.0);
  EXPECT_EQ(end.at("ts"), interrupt.at("ts"));
  EXPECT_EQ(end.at("tid"), interrupt.at("tid"));
}

TEST_F(TraceTimeline, given_an_end_that_no_interrupt_announced_when_written_then_it_was_seen_by_polling) {
  clock();
  call(1, "zeX(a)", 2000, 3000);
  descriptor(1, 2500, 1, true);
  completion(1, 9500, 7000);
  const json all = timeline();
  EXPECT_TRUE(with(all, "name", "interrupt").empty());
  EXPECT_DOUBLE_EQ(with(all, "name", "seen by polling").at(0).at("ts"), 9.5);
}

TEST_F(TraceTimeline, given_a_descriptor_of_no_call_when_written_then_it_has_a_slice_and_no_arrow) {
  descriptor(1, 2500, 0);
  completion(1, 9500, 7000);
  const json all = timeline();
  EXPECT_EQ(with(all, "cat", "descriptor").size(), 1U);
  EXPECT_TRUE(with(all, "ph", "s").empty());
}

TEST_F(TraceTimeline, given_readings_of_the_clock_when_written_then_the_end_of_a_descriptor_has_its_cycle) {
  clock_with_cycles(1000, 10'000, 3000);
  EXPECT_EQ(cycle_of_end(20'000), 6000) << "at the clock's own speed behind the last reading";
}

TEST_F(TraceTimeline,
       given_a_clock_that_stood_still_meanwhile_when_written_then_the_cycle_lies_between_the_readings) {
  clock_with_cycles(1000, 10'000, 3000);
  clock_with_cycles(9000, 30'000, 3100);
  EXPECT_EQ(cycle_of_end(20'000), 3050);
}

TEST_F(TraceTimeline,
       given_a_reset_between_readings_when_written_then_the_cycle_follows_from_the_one_before) {
  clock_with_cycles(1000, 10'000, 3000);
  clock_with_cycles(9000, 30'000, 100);
  EXPECT_EQ(cycle_of_end(11'000), 3300);
}

TEST_F(TraceTimeline, given_a_record_that_tells_its_cycle_when_written_then_that_is_the_cycle) {
  clock_with_cycles(1000, 10'000, 3000);
  descriptor(1, 2500, 0);
  completion(1, 9500, 20'000, hw::Status::ok, 4321);
  EXPECT_EQ(with(timeline(), "cat", "descriptor").at(0).at("args").at("cycle"), 4321);
}

TEST_F(TraceTimeline, given_no_reading_when_written_then_there_is_no_cycle_but_the_timer) {
  descriptor(1, 2500, 0);
  completion(1, 9500, 7000);
  const json arguments = with(timeline(), "cat", "descriptor").at(0).at("args");
  EXPECT_FALSE(arguments.contains("cycle"));
  EXPECT_EQ(arguments.at("timer"), 7000);
}

TEST_F(TraceTimeline,
       given_records_for_several_descriptors_when_cut_then_slices_lie_beside_or_inside_one_another) {
  clock();
  descriptor(1, 2000, 0);
  descriptor(2, 2100, 0);
  descriptor(3, 2200, 0);
  completion(2, 6000, 4000);  // 5000 ns of the host
  completion(3, 9000, 7000);
  const auto cut = slices();
  ASSERT_EQ(cut.size(), 3U);
  EXPECT_EQ(cut[0].begin_ns, 2000U);
  EXPECT_EQ(cut[0].end_ns, 5000U);
  EXPECT_EQ(cut[1].begin_ns, 2100U);
  EXPECT_EQ(cut[1].end_ns, 5000U);
  EXPECT_EQ(cut[2].begin_ns, 5000U);
  EXPECT_EQ(cut[2].end_ns, 8000U);
}

TEST_F(TraceTimeline, given_numbers_that_wrap_when_cut_then_descriptors_find_their_record) {
  descriptor(0xffffffff, 2000, 0);
  descriptor(0, 2100, 0);
  completion(0, 6000, 0);
  const auto cut = slices();
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_NE(cut[0].completion, nullptr);
  EXPECT_NE(cut[1].completion, nullptr);
}

TEST_F(TraceTimeline, given_a_ring_that_starts_again_when_cut_then_what_had_no_record_says_so) {
  descriptor(1, 2000, 0);
  add(Kind::ring_start, 3000, 3000);
  descriptor(1, 4000, 0);
  completion(1, 6000, 0);
  const auto cut = slices();
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_EQ(cut[0].completion, nullptr);
  EXPECT_NE(cut[1].completion, nullptr);
  EXPECT_EQ(with(timeline(), "cat", "descriptor").at(0).at("args").at("status"), "no record");
}

TEST_F(TraceTimeline, given_clocks_that_do_not_agree_when_cut_then_a_record_is_never_later_than_it_was_seen) {
  clock();
  descriptor(1, 2000, 0);
  completion(1, 6000, 1'000'000);
  descriptor(2, 7000, 0);
  completion(2, 8000, 0);
  const auto cut = slices();
  EXPECT_EQ(cut[0].end_ns, 6000U);
  EXPECT_EQ(cut[1].begin_ns, 7000U);
  EXPECT_EQ(cut[1].end_ns, 7000U);
}

TEST_F(TraceTimeline, given_allocations_when_written_then_each_lives_from_its_call_to_its_free) {
  add(Kind::allocation, 2000, 2000, {0x7000, 4096}).name = "device memory";
  add(Kind::free, 3000, 3000, {0x7000});
  add(Kind::free, 3500, 3500, {0x9999});
  const json all = timeline();
  ASSERT_EQ(with(all, "ph", "b").size(), 1U);
  ASSERT_EQ(with(all, "ph", "e").size(), 1U);
  EXPECT_EQ(with(all, "ph", "b").at(0).at("id"), with(all, "ph", "e").at(0).at("id"));
  EXPECT_EQ(with(all, "ph", "b").at(0).at("args").at("bytes"), 4096);
}

TEST_F(TraceTimeline, given_names_counters_and_losses_when_written_then_they_are_told) {
  names_.add_thread(thread, "wor\"ker\x01");
  names_.add_board("model:");
  add(Kind::counters, 2000, 2000, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  add(Kind::counters, 2000, 2000, {10, 11, 12}).id = 9;
  const json all = timeline(17);
  const std::vector<json> counters = with(all, "ph", "C");
  ASSERT_EQ(counters.size(), trace::counter_names.size());
  EXPECT_EQ(counters.back().at("name"), "stalled cycles");
  EXPECT_EQ(counters.back().at("args").begin().value(), 12);
  EXPECT_EQ(all.at("otherData").at("lost_events"), 17);
  std::vector<std::string> names;
  for (const json& event : with(all, "ph", "M")) {
    if (event.at("args").contains("name")) {
      names.push_back(event.at("args").at("name"));
    }
  }
  EXPECT_NE(std::find(names.begin(), names.end(), "wor\"ker?"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "board 0: model:"), names.end());
}

}  // namespace datum::test
