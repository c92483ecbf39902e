// How long known programs take, to the cycle: what makes the DMA slower shows here, though every byte is
// right.
#include "rtl_model/bench/dma_test.hpp"

namespace datum::rtl_bench {
namespace {

constexpr std::uint64_t source = 0x10'0000;
constexpr std::uint64_t destination = 0x20'0000;
constexpr std::uint64_t words = 0x30'0000;
constexpr Surroundings near{};
constexpr Surroundings far{.read_latency_cycles = 128, .write_latency_cycles = 60, .translate_cycles = 20};

constexpr Surroundings stalling(std::uint64_t seed) {
  return {.read_latency_cycles = 4,
          .write_latency_cycles = 6,
          .translate_cycles = 2,
          .stall_percent = 30,
          .seed = seed};
}

using Descriptors = std::vector<hw::Descriptor>;

/// Cycles from the doorbells of rings 0, 1, ... to the end of all that they do.
std::uint64_t cycles_of(const Surroundings& surroundings, const std::vector<Descriptors>& programs,
                        unsigned channels = DmaBench::channels) {
  DmaBench bench(surroundings);
  bench.set_channels(channels);
  bench.set_park_recheck_ns(0);
  std::vector<std::unique_ptr<Ring>> rings;
  for (unsigned r = 0; r < programs.size(); ++r) {
    rings.push_back(std::make_unique<Ring>(bench, 7 * r % 64, 11));
    for (const hw::Descriptor& descriptor : programs[r]) {
      rings[r]->put(descriptor);
    }
  }
  const std::uint64_t start = bench.cycle();
  for (const auto& ring : rings) {
    ring->doorbell();
  }
  bench.run_until_quiescent();
  for (unsigned r = 0; r < programs.size(); ++r) {
    EXPECT_EQ(rings[r]->head(), programs[r].size()) << "ring " << r;
  }
  return bench.cycle() - start;
}

/// The same in all three surroundings, one after the other. Of random stalls eight kinds in all: one of them
/// takes a few percent more or less when anything moves by a cycle.
std::vector<std::uint64_t> cycles_of(const std::vector<Descriptors>& programs,
                                     unsigned channels = DmaBench::channels) {
  std::uint64_t stalled = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    stalled += cycles_of(stalling(seed), programs, channels);
  }
  return {cycles_of(near, programs, channels), cycles_of(far, programs, channels), stalled};
}

void expect_at_most(const std::vector<std::uint64_t>& cycles, const std::vector<std::uint64_t>& known) {
  ASSERT_EQ(cycles.size(), known.size());
  for (unsigned i = 0; i < known.size(); ++i) {
    EXPECT_LE(cycles[i], known[i]) << "surroundings " << i;
  }
}

Descriptors repeated(unsigned count, const hw::Descriptor& descriptor) {
  return Descriptors(count, descriptor);
}

TEST(CycleTest, given_a_large_copy_when_run_then_it_takes_no_longer_than_known) {
  expect_at_most(cycles_of({{copy({dram_space, destination}, {dram_space, source}, 0x8000)}}),
                 {537, 869, 6364});
  expect_at_most(cycles_of({{copy({dram_space, destination + 5}, {host_space, source + 50}, 0x8000)}}),
                 {539, 890, 6363});
  expect_at_most(cycles_of({{copy({dram_space, destination + 50}, {host_space, source + 5}, 0x8000)}}),
                 {538, 889, 6321});
}

TEST(CycleTest, given_many_copies_when_run_then_they_take_no_longer_than_known) {
  Descriptors pages;
  Descriptors words_apart;
  Descriptors odd;
  for (unsigned i = 0; i < 16; ++i) {
    pages.push_back(
        copy({dram_space, destination + 0x1000U * i}, {host_space, source + 0x1000U * i}, 0x1000));
    odd.push_back(
        copy({dram_space, destination + 333U * i}, {onchip_space, source + 777U * i}, 200 + 13 * i));
  }
  for (unsigned i = 0; i < 300; ++i) {
    words_apart.push_back(copy({dram_space, destination + 64U * i}, {dram_space, source + 64U * i}, 64));
  }
  expect_at_most(cycles_of({pages}), {1049, 1400, 12194});
  expect_at_most(cycles_of({words_apart}), {330, 834, 4096});
  expect_at_most(cycles_of({odd}), {122, 468, 1430});
}

TEST(CycleTest, given_one_small_descriptor_of_each_kind_when_run_then_it_takes_no_longer_than_known) {
  expect_at_most(cycles_of({{copy({dram_space, destination}, {host_space, source}, 64)}}), {23, 355, 315});
  expect_at_most(cycles_of({{write_value({host_space, words}, 3, 1).set_flag_interrupt(true)}}),
                 {24, 288, 334});
  expect_at_most(cycles_of({{timestamp({host_space, words})}}), {21, 226, 259});
  expect_at_most(cycles_of({{wait_value({host_space, words}, hw::WaitCondition::equal, 0)}}), {20, 293, 241});
  expect_at_most(cycles_of({repeated(20, barrier().set_flag_complete(true))}), {54, 263, 542});
}

TEST(CycleTest, given_fills_and_regions_when_run_then_they_take_no_longer_than_known) {
  expect_at_most(cycles_of({{fill({dram_space, destination + 3}, 0x4000, 2, 7),
                             fill({host_space, destination}, 70, 4, 7)}}),
                 {282, 546, 3283});
  expect_at_most(cycles_of({{copy_region({dram_space, destination + 3}, {host_space, source},
                                         {.x_bytes = 150,
                                          .rows = 20,
                                          .planes = 3,
                                          .src_row_pitch = 0x200,
                                          .dst_row_pitch = 180,
                                          .src_slice_pitch = 0x8000,
                                          .dst_slice_pitch = 0x5000})}}),
                 {229, 600, 2684});
}

TEST(CycleTest, given_many_rings_when_they_share_channels_then_all_take_no_longer_than_known) {
  std::vector<Descriptors> programs;
  for (unsigned r = 0; r < 12; ++r) {
    Descriptors program;
    for (unsigned i = 0; i < 10; ++i) {
      program.push_back(copy({dram_space, destination + 0x10'0000U * r + 0x1000U * i},
                             {host_space, source + 64U * i}, r % 4 == 0 ? 0x2000 : 40 + r)
                            .set_flag_complete(i % 3 == 0)
                            .set_flag_fence(i == 5));
    }
    programs.push_back(program);
  }
  expect_at_most(cycles_of(programs), {1478, 3290, 17528});
  expect_at_most(cycles_of(programs, 1), {4498, 12550, 53978});
}

TEST(CycleTest, given_rings_that_wait_for_each_other_when_run_then_they_take_no_longer_than_known) {
  Descriptors ping;
  Descriptors pong;
  for (unsigned i = 1; i <= 30; ++i) {
    ping.push_back(write_value({host_space, words}, 3, i));
    ping.push_back(wait_value({host_space, words + 8}, hw::WaitCondition::greater_equal, i));
    pong.push_back(wait_value({host_space, words}, hw::WaitCondition::greater_equal, i));
    pong.push_back(write_value({host_space, words + 8}, 3, i));
  }
  expect_at_most(cycles_of({ping, pong}), {2451, 27476, 30118});
  expect_at_most(cycles_of({ping, pong}, 1), {2787, 35610, 34725});
}

TEST(CycleTest, given_pages_far_apart_when_copied_between_in_turn_then_their_translations_are_kept) {
  Descriptors program;
  for (unsigned i = 0; i < 40; ++i) {
    program.push_back(
        copy({dram_space, destination + i % 2 * 0x20'0000ULL}, {host_space, source + i % 2 * 0x1000ULL}, 64));
    program.push_back(
        copy({dram_space, 0x4000'0000 + i % 2 * 0x20'1000ULL}, {host_space, source + i % 3 * 0x5000ULL}, 64));
  }
  expect_at_most(cycles_of({program}), {222, 1447, 2682});
}

}  // namespace
}  // namespace datum::rtl_bench
