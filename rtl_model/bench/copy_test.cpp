// COPY, COPY_REGION and FILL write exactly the bytes that they name.
#include "rtl_model/bench/dma_test.hpp"

namespace datum::rtl_bench {
namespace {

constexpr std::uint64_t source = 0x10'0000;
constexpr std::uint64_t destination = 0x20'0000;
constexpr std::uint64_t area = 0x1'0000;

/// One ring in surroundings of a kind, source and destination filled, and a reference beside them.
class CopyTest : public ::testing::TestWithParam<Surroundings> {
 protected:
  CopyTest() : bench_(GetParam()), ring_(bench_, 3, 8) {
    for (const Target target : {Target::dram, Target::host, Target::onchip}) {
      for (SparseMemory* memory : {&bench_.memory(), &reference_}) {
        memory->write({target, source}, random_bytes(area, 1));
        memory->write({target, destination}, random_bytes(area, 2));
      }
    }
  }

  void put(const hw::Descriptor& descriptor) {
    ring_.put(descriptor);
    do_descriptor(reference_, descriptor);
  }

  void finish() {
    ring_.doorbell();
    bench_.run_until_quiescent();
    ASSERT_EQ(ring_.state(), hw::RingState::idle);
    ASSERT_EQ(ring_.head(), ring_.tail());
  }

  void expect_as_reference() {
    for (const Target target : {Target::dram, Target::host, Target::onchip}) {
      Bytes wanted(area);
      reference_.read({target, destination}, wanted);
      ASSERT_TRUE(bytes_at(bench_, {target, destination}, area) == wanted)
          << "target " << static_cast<int>(target);
    }
  }

