// Rings that compete for channels: turns, weights, and descriptors that make way in the middle.
#include "rtl_model/bench/dma_test.hpp"

namespace datum::rtl_bench {
namespace {

using hw::RingState;

constexpr std::uint64_t source = 0x10'0000;
constexpr std::uint64_t destination = 0x1000'0000;
constexpr std::uint64_t area_bytes = 0x1000'0000;  // of each ring
constexpr std::uint64_t mib = 0x10'0000;
constexpr std::uint64_t turn_cycles = 0x10000 / 64;
constexpr std::uint64_t buffer_cycles = 512;  // what a channel has read ahead
constexpr std::uint64_t change_cycles = 200;  // from ring to ring, with the latencies of these benches

std::uint64_t area(unsigned ring) { return destination + ring * area_bytes; }

class TurnTest : public ::testing::TestWithParam<Surroundings> {
 protected:
  Ring& add_ring(unsigned weight = 0) {
    const auto number = static_cast<unsigned>(rings_.size());
    rings_.push_back(std::make_unique<Ring>(bench_, number, 6));
    bench_.write_register(hw::ring_weight(number), weight);
    return *rings_.back();
  }

  /// Bytes that the ring wrote, by where its bursts went.
  std::uint64_t written(unsigned ring) const {
    std::uint64_t beats = 0;
    for (const Burst& burst : bench_.bursts()) {
      if (burst.write && burst.manager != DmaBench::channels &&
          burst.place.address / area_bytes == ring + 1) {
        beats += burst.beats;
      }
    }
    return beats * 64;
  }

