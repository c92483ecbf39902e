// Ends of the address space in different spaces, a full buffer, and what a reset must not leave behind.
#include "rtl_model/bench/dma_test.hpp"

namespace datum::rtl_bench {
namespace {

constexpr std::uint64_t source = 0x10'0000;
constexpr std::uint64_t destination = 0x20'0000;
constexpr std::uint64_t top = std::uint64_t{1} << 48U;

TEST(LimitTest, given_a_region_that_leaves_the_address_space_when_copied_then_the_side_that_does_is_named) {
  const Region down{.x_bytes = 64, .rows = 9, .src_row_pitch = 64, .dst_row_pitch = 64};
  for (const bool write : {false, true}) {
    DmaBench bench;
    Ring ring(bench, 9);
    ring.submit(write ? copy_region({onchip_space, top - 0x100}, {host_space, source}, down)
                      : copy_region({host_space, destination}, {onchip_space, top - 0x80}, down));
    bench.run_until_quiescent();
    EXPECT_EQ(ring.state(), hw::RingState::faulted);
    EXPECT_EQ(ring.fault_info().reason(), hw::FaultReason::not_canonical);
    EXPECT_EQ(ring.fault_info().write(), write);
    EXPECT_EQ(ring.fault_info().space(), onchip_space);
    EXPECT_EQ(ring.fault_address(), top);
  }
}

TEST(LimitTest, given_reads_that_overtake_writes_when_the_buffer_is_full_then_no_word_is_lost) {
  DmaBench bench({.translate_cycles = 700});
  Ring ring(bench, 1, 8);
  const Bytes bytes = random_bytes(0x1000, 5);
  bench.memory().write({Target::host, source}, bytes);
  // All read one page; each one's first write waits for the translation of a page of its own.
  const auto length = [](unsigned i) { return 0x3c0U - 7 * i; };
  const auto place = [](unsigned i) { return destination + 0x2000ULL * i + 40; };
  for (unsigned i = 0; i < 60; ++i) {
    ring.put(copy({dram_space, place(i)}, {host_space, source + i}, length(i)));
  }
  ring.doorbell();
  bench.run_until_quiescent();
  EXPECT_EQ(ring.head(), 60U);
  for (unsigned i = 0; i < 60; ++i) {
    const Bytes wanted(bytes.begin() + i, bytes.begin() + i + length(i));
    EXPECT_TRUE(bytes_at(bench, dram(place(i)), length(i)) == wanted) << i;
  }
}

TEST(LimitTest, given_pages_that_were_used_when_the_dma_was_reset_then_they_are_asked_for_again) {
  DmaBench bench;
  bench.memory().write(dram(source), random_bytes(64, 5));
  for (const std::uint64_t frame : {destination >> 12U, std::uint64_t{0x900}}) {
    bench.map(dram_space, destination >> 12U, {Target::dram, frame, true, hw::FaultReason::none});
    Ring ring(bench, 1);
    ring.submit(copy({dram_space, destination}, {dram_space, source}, 64));
    bench.run_until_quiescent();
    EXPECT_TRUE(bytes_at(bench, dram(frame << 12U), 64) == bytes_at(bench, dram(source), 64)) << frame;
    bench.reset();
  }
}

TEST(LimitTest, given_a_ring_that_was_just_enabled_when_the_dma_is_reset_then_it_is_not_enabled_once_more) {
  DmaBench bench;
  const Ring ring(bench, 1);
  bench.reset();
  EXPECT_EQ(bench.read_register(hw::ring_control(1)), 0U);
  bench.run(5);
  EXPECT_TRUE(bench.quiescent());
}

TEST(LimitTest, given_a_ring_that_failed_when_the_dma_is_reset_then_no_fault_shows) {
  DmaBench bench;
  Ring ring(bench, 1);
  ring.submit(copy({dram_space, top}, {dram_space, source}, 64));
  bench.run_until_quiescent();
  ASSERT_NE(ring.fault_info().raw, 0U);
  bench.reset();
  EXPECT_EQ(ring.fault_info().raw, 0U);
  EXPECT_EQ(ring.fault_address(), 0U);
  EXPECT_EQ(ring.fault_sequence(), 0U);
  EXPECT_EQ(ring.state(), hw::RingState::disabled);
}

TEST(LimitTest, given_two_pages_that_differ_in_one_bit_when_used_in_turn_then_each_is_asked_for_once) {
  for (const std::uint64_t page : {0xab5U, 0x54aU, 0x7ffU}) {
    for (unsigned bit = 0; bit < 11; ++bit) {
      DmaBench bench;
      Ring ring(bench, 1);
      const std::uint64_t other = page ^ (std::uint64_t{1} << bit);
      std::uint64_t known = 0;
      for (unsigned round = 0; round < 4; ++round) {
        for (const std::uint64_t used : {page, other}) {
          ring.put(copy({dram_space, 0x1000'0000 + (used << 12U)}, {host_space, used << 12U}, 64));
        }
        ring.doorbell();
        bench.run_until_quiescent();
        known = round == 0 ? bench.questions() : known;
      }
      EXPECT_EQ(bench.questions(), known) << std::hex << page << " bit " << bit;
      EXPECT_EQ(known, 4U);
    }
  }
}

}  // namespace
}  // namespace datum::rtl_bench