  DmaBench bench_;
  Ring ring_;
  SparseMemory reference_;
};

INSTANTIATE_TEST_SUITE_P(Ideal, CopyTest, ::testing::Values(Surroundings{}));
INSTANTIATE_TEST_SUITE_P(Slow, CopyTest,
                         ::testing::Values(Surroundings{.read_latency_cycles = 128,
                                                        .write_latency_cycles = 60,
                                                        .translate_cycles = 20}));
INSTANTIATE_TEST_SUITE_P(Stalling, CopyTest,
                         ::testing::Values(Surroundings{.read_latency_cycles = 5,
                                                        .write_latency_cycles = 9,
                                                        .translate_cycles = 3,
                                                        .stall_percent = 40,
                                                        .seed = 7}));

TEST_P(CopyTest, given_every_pair_of_alignments_when_a_few_lengths_are_copied_then_no_other_byte_changes) {
  std::mt19937_64 random(11);
  for (std::uint64_t src_offset = 0; src_offset < 64; ++src_offset) {
    for (std::uint64_t dst_offset = 0; dst_offset < 64; ++dst_offset) {
      const std::uint64_t slot = (src_offset * 64 + dst_offset) % 200;
      put(copy({dram_space, destination + slot * 320 + dst_offset},
               {dram_space, source + slot * 320 + src_offset}, random() % 201));
    }
    finish();
  }
  expect_as_reference();
}

TEST_P(CopyTest, given_every_length_up_to_200_when_copied_at_odd_addresses_then_no_other_byte_changes) {
  for (std::uint64_t length = 0; length <= 200; ++length) {
    put(copy({dram_space, destination + 300 * length + length % 64},
             {dram_space, source + 300 * length + (length * 7) % 64}, length));
  }
  finish();
  expect_as_reference();
}

TEST_P(CopyTest, given_long_lengths_when_copied_over_pages_then_no_other_byte_changes) {
  for (const std::uint64_t shift : {0U, 1U, 31U, 63U}) {
    put(copy({dram_space, destination + 0x800 + shift}, {dram_space, source + 0x123}, 0x7001));
    finish();
  }
  put(copy({dram_space, destination}, {dram_space, source}, area));
  finish();
  expect_as_reference();
}

TEST_P(CopyTest, given_all_pairs_of_memories_when_copied_in_turn_then_each_gets_its_bytes) {
  for (const std::uint16_t from : {dram_space, host_space, onchip_space}) {
    for (const std::uint16_t to : {dram_space, host_space, onchip_space}) {
      const std::uint64_t at = 0x2000U * (from * 3U + to);
      put(copy({to, destination + at % area + 5}, {from, source + at % area + 60}, 3000));
    }
  }
  finish();
  expect_as_reference();
}

TEST_P(CopyTest, given_a_page_mapped_elsewhere_when_a_copy_crosses_into_it_then_both_places_are_used) {
  bench_.map(dram_space, (destination >> 12U) + 1, {Target::host, 0x77777, true, hw::FaultReason::none});
  ring_.put(copy({dram_space, destination + 0xf81}, {dram_space, source + 3}, 0x1100));
  finish();
  const Bytes wanted = bytes_at(bench_, dram(source + 3), 0x1100);
  EXPECT_TRUE(bytes_at(bench_, dram(destination + 0xf81), 0x7f) ==
              Bytes(wanted.begin(), wanted.begin() + 0x7f));
  EXPECT_TRUE(bytes_at(bench_, {Target::host, 0x7777'7000}, 0x1000) ==
              Bytes(wanted.begin() + 0x7f, wanted.begin() + 0x107f));
  EXPECT_TRUE(bytes_at(bench_, dram(destination + 0x2000), 0x81) ==
              Bytes(wanted.begin() + 0x107f, wanted.end()));
}

TEST_P(CopyTest, given_every_phase_and_pattern_size_when_filled_then_byte_i_gets_pattern_byte_i_mod_size) {
  std::mt19937_64 random(3);
  unsigned slot = 0;
  for (std::uint8_t size_code = 0; size_code <= 4; ++size_code) {
    for (std::uint64_t phase = 0; phase < 40; ++phase) {
      put(fill({dram_space, destination + slot++ * 320 + phase}, random() % 250, size_code, random(),
               random()));
    }
  }
  finish();
  put(fill({host_space, destination + 77}, 0x3456, 4, 0x0123456789abcdef, 0xfedcba9876543210));
  finish();
  expect_as_reference();
}

TEST_P(CopyTest, given_regions_of_many_shapes_when_copied_then_only_their_rows_change) {
  std::mt19937_64 random(5);
  for (unsigned i = 0; i < 60; ++i) {
    Region region;
    region.x_bytes = static_cast<std::uint32_t>(random() % 150);
    region.rows = static_cast<std::uint32_t>(random() % 6);
    region.planes = static_cast<std::uint32_t>(random() % 4);
    region.src_row_pitch = static_cast<std::uint32_t>(random() % 300);
    region.dst_row_pitch = 150 + static_cast<std::uint32_t>(random() % 200);
    region.src_slice_pitch = static_cast<std::uint32_t>(random() % 3000);
    region.dst_slice_pitch = 6 * region.dst_row_pitch + static_cast<std::uint32_t>(random() % 500);
    put(copy_region({dram_space, destination + i * 0x300 + random() % 64},
                    {dram_space, source + random() % 0x4000}, region));
  }
  finish();
  Region wide{.x_bytes = 5000,
              .rows = 3,
              .planes = 2,
              .src_row_pitch = 5003,
              .dst_row_pitch = 5001,
              .src_slice_pitch = 17000,
              .dst_slice_pitch = 16000};
  put(copy_region({host_space, destination + 9}, {dram_space, source + 50}, wide));
  finish();
  expect_as_reference();
}

TEST_P(CopyTest, given_a_fence_when_a_copy_reads_what_the_one_before_wrote_then_it_reads_the_new_bytes) {
  put(copy({dram_space, destination}, {dram_space, source}, 3000));
  put(copy({host_space, destination + 1}, {dram_space, destination + 7}, 2900).set_flag_fence(true));
  put(barrier());
  put(copy({onchip_space, destination + 3}, {host_space, destination + 2}, 2800));
  finish();
  expect_as_reference();
}

TEST_P(CopyTest, given_nothing_to_move_when_executed_then_no_data_access_is_made) {
  bench_.forget_history();
  ring_.put(copy({dram_space, destination}, {dram_space, source}, 0));
  ring_.put(fill({dram_space, destination}, 0, 2, 5));
  ring_.put(
      copy_region({dram_space, destination}, {dram_space, source}, {.x_bytes = 8, .rows = 0, .planes = 1}));
  ring_.put(
      copy_region({dram_space, destination}, {dram_space, source}, {.x_bytes = 8, .rows = 1, .planes = 0}));
  ring_.put(barrier().set_flag_complete(true));
  finish();
  for (const Burst& burst : bench_.bursts()) {
    EXPECT_EQ(burst.manager, DmaBench::channels);
  }
  EXPECT_EQ(ring_.record().sequence(), 4U);
}

}  // namespace
}  // namespace datum::rtl_bench
