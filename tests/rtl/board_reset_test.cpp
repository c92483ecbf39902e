#include "tests/rtl/copy_setup.hpp"

namespace datum::rtl_test {
namespace {

class BoardReset : public CopySetup {
 protected:
  void reset_board(std::uint64_t limit_cycles = 5000) {
    bench_.write32(hw::reset, 1);
    const auto start = bench_.now();
    while ((bench_.read32(hw::reset) & 1U) != 0) {
      ASSERT_LT(bench_.now() - start, limit_cycles);
    }
  }
};

TEST_F(BoardReset, given_changed_registers_when_reset_then_they_have_their_reset_values) {
  bench_.write64(hw::scratch, 0x1234'5678'9abc'def0);
  bench_.write32(hw::park_recheck_ns, 5);
  bench_.write64(hw::window_base, 0x5000);
  bench_.write32(hw::channel_enable, 1);
  reset_board();
  EXPECT_EQ(bench_.read64(hw::scratch), 0U);
  EXPECT_EQ(bench_.read32(hw::park_recheck_ns), 1'000'000U);
  EXPECT_EQ(bench_.read64(hw::window_base), 0U);
  EXPECT_EQ(bench_.read32(hw::channel_enable), 4U);
  EXPECT_EQ(bench_.read64(hw::space_root(0)), 0U);
  EXPECT_EQ(bench_.read64(hw::ring_base(0)), 0U);
  EXPECT_EQ(bench_.read32(hw::ring_control(0)), 0U);
  EXPECT_EQ(ring_->state(), hw::RingState::disabled);
}

TEST_F(BoardReset,
       given_a_copy_under_way_when_reset_then_it_stops_no_host_access_begins_and_the_board_works_again) {
  bench_.host.latency_cycles = 200;
  ring_->add(copy(device_va, host_va, mapped_bytes));
  ring_->ring_doorbell();
  bench_.run(1500);
  bench_.write32(hw::reset, 1);
  const auto reads = bench_.host.read_bursts();
  ASSERT_TRUE(bench_.run_until_quiescent(5000));
  EXPECT_LE(bench_.host.read_bursts() - reads, 1U) << "the one that was on its way to the port";
  EXPECT_EQ(bench_.read32(hw::reset), 0U);
  map_spaces();
  ring_.emplace(bench_, 0, ring_address);
  const auto data = random_bytes(5000, 1);
  bench_.host.memory.write(host_address, data);
  copy_cycles(device_va, host_va, data.size());
  EXPECT_EQ(bench_.dram_memory.read(0, data.size()), data);
}

TEST_F(BoardReset, given_memory_contents_when_reset_then_they_survive) {
  const auto data = random_bytes(1000, 1);
  bench_.host.memory.write(host_address, data);
  copy_cycles(onchip_va, host_va, data.size());
  reset_board();
  map_spaces();
  ring_.emplace(bench_, 0, ring_address);
  copy_cycles(device_va, onchip_va, data.size());
  EXPECT_EQ(bench_.dram_memory.read(0, data.size()), data);
}

TEST_F(BoardReset, given_resets_at_many_moments_of_copies_when_the_board_is_used_again_then_it_works) {
  for (std::uint32_t moment = 0; moment < 40; ++moment) {
    ring_->add(copy(device_va + 3, host_va, 20'000));
    ring_->add(copy(host_va + 0x20'0000, device_va, 20'000));
    ring_->ring_doorbell();
    bench_.run(7 * moment);
    reset_board();
    map_spaces();
    ring_.emplace(bench_, 0, ring_address);
    const auto data = random_bytes(300, moment);
    bench_.host.memory.write(host_address, data);
    copy_cycles(device_va + 64 * moment, host_va, data.size());
    ASSERT_EQ(bench_.dram_memory.read(64 * moment, data.size()), data) << moment;
  }
}

}  // namespace
}  // namespace datum::rtl_test
