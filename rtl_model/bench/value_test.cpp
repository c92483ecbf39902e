// WRITE_VALUE, TIMESTAMP, WAIT_VALUE, completion records and interrupts, and the order between them.
#include "rtl_model/bench/dma_test.hpp"

namespace datum::rtl_bench {
namespace {

using hw::WaitCondition;

constexpr std::uint64_t words = 0x30'0000;
constexpr std::uint64_t source = 0x10'0000;
constexpr std::uint64_t destination = 0x20'0000;
constexpr Surroundings slow{.read_latency_cycles = 40, .write_latency_cycles = 30, .translate_cycles = 8};
constexpr Surroundings stalling{.read_latency_cycles = 3,
                                .write_latency_cycles = 7,
                                .translate_cycles = 2,
                                .stall_percent = 35,
                                .seed = 5};

Address word(unsigned index) { return {host_space, words + 8U * index}; }

Place word_place(unsigned index) { return {Target::host, words + 8U * index}; }

std::uint64_t value_of(DmaBench& bench, unsigned index) {
  return bench.memory().get<std::uint64_t>(word_place(index));
}

class ValueTest : public ::testing::TestWithParam<Surroundings> {
 protected:
  DmaBench bench_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Ideal, ValueTest, ::testing::Values(Surroundings{}));
INSTANTIATE_TEST_SUITE_P(Slow, ValueTest, ::testing::Values(slow));
INSTANTIATE_TEST_SUITE_P(Stalling, ValueTest, ::testing::Values(stalling));

TEST_P(ValueTest, given_values_of_both_sizes_when_written_then_only_their_bytes_change) {
  Ring ring(bench_, 0);
  for (unsigned i = 0; i < 20; ++i) {
    bench_.memory().put<std::uint64_t>(word_place(i), ~std::uint64_t{0});
    ring.put(write_value({host_space, words + 8U * i + (i % 2 != 0 && i % 3 == 0 ? 4U : 0U)},
                         i % 2 == 0 ? 3 : 2, 0x1122334455667700U + i));
  }
  ring.doorbell();
  bench_.run_until_quiescent();
  EXPECT_EQ(value_of(bench_, 0), 0x1122334455667700U);
  EXPECT_EQ(value_of(bench_, 18), 0x1122334455667712U);
  EXPECT_EQ(value_of(bench_, 1), 0xffffffff55667701U);
  EXPECT_EQ(value_of(bench_, 3), 0x55667703ffffffffU);
}

TEST_P(ValueTest, given_a_copy_before_a_value_when_the_value_shows_then_the_copy_is_complete) {
  Ring ring(bench_, 0);
  const Bytes bytes = random_bytes(20000, 4);
  bench_.memory().write(dram(source), bytes);
  ring.put(copy({dram_space, destination + 1}, {dram_space, source}, bytes.size()));
  ring.put(write_value(word(0), 3, 1));
  ring.doorbell();
  bench_.run_until([&] { return value_of(bench_, 0) == 1; });
  EXPECT_TRUE(bytes_at(bench_, dram(destination + 1), bytes.size()) == bytes);
}

TEST_P(ValueTest, given_a_copy_behind_a_value_when_the_copy_begins_to_show_then_the_value_does_too) {
  Ring ring(bench_, 0);
  bench_.memory().write(dram(source), Bytes(4096, 0xaa));
  ring.put(write_value(word(0), 3, 1));
  ring.put(copy({dram_space, destination}, {dram_space, source}, 4096));
  ring.doorbell();
  bench_.run_until([&] { return bytes_at(bench_, dram(destination), 1)[0] == 0xaa; });
  EXPECT_EQ(value_of(bench_, 0), 1U);
}

TEST_P(ValueTest, given_a_timestamp_behind_a_copy_when_written_then_it_is_not_earlier_than_the_last_answer) {
  Ring ring(bench_, 0);
  ring.put(timestamp(word(0)));
  ring.put(copy({dram_space, destination}, {dram_space, source}, 8192));
  ring.put(timestamp(word(1)));
  const std::uint64_t before = bench_.timer_ns();
  ring.doorbell();
  std::uint64_t copied = 0;
  bench_.run_until([&] {
    if (bench_.last_data_answer() != 0 && value_of(bench_, 1) == 0) {
      copied = bench_.timer_ns();
    }
    return bench_.quiescent() && value_of(bench_, 1) != 0;
  });
  EXPECT_GE(value_of(bench_, 0), before);
  EXPECT_GT(value_of(bench_, 1), value_of(bench_, 0) + 128 * 3);
  EXPECT_LE(value_of(bench_, 1), copied);
}

TEST_P(ValueTest, given_a_completion_with_interrupt_when_the_vector_comes_then_the_record_is_in_memory) {
  Ring ring(bench_, 5);
  const Bytes bytes = random_bytes(5000, 9);
  bench_.memory().write(dram(source), bytes);
  ring.put(copy({dram_space, destination}, {dram_space, source}, bytes.size())
               .set_sequence(0xabcd)
               .set_flag_interrupt(true));
  const std::uint64_t rung = bench_.cycle();
  ring.doorbell();
  bench_.run_until([&] { return !bench_.interrupts().empty(); });
  EXPECT_EQ(bench_.interrupts(), std::vector<unsigned>{5});
  const hw::CompletionRecord record = ring.record();
  EXPECT_EQ(record.sequence(), 0xabcdU);
  EXPECT_EQ(record.status(), hw::Status::ok);
  EXPECT_EQ(record.reason(), hw::FaultReason::none);
  EXPECT_EQ(record.ring(), 5U);
  EXPECT_EQ(record.head(), 1U);
  EXPECT_EQ(record.fault_address(), 0U);
  EXPECT_GT(record.timer(), 0U);
  EXPECT_GT(record.cycles(), rung);
  EXPECT_LT(record.cycles(), bench_.cycle());
  EXPECT_TRUE(bytes_at(bench_, dram(destination), bytes.size()) == bytes);
  EXPECT_EQ(bench_.memory().get<std::uint32_t>({Target::host, ring.record_address() + 20}), 0U) << "reserved";
  EXPECT_TRUE(bytes_at(bench_, {Target::host, ring.record_address() + 40}, 24) == Bytes(24, 0)) << "reserved";
}

TEST_P(ValueTest, given_many_completions_when_done_then_records_only_go_forward_and_the_last_one_stands) {
  Ring ring(bench_, 7, 8);
  for (unsigned i = 0; i < 200; ++i) {
    ring.put(fill({dram_space, destination + i}, i % 90, 0, i).set_sequence(i + 1).set_flag_complete(true));
  }
  ring.doorbell();
  std::uint32_t last = 0;
  bench_.run_until([&] {
    const std::uint32_t now = ring.record().sequence();
    EXPECT_GE(now, last);
    last = now;
    return bench_.quiescent() && now == 200;
  });
  EXPECT_EQ(ring.record().head(), 200U);
  EXPECT_EQ(bench_.descriptors_done(), 200U);
}

TEST_P(ValueTest, given_each_condition_when_it_holds_then_the_ring_goes_on_and_else_it_parks) {
  struct Case {
    WaitCondition condition;
    std::uint64_t word, mask, value;
    bool holds;
  };

  const std::vector<Case> cases = {
      {WaitCondition::equal, 5, ~std::uint64_t{0}, 5, true},
      {WaitCondition::equal, 0x15, 0xf, 5, true},
      {WaitCondition::equal, 6, ~std::uint64_t{0}, 5, false},
      {WaitCondition::not_equal, 6, ~std::uint64_t{0}, 5, true},
      {WaitCondition::not_equal, 0x15, 0xf, 5, false},
      {WaitCondition::greater_equal, 5, ~std::uint64_t{0}, 5, true},
      {WaitCondition::greater_equal, 4, ~std::uint64_t{0}, 5, false},
      {WaitCondition::greater_equal, ~std::uint64_t{0}, ~std::uint64_t{0}, 1, true}};
  Ring ring(bench_, 2);
  unsigned index = 0;
  for (const Case& one : cases) {
    bench_.memory().put(word_place(index), one.word);
    ring.restart();
    ring.put(wait_value(word(index), one.condition, one.value, one.mask));
    ring.doorbell();
    bench_.run_until_quiescent();
    EXPECT_EQ(ring.state(), one.holds ? hw::RingState::idle : hw::RingState::parked) << index;
    EXPECT_EQ(ring.head(), one.holds ? 1U : 0U) << index;
    EXPECT_EQ(bench_.parked(), !one.holds) << index;
    ++index;
  }
}

TEST_P(ValueTest,
       given_a_parked_ring_when_any_kind_of_write_makes_the_condition_hold_then_it_goes_on_by_itself) {
  bench_.set_park_recheck_ns(0);
  Ring waiter(bench_, 1);
  Ring writer(bench_, 2);
  bench_.memory().put<std::uint64_t>(dram(source + 16), 3);
  const std::vector<hw::Descriptor> writes = {
      write_value(word(0), 3, 1), write_value(word(0), 2, 2),
      copy({host_space, words - 16}, {dram_space, source}, 64), fill({host_space, words - 8}, 16, 3, 4),
      copy_region({host_space, words - 100}, {dram_space, source},
                  {.x_bytes = 3, .rows = 40, .src_row_pitch = 0, .dst_row_pitch = 3})};
  std::uint32_t index = 0;
  for (const hw::Descriptor& write : writes) {
    bench_.memory().put<std::uint64_t>(word_place(0), 99);
    waiter.submit(wait_value(word(0), WaitCondition::not_equal, 99));
    bench_.run_until_quiescent();
    ASSERT_EQ(waiter.state(), hw::RingState::parked);
    writer.submit(write);
    bench_.run_until_quiescent();
    EXPECT_EQ(waiter.state(), hw::RingState::idle) << index;
    ++index;
    EXPECT_EQ(waiter.head(), index);
  }
}

TEST_P(ValueTest, given_a_word_written_from_outside_when_kicked_or_due_then_the_parked_ring_goes_on) {
  bench_.set_park_recheck_ns(0);
  Ring first(bench_, 1);
  Ring second(bench_, 63);
  const auto park = [&](Ring& ring, std::uint64_t value) {
    ring.submit(wait_value(word(0), WaitCondition::greater_equal, value));
    bench_.run_until_quiescent();
    ASSERT_EQ(ring.state(), hw::RingState::parked);
  };
  park(first, 1);
  bench_.memory().put<std::uint64_t>(word_place(0), 1);
  bench_.run(300);
  EXPECT_EQ(first.state(), hw::RingState::parked);
  bench_.write_register(hw::ring_kick(1), 1);
  bench_.run_until_quiescent();
  EXPECT_EQ(first.state(), hw::RingState::idle);

  park(first, 2);
  park(second, 2);
  bench_.memory().put<std::uint64_t>(word_place(0), 2);
  bench_.kick_all();
  bench_.run_until_quiescent();
  EXPECT_EQ(first.state(), hw::RingState::idle);
  EXPECT_EQ(second.state(), hw::RingState::idle);

  park(first, 3);
  bench_.set_park_recheck_ns(5000);
  bench_.run(10);
  bench_.memory().put<std::uint64_t>(word_place(0), 3);
  bench_.set_timer(bench_.timer_ns() + 10000);
  bench_.run_until([&] { return first.head() == 3; });
  bench_.run_until_quiescent();
  EXPECT_EQ(first.state(), hw::RingState::idle);
}

TEST_P(ValueTest, given_a_parked_ring_when_its_word_is_not_written_then_other_writes_wake_nothing) {
  bench_.set_park_recheck_ns(0);
  Ring waiter(bench_, 1);
  Ring writer(bench_, 2);
  waiter.submit(wait_value(word(0), WaitCondition::equal, 1));
  bench_.run_until_quiescent();
  bench_.forget_history();
  for (unsigned i = 1; i < 20; ++i) {
    writer.put(write_value(word(i), 3, 1));
    writer.put(copy({dram_space, destination}, {dram_space, source}, 4096));
  }
  writer.doorbell();
  bench_.run_until_quiescent();
  for (const Burst& burst : bench_.bursts()) {
    EXPECT_FALSE(burst.place.target == Target::host && burst.place.address == words && !burst.write);
  }
  EXPECT_EQ(waiter.state(), hw::RingState::parked);
}

TEST(WatchTest, given_a_parked_ring_when_a_page_that_differs_in_one_bit_is_written_then_it_is_not_looked_at) {
  DmaBench bench;
  bench.set_park_recheck_ns(0);
  constexpr std::uint64_t frame = 0xa5'5a3c'c96b;
  constexpr std::uint64_t first_page = destination >> 12U;
  bench.map(host_space, words >> 12U, {Target::dram, frame});
  Ring waiter(bench, 1);
  Ring writer(bench, 2);
  waiter.submit(wait_value(word(0), WaitCondition::equal, 1));
  bench.run_until_quiescent();
  ASSERT_EQ(waiter.state(), hw::RingState::parked);
  bench.forget_history();
  for (unsigned bit = 0; bit < 40; ++bit) {
    bench.map(dram_space, first_page + bit, {Target::dram, frame ^ (std::uint64_t{1} << bit)});
  }
  bench.map(dram_space, first_page + 40, {Target::host, frame});
  bench.map(dram_space, first_page + 41, {Target::onchip, frame});
  writer.submit(fill({dram_space, destination}, 42 * 0x1000, 3, 1));
  bench.run_until_quiescent();
  for (const Burst& burst : bench.bursts()) {
    EXPECT_TRUE(burst.write || burst.place.target != Target::dram || burst.place.address >> 12U != frame);
  }
  EXPECT_EQ(waiter.state(), hw::RingState::parked);
}

TEST_P(ValueTest,
       given_64_rings_in_a_chain_when_the_last_one_waits_for_all_others_then_each_goes_on_in_turn) {
  bench_.set_park_recheck_ns(0);
  bench_.set_channels(1);
  std::vector<std::unique_ptr<Ring>> rings;
  for (unsigned r = 0; r < 64; ++r) {
    rings.push_back(std::make_unique<Ring>(bench_, r, 2));
  }
  // Ring r waits for ring r + 1, so that the order in which they are served is the worst one.
  for (unsigned r = 0; r < 64; ++r) {
    rings[r]->put(wait_value(word(r + 1), WaitCondition::equal, 1));
    rings[r]->put(write_value(word(r), 3, 1).set_flag_complete(true));
    rings[r]->doorbell();
  }
  bench_.run_until_quiescent();
  for (unsigned r = 0; r < 64; ++r) {
    ASSERT_EQ(rings[r]->state(), hw::RingState::parked) << r;
  }
  bench_.memory().put<std::uint64_t>(word_place(64), 1);
  bench_.write_register(hw::ring_kick(63), 1);
  bench_.run_until_quiescent();
  for (unsigned r = 0; r < 64; ++r) {
    ASSERT_EQ(rings[r]->state(), hw::RingState::idle) << r;
    ASSERT_EQ(value_of(bench_, r), 1U) << r;
    ASSERT_EQ(rings[r]->record().sequence(), 1U) << r;
  }
}

TEST_P(ValueTest, given_two_rings_in_ping_pong_when_each_waits_for_the_other_then_no_wake_is_lost) {
  bench_.set_park_recheck_ns(0);
  constexpr unsigned rounds = 100;
  Ring ping(bench_, 10);
  Ring pong(bench_, 20);
  for (unsigned i = 1; i <= rounds; ++i) {
    ping.put(write_value(word(0), 3, i));
    ping.put(wait_value(word(1), WaitCondition::greater_equal, i));
    pong.put(wait_value(word(0), WaitCondition::greater_equal, i));
    pong.put(write_value(word(1), 3, i));
  }
  ping.doorbell();
  pong.doorbell();
  bench_.run_until_quiescent();
  EXPECT_EQ(ping.state(), hw::RingState::idle);
  EXPECT_EQ(pong.state(), hw::RingState::idle);
  EXPECT_EQ(value_of(bench_, 1), rounds);
}

TEST_P(ValueTest, given_an_error_bit_in_the_word_when_waited_for_then_the_ring_fails_with_dependency) {
  Ring ring(bench_, 4);
  bench_.memory().put<std::uint64_t>(word_place(0), 0x8000000000000001U);
  ring.put(wait_value(word(0), WaitCondition::equal, 1, 0xffff, 0x8000000000000000U).set_sequence(77));
  ring.put(write_value(word(1), 3, 1));
  ring.doorbell();
  bench_.run_until_quiescent();
  EXPECT_EQ(ring.state(), hw::RingState::faulted);
  EXPECT_EQ(ring.record().status(), hw::Status::dependency);
  EXPECT_EQ(ring.record().sequence(), 77U);
  EXPECT_EQ(ring.head(), 1U);
  EXPECT_EQ(value_of(bench_, 1), 0U);
}

}  // namespace
}  // namespace datum::rtl_bench
