// Faults and counters as a board's registers have them.
#include <datum/hw/registers.hpp>

#include "tests/unit/tool/model_board.hpp"
#include "tools/datum/board_faults.hpp"
#include "tools/datum/performance.hpp"

namespace datum::test {

class ToolFaults : public ModelBoard {
 protected:
  /// Ring `ring` is to fetch a descriptor from where nothing is mapped.
  void make_fault(std::uint32_t ring) {
    board::Bar& registers = *board_->registers;
    registers.write64(hw::ring_base(ring), 0x10000000);
    registers.write64(hw::ring_completion(ring), 0x10001000);
    registers.write32(hw::ring_control(ring), 1);
    registers.write32(hw::ring_tail(ring), 1);
    const std::uint64_t limit_ns = board_->function->clock().now_ns + 10'000'000'000U;
    while (registers.read32(hw::ring_state(ring)) != static_cast<std::uint32_t>(hw::RingState::faulted) &&
           board_->function->clock().now_ns < limit_ns) {
      board_->function->relax();
    }
  }
};

TEST_F(ToolFaults, given_a_board_without_faults_when_asked_then_there_are_none) {
  const tool::BoardFaults faults = tool::read_faults(*board_);
  EXPECT_EQ(faults.count, 0U);
  EXPECT_FALSE(faults.first);
  EXPECT_TRUE(faults.stopped_rings.empty());
}

TEST_F(ToolFaults, given_a_ring_that_failed_when_asked_then_log_ring_and_iommu_tell_of_it) {
  make_fault(3);
  const tool::BoardFaults faults = tool::read_faults(*board_);
  EXPECT_EQ(faults.count, 1U);
  ASSERT_TRUE(faults.first);
  EXPECT_EQ(faults.first->ring, 3U);
  EXPECT_EQ(faults.first->address, 0x10001000U);
  EXPECT_EQ(faults.first->sentence(),
            "host memory failed at 0x10001000: the completion record could not be written");
  ASSERT_EQ(faults.stopped_rings.size(), 1U);
  EXPECT_EQ(faults.stopped_rings[0].ring, 3U);
  EXPECT_FALSE(faults.iommu_faults.empty());
}

TEST_F(ToolFaults, given_faults_when_cleared_then_the_log_is_empty_and_the_ring_still_stands) {
  make_fault(3);
  tool::clear_faults(*board_);
  const tool::BoardFaults faults = tool::read_faults(*board_);
  EXPECT_EQ(faults.count, 0U);
  EXPECT_FALSE(faults.first);
  EXPECT_EQ(faults.stopped_rings.size(), 1U);
}

TEST(ToolPerformance, given_counters_of_two_moments_when_compared_then_rates_follow_from_the_timebase) {
  tool::PerformanceCounters before;
  before.timer = 5'000'000'000;
  before.dram_reads = ~0ULL - 9;  // it wraps meanwhile
  tool::PerformanceCounters after = before;
  after.timer += 500'000'000;
  after.host_read_beats = 1000;
  after.dram_reads += 90;
  after.dram_writes = 10;
  after.dram_activates = 25;
  after.tlb_hits = 3;
  after.walks = 1;
  after.descriptors = 7;
  after.busy_ticks = 125'000'000;
  after.cycles = 1000;
  after.stalled_cycles = 100;
  const tool::PerformanceRates rates = tool::rates_of(tool::growth(before, after), 1'000'000'000);
  EXPECT_DOUBLE_EQ(rates.seconds, 0.5);
  EXPECT_DOUBLE_EQ(rates.host_read_bytes_per_s, 128'000);
  EXPECT_DOUBLE_EQ(rates.dram_read_bytes_per_s, 90 * 64 * 2.0);
  EXPECT_DOUBLE_EQ(rates.descriptors_per_s, 14);
  EXPECT_DOUBLE_EQ(rates.busy_share, 0.25);
  EXPECT_DOUBLE_EQ(rates.stalled_share, 0.1);
  EXPECT_DOUBLE_EQ(rates.row_hit_rate.value(), 0.75);
  EXPECT_DOUBLE_EQ(rates.tlb_hit_rate.value(), 0.75);
}

TEST(ToolPerformance, given_a_board_at_rest_when_compared_then_there_is_no_rate_of_hits) {
  const tool::PerformanceRates rates = tool::rates_of({}, 0);
  EXPECT_EQ(rates.seconds, 0);
  EXPECT_EQ(rates.host_read_bytes_per_s, 0);
  EXPECT_EQ(rates.busy_share, 0);
  EXPECT_EQ(rates.stalled_share, 0);
  EXPECT_FALSE(rates.row_hit_rate);
  EXPECT_FALSE(rates.tlb_hit_rate);
}

TEST_F(ToolFaults, given_a_board_that_is_gone_when_counters_are_read_then_it_is_lost) {
  ASSERT_TRUE(tool::read_counters(*board_));
  function_->lose("the test took it away");
  EXPECT_EQ(tool::read_counters(*board_).error().code, ErrorCode::device_lost);
}

}  // namespace datum::test