  DmaBench bench_{GetParam()};
  std::vector<std::unique_ptr<Ring>> rings_;
};

INSTANTIATE_TEST_SUITE_P(Ideal, TurnTest, ::testing::Values(Surroundings{}));
INSTANTIATE_TEST_SUITE_P(Slow, TurnTest,
                         ::testing::Values(Surroundings{
                             .read_latency_cycles = 30, .write_latency_cycles = 20, .translate_cycles = 5}));

TEST_P(TurnTest,
       given_64_mib_on_every_channel_when_another_ring_copies_64_bytes_then_it_begins_within_a_turn) {
  for (const unsigned channels : {1U, 4U}) {
    bench_.set_channels(channels);
    for (unsigned ring = 0; ring < channels; ++ring) {
      add_ring().submit(copy({dram_space, area(ring)}, {host_space, source}, 64 * mib));
    }
    Ring& small = add_ring();
    bench_.run(5000);
    small.submit(copy({dram_space, area(channels)}, {host_space, source}, 64));
    const std::uint64_t start = bench_.cycle();
    bench_.run_until([&] { return written(channels) != 0; });
    EXPECT_LE(bench_.cycle() - start, turn_cycles + buffer_cycles + change_cycles) << channels;
    for (const auto& ring : rings_) {
      EXPECT_TRUE(ring.get() == &small || ring->state() == RingState::active);
      ring->set_enable(false);
    }
    bench_.run_until_quiescent();
    bench_.forget_history();
    rings_.clear();
  }
}

TEST_P(TurnTest, given_rings_of_different_weights_when_they_share_a_channel_then_so_are_their_shares) {
  bench_.set_channels(1);
  const unsigned weights[] = {0, 1, 3, 0};
  for (unsigned ring = 0; ring < 4; ++ring) {
    add_ring(weights[ring]).submit(copy({dram_space, area(ring)}, {host_space, source}, 16 * mib));
  }
  while (written(0) < 10 * 0x10000) {
    bench_.run(turn_cycles / 2);
    ASSERT_LT(bench_.cycle(), 200'000U);
  }
  for (unsigned ring = 0; ring < 4; ++ring) {
    const double turns = static_cast<double>(written(ring)) / 0x10000;
    EXPECT_NEAR(turns, 10 * (weights[ring] + 1), 1.5 * (weights[ring] + 1)) << ring;
  }
}

TEST_P(TurnTest, given_small_copies_when_rings_share_a_channel_then_a_turn_is_64_times_the_weight) {
  bench_.set_channels(1);
  for (unsigned ring = 0; ring < 2; ++ring) {
    rings_.push_back(std::make_unique<Ring>(bench_, ring, 12));
    bench_.write_register(hw::ring_weight(ring), 2 * ring);
    for (unsigned i = 0; i < 4000; ++i) {
      rings_[ring]->put(copy({dram_space, area(ring)}, {host_space, source}, 64));
    }
  }
  rings_[0]->doorbell();
  rings_[1]->doorbell();
  bench_.run_until([&] { return rings_[1]->head() >= 1920; });
  EXPECT_NEAR(rings_[0]->head(), rings_[1]->head() / 3.0, 100);
}

TEST_P(TurnTest,
       given_heavy_rings_with_the_largest_weight_when_a_light_one_has_work_then_it_waits_for_a_turn_of_each) {
  bench_.set_channels(1);
  for (unsigned ring = 0; ring < 3; ++ring) {
    add_ring(15).submit(copy({dram_space, area(ring)}, {host_space, source}, 64 * mib));
  }
  Ring& light = add_ring();
  bench_.run(3000);
  light.submit(copy({dram_space, area(3)}, {host_space, source}, 64));
  const std::uint64_t start = bench_.cycle();
  bench_.run_until([&] { return written(3) != 0; });
  EXPECT_LE(bench_.cycle() - start, 3 * (16 * turn_cycles + change_cycles) + buffer_cycles);
}

TEST_P(
    TurnTest,
    given_a_long_copy_that_makes_way_often_when_it_ends_then_it_was_one_descriptor_and_every_byte_is_there) {
  bench_.set_channels(1);
  const Bytes bytes = random_bytes(mib, 1);
  bench_.memory().write({Target::host, source + 7}, bytes);
  Ring& large = add_ring();
  Ring& other = add_ring();
  large.submit(copy({dram_space, area(0) + 0xff03}, {host_space, source + 7}, mib).set_flag_interrupt(true));
  unsigned others = 0;
  while (large.record().sequence() != 0 || bench_.interrupts().empty()) {
    other.submit(copy({dram_space, area(1) + 64 * others}, {host_space, source + 7}, 64));
    ++others;
    bench_.run_until([&] { return other.head() == others && other.state() == RingState::idle; });
    ASSERT_LT(others, 200U);
  }
  EXPECT_GE(others, 15U) << "it made way at every turn";
  bench_.run_until_quiescent();
  EXPECT_EQ(bench_.descriptors_done(), others + 1);
  EXPECT_EQ(large.head(), 1U);
  EXPECT_EQ(large.record().head(), 1U);
  EXPECT_EQ(bench_.interrupts().size(), 1U);
  EXPECT_TRUE(bytes_at(bench_, dram(area(0) + 0xff03), mib) == bytes);
  EXPECT_EQ(bench_.memory().get<std::uint8_t>(dram(area(0) + 0xff02)), 0U);
  EXPECT_EQ(bench_.memory().get<std::uint8_t>(dram(area(0) + 0xff03 + mib)), 0U);
}

TEST_P(TurnTest,
       given_a_page_that_is_refused_deep_in_a_copy_that_made_way_when_it_is_met_then_the_fault_is_as_ever) {
  bench_.set_channels(1);
  Ring& large = add_ring();
  Ring& other = add_ring();
  bench_.map(dram_space, (area(0) + 0x52000) >> 12U,
             {Target::dram, 0, false, hw::FaultReason::write_refused});
  large.put(barrier());
  large.put(copy({dram_space, area(0) + 5}, {host_space, source}, mib).set_flag_complete(true));
  large.put(barrier().set_flag_complete(true));
  large.doorbell();
  other.submit(copy({dram_space, area(1)}, {host_space, source}, mib));
  bench_.run_until([&] { return large.state() == RingState::faulted; });
  EXPECT_EQ(large.fault_info().reason(), hw::FaultReason::write_refused);
  EXPECT_EQ(large.fault_address(), area(0) + 0x52000);
  EXPECT_EQ(large.fault_sequence(), 1U);
  EXPECT_EQ(large.head(), 2U);
  EXPECT_EQ(large.record().head(), 2U);
  bench_.run_until_quiescent();
  EXPECT_EQ(other.state(), RingState::idle);
  large.restart();
  large.submit(write_value({dram_space, area(0)}, 3, 77));
  bench_.run_until_quiescent();
  EXPECT_EQ(large.head(), 1U) << "nothing of the suspended copy is left";
  EXPECT_EQ(bench_.memory().get<std::uint64_t>(dram(area(0))), 77U);
}

TEST_P(TurnTest, given_a_copy_that_made_way_when_its_ring_is_stopped_then_it_is_forgotten) {
  bench_.set_channels(1);
  for (unsigned moment = 1000; moment < 4000; moment += 171) {
    Ring large(bench_, 0);
    Ring other(bench_, 1);
    large.submit(copy({dram_space, area(0)}, {host_space, source}, mib));
    other.submit(copy({dram_space, area(1)}, {host_space, source}, mib));
    bench_.run(moment);
    large.set_enable(false);
    bench_.run_until([&] { return large.state() == RingState::disabled; });
    bench_.forget_history();
    large.restart();
    large.submit(write_value({dram_space, area(0)}, 3, moment));
    bench_.run_until_quiescent();
    EXPECT_EQ(large.head(), 1U);
    EXPECT_EQ(written(0), 64U) << moment;
    EXPECT_EQ(bench_.memory().get<std::uint64_t>(dram(area(0))), moment);
    EXPECT_EQ(other.state(), RingState::idle);
  }
}

hw::Descriptor any_transfer(std::mt19937_64& random, unsigned ring, unsigned number) {
  const Address to{static_cast<std::uint16_t>(random() % 3), area(ring) + number * mib + random() % 0x20000};
  const Address from{static_cast<std::uint16_t>(random() % 3), source + random() % 0x1000};
  switch (random() % 3) {
  case 0:
    return copy(to, from, random() % 0x60000);
  case 1:
    return fill(to, random() % 0x60000, static_cast<std::uint8_t>(random() % 5), random(), random());
  default: {
    Region region{.x_bytes = static_cast<std::uint32_t>(random() % 0x14000),
                  .rows = static_cast<std::uint32_t>(random() % 4),
                  .planes = static_cast<std::uint32_t>(random() % 3)};
    region.src_row_pitch = static_cast<std::uint32_t>(random() % 5000);
    region.dst_row_pitch = region.x_bytes + static_cast<std::uint32_t>(random() % 100);
    region.src_slice_pitch = static_cast<std::uint32_t>(random() % 5000);
    region.dst_slice_pitch = 4 * region.dst_row_pitch;
    return copy_region(to, from, region);
  }
  }
}

class RandomTurnTest : public ::testing::TestWithParam<unsigned> {};

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTurnTest, ::testing::Range(0U, 8U));

TEST_P(RandomTurnTest,
       given_long_transfers_on_many_rings_when_channels_come_and_go_then_every_byte_is_where_it_belongs) {
  std::mt19937_64 random(GetParam());
  Surroundings around{.read_latency_cycles = 1 + static_cast<unsigned>(random() % 60),
                      .write_latency_cycles = 1 + static_cast<unsigned>(random() % 60),
                      .translate_cycles = 1 + static_cast<unsigned>(random() % 20),
                      .stall_percent = static_cast<unsigned>(random() % 40),
                      .seed = GetParam()};
  DmaBench bench(around);
  SparseMemory reference;
  for (const Target target : {Target::dram, Target::host, Target::onchip}) {
    const Bytes bytes = random_bytes(0x80000, GetParam() + static_cast<std::uint64_t>(target));
    bench.memory().write({target, source}, bytes);
    reference.write({target, source}, bytes);
  }
  std::vector<std::unique_ptr<Ring>> rings;
  for (unsigned ring = 0; ring < 4; ++ring) {
    rings.push_back(std::make_unique<Ring>(bench, ring, 4));
    bench.write_register(hw::ring_weight(ring), static_cast<std::uint32_t>(random() % 3));
    for (unsigned number = 0; number < 4; ++number) {
      const auto descriptor = any_transfer(random, ring, number).set_flag_fence(random() % 3 == 0);
      rings[ring]->put(descriptor);
      do_descriptor(reference, descriptor);
    }
    rings[ring]->put(barrier().set_flag_complete(true));
    rings[ring]->doorbell();
  }
  while (!bench.quiescent()) {
    ASSERT_LT(bench.cycle(), 3'000'000U);
    bench.set_channels(1 + static_cast<unsigned>(random() % 3));
    bench.run(random() % 3000);
    if (random() % 4 == 0) {
      bench.invalidate();
    }
  }
  for (unsigned ring = 0; ring < 4; ++ring) {
    EXPECT_EQ(rings[ring]->record().sequence(), 4U);
    for (const Target target : {Target::dram, Target::host, Target::onchip}) {
      Bytes wanted(5 * mib);
      reference.read({target, area(ring)}, wanted);
      ASSERT_TRUE(bytes_at(bench, {target, area(ring)}, wanted.size()) == wanted) << ring;
    }
  }
  EXPECT_EQ(bench.descriptors_done(), 20U);
}

}  // namespace
}  // namespace datum::rtl_bench
