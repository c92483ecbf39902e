// What crosses the ports of a board, held against triggers.

#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include <datum/board/watchdog_mark.hpp>

#include "sim/rtl/waveform_trigger.hpp"

namespace datum::sim {
namespace {

using Kind = WaveformTrigger::Kind;

class WaveformTriggers : public ::testing::Test {
 protected:
  WaveformTrigger& on(Kind kind) {
    wanted_.emplace_back().kind = kind;
    return wanted_.back();
  }

  void fetch(std::uint64_t address, std::initializer_list<std::uint32_t> numbers) {
    std::vector<hw::Descriptor> descriptors;
    for (const std::uint32_t number : numbers) {
      descriptors.push_back(hw::Descriptor{}.set_sequence(number));
    }
    watch_.saw_read(address, std::as_bytes(std::span{descriptors}));
  }

  void configure_ring(unsigned ring, std::uint64_t base, std::uint32_t size_log2) {
    watch_.saw_write(hw::ring_base(ring), base, 8);
    watch_.saw_write(hw::ring_size_log2(ring), size_log2, 4);
  }

  std::vector<WaveformTrigger> wanted_;
  unsigned fired_ = 0;
  WaveformTriggerWatch watch_{wanted_, [this] { ++fired_; }};
};

TEST_F(WaveformTriggers, given_a_register_then_only_a_write_to_it_fires) {
  on(Kind::register_write).offset = hw::ring_tail(3);
  watch_.saw_write(hw::ring_tail(2), 1, 4);
  watch_.saw_message(hw::ring_page_block_count);
  EXPECT_EQ(fired_, 0U);
  watch_.saw_write(hw::ring_tail(3), 1, 4);
  EXPECT_EQ(fired_, 1U);
}

TEST_F(WaveformTriggers, given_a_value_then_only_that_one_fires) {
  WaveformTrigger& trigger = on(Kind::register_write);
  trigger.offset = hw::scratch;
  trigger.value = 0x1'0000'0002;
  watch_.saw_write(hw::scratch, 2, 8);
  EXPECT_EQ(fired_, 0U);
  watch_.saw_write(hw::scratch, 0x1'0000'0002, 8);
  EXPECT_EQ(fired_, 1U);
}

TEST_F(WaveformTriggers, given_the_watchdog_then_the_drivers_mark_fires_and_nothing_else) {
  on(Kind::watchdog);
  watch_.saw_write(hw::scratch, 0x1234, 8);
  watch_.saw_write(hw::window_base, board::watchdog_mark, 8);
  watch_.saw_message(hw::ring_page_block_count);
  EXPECT_EQ(fired_, 0U);
  watch_.saw_write(hw::scratch, board::watchdog_mark, 8);
  EXPECT_EQ(fired_, 1U);
}

TEST_F(WaveformTriggers, given_a_fault_then_the_vector_behind_the_rings_fires) {
  on(Kind::fault);
  watch_.set_rings(16);
  watch_.saw_message(15);
  watch_.saw_message(17);
  EXPECT_EQ(fired_, 0U);
  watch_.saw_message(16);
  EXPECT_EQ(fired_, 1U);
}

TEST_F(WaveformTriggers, given_a_descriptor_then_its_fetch_from_any_ring_fires) {
  on(Kind::descriptor).number = 7;
  configure_ring(0, 0x10000, 6);
  configure_ring(5, 0x20000, 6);
  fetch(0x30000, {7});
  fetch(0x20000, {5, 6});
  EXPECT_EQ(fired_, 0U);
  fetch(0x20080, {6, 7});
  EXPECT_EQ(fired_, 1U);
  fetch(0x10000, {7});
  EXPECT_EQ(fired_, 2U);
}

TEST_F(WaveformTriggers, given_a_descriptor_of_a_ring_then_no_other_ring_fires) {
  WaveformTrigger& trigger = on(Kind::descriptor);
  trigger.number = 7;
  trigger.ring = 5;
  watch_.saw_write(hw::ring_base(5), 0x20000, 4);
  watch_.saw_write(hw::ring_base(5) + 4, 0x3, 4);
  watch_.saw_write(hw::ring_size_log2(5), 1, 4);
  configure_ring(0, 0x10000, 6);
  fetch(0x10000, {7});
  fetch(0x3'0002'0080, {7});
  EXPECT_EQ(fired_, 0U) << "the ring has two slots";
  fetch(0x3'0002'0040, {7});
  EXPECT_EQ(fired_, 1U);
}

}  // namespace
}  // namespace datum::sim
