// Rings: wrapping, sizes, stopping, resetting, draining, sharing of channels.
#include "rtl_model/bench/dma_test.hpp"

namespace datum::rtl_bench {
namespace {

using hw::RingState;

constexpr std::uint64_t source = 0x10'0000;
constexpr std::uint64_t destination = 0x20'0000;

class RingTest : public ::testing::TestWithParam<Surroundings> {
 protected:
  DmaBench bench_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Ideal, RingTest, ::testing::Values(Surroundings{}));
INSTANTIATE_TEST_SUITE_P(Slow, RingTest,
                         ::testing::Values(Surroundings{
                             .read_latency_cycles = 90, .write_latency_cycles = 70, .translate_cycles = 15}));
INSTANTIATE_TEST_SUITE_P(Stalling, RingTest,
                         ::testing::Values(Surroundings{.read_latency_cycles = 4,
                                                        .write_latency_cycles = 6,
                                                        .translate_cycles = 2,
                                                        .stall_percent = 40,
                                                        .seed = 3}));

TEST_P(RingTest, given_every_small_size_when_the_ring_wraps_often_then_each_slot_is_executed_once) {
  for (unsigned size_log2 = 0; size_log2 <= 6; ++size_log2) {
    Ring ring(bench_, size_log2, size_log2);
    const unsigned size = 1U << size_log2;
    for (unsigned round = 0; round < 5; ++round) {
      const unsigned count = round % 2 == 0 ? size : (size + 1) / 2;
      for (unsigned i = 0; i < count; ++i) {
        ring.put(write_value({dram_space, destination + 8U * ring.tail()}, 3, ring.tail() + 1));
      }
      ring.doorbell();
      bench_.run_until_quiescent();
    }
    EXPECT_EQ(ring.head(), ring.tail());
    for (unsigned i = 0; i < ring.tail(); ++i) {
      ASSERT_EQ(bench_.memory().get<std::uint64_t>(dram(destination + 8U * i)), i + 1) << size_log2;
    }
  }
}

TEST_P(RingTest, given_doorbells_while_the_ring_runs_when_descriptors_trickle_in_then_all_are_executed) {
  Ring ring(bench_, 0, 8);
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 200; ++i) {
    ring.submit(write_value({dram_space, destination + 8U * i}, 3, i + 1));
    bench_.run(random() % 40);
  }
  bench_.run_until_quiescent();
  EXPECT_EQ(ring.state(), RingState::idle);
  for (unsigned i = 0; i < 200; ++i) {
    ASSERT_EQ(bench_.memory().get<std::uint64_t>(dram(destination + 8U * i)), i + 1);
  }
}

TEST_P(RingTest, given_registers_when_read_then_they_hold_what_was_written_and_unknown_ones_read_zero) {
  Ring ring(bench_, 12, 4);
  EXPECT_EQ(bench_.read_register(hw::ring_base(12)), static_cast<std::uint32_t>(ring.slot_address(0)));
  EXPECT_EQ(bench_.read_register(hw::ring_base(12) + 4),
            static_cast<std::uint32_t>(ring.slot_address(0) >> 32U));
  EXPECT_EQ(bench_.read_register(hw::ring_completion(12)), static_cast<std::uint32_t>(ring.record_address()));
  EXPECT_EQ(bench_.read_register(hw::ring_size_log2(12)), 4U);
  EXPECT_EQ(bench_.read_register(hw::ring_control(12)), 1U);
  EXPECT_EQ(bench_.read_register(hw::ring_control(12) + 4), 0U);
  EXPECT_EQ(bench_.read_register(hw::ring_tail(12)), 0U);
  EXPECT_EQ(bench_.read_register(hw::ring_base(13)), 0U);
  EXPECT_EQ(bench_.read_register(hw::ring_state(13)), 0U);
  ring.submit(barrier());
  bench_.run_until_quiescent();
  EXPECT_EQ(bench_.read_register(hw::ring_tail(12)), 1U);
}

TEST_P(RingTest, given_a_disabled_ring_when_a_doorbell_comes_then_nothing_happens) {
  Ring ring(bench_, 3);
  ring.set_enable(false);
  bench_.forget_history();
  ring.submit(write_value({dram_space, destination}, 3, 1));
  bench_.run_until_quiescent();
  EXPECT_TRUE(bench_.bursts().empty());
  EXPECT_EQ(ring.state(), RingState::disabled);
}

TEST_P(RingTest,
       given_a_ring_stopped_at_any_moment_when_it_reads_disabled_then_nothing_of_it_is_outstanding) {
  for (unsigned moment = 0; moment < 400; moment += 9) {
    Ring ring(bench_, 6);
    for (unsigned i = 0; i < 20; ++i) {
      ring.put(copy({dram_space, destination + 0x1000U * i + 5}, {host_space, source + i}, 0x900)
                   .set_flag_interrupt(true));
    }
    ring.doorbell();
    bench_.run(moment);
    ring.set_enable(false);
    bench_.run_until([&] { return ring.state() == RingState::disabled; }, 20000);
    EXPECT_EQ(bench_.outstanding(), 0U) << moment;
    const std::size_t before = bench_.bursts().size();
    bench_.run(300);
    EXPECT_EQ(bench_.bursts().size(), before) << moment;
    EXPECT_TRUE(bench_.faults().empty());
  }
}

TEST_P(RingTest, given_answers_that_do_not_come_when_a_ring_is_stopped_then_it_reads_stopping_until_they_do) {
  Ring ring(bench_, 6);
  ring.submit(copy({dram_space, destination}, {host_space, source}, 0x900));
  bench_.run_until([&] {
    return std::any_of(bench_.bursts().begin(), bench_.bursts().end(),
                       [](const Burst& burst) { return burst.manager == 0; });
  });
  bench_.hold_answers(true);
  ring.set_enable(false);
  bench_.run(500);
  EXPECT_EQ(ring.state(), RingState::stopping);
  ring.set_enable(true);
  bench_.run(50);
  bench_.hold_answers(false);
  Ring again(bench_, 6);
  again.submit(write_value({dram_space, destination + 0x4000}, 3, 5));
  bench_.run_until_quiescent();
  EXPECT_EQ(again.state(), RingState::idle);
  EXPECT_EQ(again.head(), 1U);
  EXPECT_EQ(bench_.memory().get<std::uint64_t>(dram(destination + 0x4000)), 5U);
}

TEST_P(RingTest, given_a_parked_ring_when_stopped_and_started_then_it_is_new) {
  Ring ring(bench_, 6);
  ring.submit(wait_value({host_space, source}, hw::WaitCondition::equal, 1));
  bench_.run_until_quiescent();
  ASSERT_EQ(ring.state(), RingState::parked);
  ring.restart();
  EXPECT_FALSE(bench_.parked());
  EXPECT_EQ(ring.state(), RingState::idle);
  ring.submit(write_value({dram_space, destination}, 3, 5));
  bench_.run_until_quiescent();
  EXPECT_EQ(ring.head(), 1U);
}

TEST_P(RingTest, given_a_reset_after_a_drain_at_any_moment_when_it_is_over_then_the_dma_is_as_new) {
  for (unsigned moment = 1; moment < 300; moment += 13) {
    Ring ring(bench_, moment % 64);
    for (unsigned i = 0; i < 10; ++i) {
      ring.put(copy({dram_space, destination + 0x1000U * i + 5}, {host_space, source + i}, 0x900)
                   .set_flag_complete(true));
    }
    ring.doorbell();
    bench_.run(moment);
    bench_.set_drain(true);
    bench_.run_until([&] { return bench_.drained(); }, 5000);
    EXPECT_EQ(bench_.outstanding(), 0U);
    bench_.reset();
    bench_.set_drain(false);
    bench_.run(5);
    EXPECT_TRUE(bench_.quiescent());
    EXPECT_EQ(bench_.read_register(hw::ring_control(moment % 64)), 0U);
    EXPECT_EQ(bench_.read_register(hw::ring_base(moment % 64)), 0U);
    EXPECT_EQ(bench_.read_register(hw::ring_tail(moment % 64)), 0U);
    EXPECT_EQ(bench_.read_register(hw::ring_head(moment % 64)), 0U);
  }
}

TEST_P(RingTest,
       given_a_drain_in_the_middle_of_a_copy_when_the_mapping_changes_then_no_old_translation_is_used) {
  const Bytes bytes = random_bytes(0x20000, 8);
  bench_.memory().write({Target::host, source}, bytes);
  for (unsigned moment = 20; moment < 500; moment += 41) {
    Ring ring(bench_, 1);
    bench_.unmap_changes();
    bench_.invalidate();
    ring.submit(copy({dram_space, destination + 0x80}, {host_space, source}, 0x18000));
    bench_.run(moment);
    bench_.set_drain(true);
    bench_.run_until([&] { return bench_.drained(); }, 5000);
    bench_.run(moment % 7);
    EXPECT_TRUE(bench_.drained());
    EXPECT_EQ(bench_.outstanding(), 0U);
    for (unsigned page = 0; page <= 0x18; ++page) {
      bench_.map(dram_space, (destination >> 12U) + page,
                 {Target::onchip, 0x900 + page, true, hw::FaultReason::none});
    }
    bench_.forget_history();
    bench_.set_drain(false);
    bench_.run_until_quiescent();
    for (const Burst& burst : bench_.bursts()) {
      EXPECT_FALSE(burst.write && burst.manager != DmaBench::channels && burst.place.target == Target::dram)
          << moment;
    }
    EXPECT_EQ(ring.state(), RingState::idle);
    ring.restart();
  }
}

TEST(DrainTest,
     given_a_question_asked_before_a_drain_when_it_is_answered_after_it_then_the_answer_is_not_used) {
  DmaBench bench({.translate_cycles = 400});
  Ring ring(bench, 1);
  bench.memory().write(dram(source), random_bytes(64, 1));
  ring.submit(copy({dram_space, destination}, {dram_space, source}, 64));
  bench.run_until([&] { return bench.questions() == 2; });
  bench.map(dram_space, destination >> 12U, {Target::onchip, 0x900, true, hw::FaultReason::none});
  bench.invalidate();
  bench.run_until_quiescent();
  EXPECT_TRUE(bytes_at(bench, {Target::onchip, 0x900000}, 64) == bytes_at(bench, dram(source), 64));
  EXPECT_TRUE(bytes_at(bench, dram(destination), 64) == Bytes(64, 0));
}

TEST_P(RingTest,
       given_a_record_in_flight_when_the_ring_is_stopped_then_its_failure_and_its_interrupt_have_no_effect) {
  Ring ring(bench_, 6);
  for (const bool bad : {false, true}) {
    bench_.forget_history();
    ring.submit(barrier().set_flag_interrupt(true));
    bench_.run_until([&] { return !bench_.bursts().empty() && bench_.bursts().back().write; });
    bench_.hold_answers(true);
    ring.set_enable(false);
    if (bad) {
      bench_.fail_writes({Target::host, ring.record_address()});
    }
    EXPECT_EQ(ring.state(), RingState::stopping);
    bench_.hold_answers(false);
    bench_.run_until_quiescent();
    EXPECT_EQ(ring.state(), RingState::disabled);
    EXPECT_TRUE(bench_.faults().empty());
    EXPECT_TRUE(bench_.interrupts().empty());
    ring.restart();
    EXPECT_EQ(ring.state(), RingState::idle);
    EXPECT_EQ(ring.fault_info().raw, 0U);
  }
}

TEST_P(RingTest, given_a_drain_when_rings_are_parked_then_they_look_again_at_the_new_place) {
  bench_.set_park_recheck_ns(0);
  Ring ring(bench_, 1);
  ring.submit(wait_value({host_space, source}, hw::WaitCondition::equal, 1));
  bench_.run_until_quiescent();
  bench_.map(host_space, source >> 12U, {Target::onchip, 0x321, true, hw::FaultReason::none});
  bench_.memory().put<std::uint64_t>({Target::onchip, 0x321000}, 1);
  bench_.set_drain(true);
  bench_.run_until([&] { return bench_.drained(); });
  bench_.set_drain(false);
  bench_.run_until([&] { return ring.head() == 1; });
  bench_.run_until_quiescent();
  EXPECT_EQ(ring.state(), RingState::idle);
}

TEST_P(
    RingTest,
    given_one_channel_and_a_ring_with_much_to_do_when_another_ring_has_little_then_it_does_not_wait_for_all_of_it) {
  bench_.set_channels(1);
  Ring busy(bench_, 0, 10);
  Ring small(bench_, 1);
  for (unsigned i = 0; i < 200; ++i) {
    busy.put(copy({dram_space, destination}, {dram_space, source}, 0x4000));
  }
  busy.doorbell();
  bench_.run(1000);
  small.submit(write_value({host_space, source}, 3, 1));
  const std::uint64_t start = bench_.cycle();
  bench_.run_until([&] { return bench_.memory().get<std::uint64_t>({Target::host, source}) == 1; });
  EXPECT_LT(bench_.cycle() - start, 8000U);
  EXPECT_LT(busy.head(), 40U);
  bench_.run_until_quiescent(400000);
  EXPECT_EQ(busy.head(), 200U);
}

TEST_P(
    RingTest,
    given_64_rings_with_equal_work_when_channels_are_shared_then_all_finish_and_records_are_each_their_own) {
  std::vector<std::unique_ptr<Ring>> rings;
  for (unsigned r = 0; r < 64; ++r) {
    rings.push_back(std::make_unique<Ring>(bench_, r, 5));
    for (unsigned i = 0; i < 20; ++i) {
      rings[r]->put(fill({dram_space, destination + 0x1000U * r + 100U * i}, 100, 2, 1000U * r + i)
                        .set_flag_interrupt(i == 19));
    }
  }
  for (const auto& ring : rings) {
    ring->doorbell();
  }
  bench_.run_until_quiescent();
  for (unsigned r = 0; r < 64; ++r) {
    ASSERT_EQ(rings[r]->state(), RingState::idle);
    ASSERT_EQ(rings[r]->record().ring(), r);
    ASSERT_EQ(rings[r]->record().sequence(), 19U);
    ASSERT_EQ(std::count(bench_.interrupts().begin(), bench_.interrupts().end(), r), 1);
    for (unsigned i = 0; i < 20; ++i) {
      ASSERT_EQ(bench_.memory().get<std::uint32_t>(dram(destination + 0x1000U * r + 100U * i + 96)),
                1000U * r + i);
    }
  }
}

TEST(RingTurns,
     given_one_channel_and_a_ring_with_large_copies_when_another_ring_has_work_then_it_waits_for_few) {
  DmaBench bench;
  bench.set_channels(1);
  Ring busy(bench, 0, 10);
  Ring small(bench, 1);
  for (unsigned i = 0; i < 12; ++i) {
    busy.put(copy({dram_space, destination}, {host_space, source}, 0x10000));
  }
  busy.doorbell();
  bench.run(200);
  small.submit(write_value({host_space, source}, 3, 1));
  bench.run_until([&] { return small.head() == 1; });
  EXPECT_LE(busy.head(), 4U) << "64 KiB are a turn";
  bench.run_until_quiescent();
  EXPECT_EQ(busy.head(), 12U);
}

TEST_P(RingTest,
       given_records_of_which_one_asks_for_an_interrupt_when_they_are_written_then_only_that_one_raises_it) {
  Ring ring(bench_, 8);
  for (const bool interrupt : {false, true, false, false}) {
    bench_.forget_history();
    ring.submit(barrier().set_flag_complete(true).set_flag_interrupt(interrupt));
    bench_.run_until_quiescent();
    EXPECT_EQ(bench_.interrupts().size(), interrupt ? 1U : 0U);
  }
}

TEST_P(RingTest,
       given_a_record_that_asks_for_an_interrupt_when_a_later_one_takes_its_place_then_it_is_still_raised) {
  Ring ring(bench_, 8);
  // The first one's write keeps the other ones waiting.
  for (const bool interrupt : {false, true, false, false}) {
    ring.put(barrier().set_flag_complete(true).set_flag_interrupt(interrupt));
  }
  ring.doorbell();
  bench_.run_until_quiescent();
  EXPECT_EQ(ring.record().head(), 4U);
  EXPECT_EQ(std::count(bench_.interrupts().begin(), bench_.interrupts().end(), 8U), 1);
}

TEST_P(RingTest, given_interrupts_that_are_not_taken_when_work_goes_on_then_it_does_not_wait) {
  bench_.refuse_interrupts(true);
  Ring ring(bench_, 8);
  for (unsigned i = 0; i < 30; ++i) {
    ring.put(write_value({dram_space, destination}, 3, i + 1).set_flag_interrupt(true));
  }
  ring.doorbell();
  bench_.run_until([&] { return ring.record().head() == 30; });
  bench_.refuse_interrupts(false);
  bench_.run_until_quiescent();
  EXPECT_GE(std::count(bench_.interrupts().begin(), bench_.interrupts().end(), 8U), 1);
}

}  // namespace
}  // namespace datum::rtl_bench
