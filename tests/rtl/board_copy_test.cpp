#include "tests/rtl/copy_setup.hpp"

namespace datum::rtl_test {
namespace {

class BoardCopy : public CopySetup {};

TEST_F(BoardCopy, given_odd_addresses_when_bytes_travel_to_the_device_and_back_then_they_are_the_same) {
  const auto data = random_bytes(10'000, 1);
  bench_.host.memory.write(host_address + 5, data);
  copy_cycles(device_va + 123, host_va + 5, data.size());
  EXPECT_EQ(bench_.dram_memory.read(123, data.size()), data);
  copy_cycles(host_va + 0x10'0033, device_va + 123, data.size());
  EXPECT_EQ(bench_.host.memory.read(host_address + 0x10'0033, data.size()), data);
}

TEST_F(BoardCopy, given_on_chip_memory_when_bytes_travel_through_it_then_they_are_the_same) {
  const auto data = random_bytes(9'000, 2);
  bench_.host.memory.write(host_address, data);
  copy_cycles(onchip_va + 77, host_va, data.size());
  copy_cycles(device_va + 4096, onchip_va + 77, data.size());
  EXPECT_EQ(bench_.dram_memory.read(4096, data.size()), data);
}

TEST_F(BoardCopy, given_back_pressure_on_all_host_channels_when_copied_then_nothing_is_lost) {
  const auto data = random_bytes(100'000, 4);
  bench_.host.memory.write(host_address + 1, data);
  bench_.host.hold_back(50, 9);
  copy_cycles(device_va + 2, host_va + 1, data.size());
  copy_cycles(host_va + 0x20'0003, device_va + 2, data.size());
  EXPECT_EQ(bench_.host.memory.read(host_address + 0x20'0003, data.size()), data);
}

TEST_F(BoardCopy, given_small_pages_when_long_copies_run_then_the_data_bus_is_busy) {
  constexpr std::uint64_t bytes = 2ULL << 20U;
  const auto data = random_bytes(bytes, 3);
  bench_.host.memory.write(host_address, data);
  bench_.host.latency_cycles = 128;
  const auto to_device = beats_per_cycle(bytes, copy_cycles(device_va, host_va, bytes));
  const auto inside = beats_per_cycle(2 * bytes, copy_cycles(device_va + mapped_bytes, device_va, bytes));
  const auto to_host = beats_per_cycle(bytes, copy_cycles(host_va + bytes, device_va + mapped_bytes, bytes));
  EXPECT_EQ(bench_.host.memory.read(host_address + bytes, bytes), data);
  RecordProperty("host_to_device_beats_per_cycle", std::to_string(to_device));
  RecordProperty("device_to_device_beats_per_cycle", std::to_string(inside));
  RecordProperty("device_to_host_beats_per_cycle", std::to_string(to_host));
  EXPECT_GT(to_device, 0.90);
  EXPECT_GT(inside, 0.80);
  EXPECT_GT(to_host, 0.90);
}

/// Cycles for `copies` small copies, each of which begins when the one before in its ring has ended, dealt to
/// `rings`. Such a ring waits for the host's latency most of the time.
std::uint64_t cycles_of_dependent_copies(BoardBench& bench, unsigned rings, unsigned copies) {
  constexpr std::uint64_t bytes = 256;
  std::vector<RingDriver> all;
  std::vector<std::uint32_t> last(rings);
  for (unsigned ring = 0; ring < rings; ++ring) {
    all.emplace_back(bench, 1 + ring, ring_address + (1 + ring) * 0x10'000ULL);
    for (unsigned index = 0; index < copies / rings; ++index) {
      const auto at = (ring * copies + index) * bytes;
      last[ring] = all[ring].add(copy(device_va + at, host_va + at, bytes).set_flag_fence(true));
    }
  }
  const auto start = bench.now();
  for (auto& ring : all) {
    ring.ring_doorbell();
  }
  for (unsigned ring = 0; ring < rings; ++ring) {
    EXPECT_TRUE(all[ring].wait(last[ring])) << ring;
    EXPECT_EQ(all[ring].record().status(), hw::Status::ok);
  }
  const auto cycles = bench.now() - start;
  for (unsigned ring = 0; ring < rings; ++ring) {
    bench.write32(hw::ring_control(1 + ring), 0);
  }
  EXPECT_TRUE(bench.run_until_quiescent());
  return cycles;
}

TEST_F(BoardCopy, given_four_rings_with_work_when_there_are_four_channels_then_they_work_at_the_same_time) {
  constexpr unsigned copies = 64;
  bench_.host.latency_cycles = 128;
  const auto one_ring = cycles_of_dependent_copies(bench_, 1, copies);
  const auto four_rings = cycles_of_dependent_copies(bench_, 4, copies);
  bench_.write32(hw::channel_enable, 1);
  const auto four_rings_one_channel = cycles_of_dependent_copies(bench_, 4, copies);
  EXPECT_LT(2 * four_rings, one_ring) << "the same work, and " << one_ring << " cycles one after the other";
  EXPECT_LT(2 * four_rings, four_rings_one_channel);
}

TEST_F(BoardCopy, given_an_address_beyond_the_memory_when_copied_then_the_ring_fails_with_memory) {
  tables_.map(0x9000'0000, PageTables::leaf(1ULL << 30U, false, true));
  const auto sequence = ring_->add(copy(0x9000'0000, host_va, 64));
  ring_->ring_doorbell();
  ASSERT_TRUE(ring_->wait(sequence));
  ASSERT_TRUE(bench_.run_until_quiescent());
  EXPECT_EQ(ring_->record().status(), hw::Status::memory);
  EXPECT_EQ(ring_->state(), hw::RingState::faulted);
  const hw::RingFaultInfoRegister info{bench_.read32(hw::fault_log_info)};
  EXPECT_EQ(info.status(), hw::Status::memory);
  EXPECT_TRUE(info.write());
  EXPECT_EQ(bench_.read64(hw::fault_log_address), 0x9000'0000U);
  EXPECT_EQ(bench_.read32(hw::fault_log_sequence), sequence);
  EXPECT_EQ(bench_.read32(hw::fault_count), 1U);
  bench_.write32(hw::fault_clear, 0);
  EXPECT_EQ(bench_.read32(hw::fault_count), 0U);
  EXPECT_EQ(bench_.read32(hw::fault_log_info), 0U);
}

TEST_F(BoardCopy, given_a_remapped_page_when_its_range_is_invalidated_then_the_next_copy_uses_the_new_page) {
  const auto first = random_bytes(4096, 5);
  const auto second = random_bytes(4096, 6);
  bench_.host.memory.write(host_address, first);
  bench_.host.memory.write(host_address + 4096, second);
  copy_cycles(device_va, host_va, 4096);
  tables_.map(device_va, PageTables::leaf(0x30'0000, false, true));
  bench_.write64(hw::inv_address, device_va);
  bench_.write64(hw::inv_bytes, 4096);
  bench_.write32(hw::inv_space, 0);
  bench_.write32(hw::inv_command, 1);
  ASSERT_TRUE(bench_.run_until_quiescent());
  EXPECT_EQ(bench_.read32(hw::inv_status), 1U) << "one done, none running";
  copy_cycles(device_va, host_va + 4096, 4096);
  EXPECT_EQ(bench_.dram_memory.read(0x30'0000, 4096), second);
  EXPECT_EQ(bench_.dram_memory.read(0, 4096), first);
}

TEST_F(BoardCopy, given_copies_under_way_when_invalidations_come_then_both_finish) {
  constexpr std::uint64_t bytes = 1ULL << 20U;
  const auto data = random_bytes(bytes, 7);
  bench_.host.memory.write(host_address, data);
  const auto sequence = ring_->add(copy(device_va, host_va, bytes));
  ring_->ring_doorbell();
  for (std::uint32_t i = 1; i <= 20; ++i) {
    bench_.run(300);
    bench_.write32(hw::inv_command, i % 2 == 0 ? 2 : 1);
    ASSERT_TRUE(bench_.run_until([&] { return bench_.read32(hw::inv_status) == i; }, 1000));
  }
  ASSERT_TRUE(ring_->wait(sequence));
  EXPECT_EQ(bench_.dram_memory.read(0, bytes), data);
}

}  // namespace
}  // namespace datum::rtl_test
