// The time in which the board executes descriptors, as it counts it.

#include "tests/contract/contract_board.hpp"

namespace datum::test {

class BusyContract : public Contract {
 protected:
  static constexpr std::uint64_t area_bytes = 64 * 1024;

  void SetUp() override {
    host_ = driver().host(area_bytes);
    driver().map_host(space, host_va, *host_);
    driver().map_device(space, device_va, driver().device_memory(area_bytes), area_bytes);
  }

  void TearDown() override { host_.reset(); }

  std::uint64_t busy() { return driver().registers().read64(hw::perf_busy_ticks); }

  std::uint64_t timer() { return driver().registers().read64(hw::timer); }

  /// False: TIMER stood still.
  bool let_pass(std::uint64_t ticks) {
    const auto end = timer() + ticks;
    return driver().until([&] { return timer() >= end; });
  }

  std::unique_ptr<TestRing> ring(unsigned number) {
    return std::make_unique<TestRing>(driver(), number, 4, std::vector<unsigned>{space});
  }

  static hw::Descriptor copy(std::uint64_t first, std::uint64_t bytes) {
    return copy_descriptor(space, host_va + first, space, device_va + first, bytes);
  }

  std::unique_ptr<HostBuffer> host_;
};

DATUM_ON_EVERY_BOARD(BusyContract);

TEST_P(BusyContract, a_board_out_of_reset_was_never_busy_and_an_idle_one_stays_so) {
  const auto enabled = ring(0);
  ASSERT_TRUE(let_pass(100'000));
  EXPECT_EQ(busy(), 0U);
}

TEST_P(BusyContract, a_copy_counts_while_it_lasts_and_no_longer) {
  const auto copier = ring(0);
  const auto begin = timer();
  ASSERT_TRUE(copier->wait_for(copier->submit(copy(0, area_bytes))));
  ASSERT_EQ(copier->record().status(), hw::Status::ok);
  ASSERT_TRUE(driver().until_quiescent());
  const auto counted = busy();
  EXPECT_GT(counted, 0U);
  EXPECT_LE(counted, timer() - begin);
  ASSERT_TRUE(let_pass(100'000));
  EXPECT_EQ(busy(), counted);
  ASSERT_TRUE(copier->wait_for(copier->submit(copy(0, area_bytes))));
  EXPECT_GT(busy(), counted);
}

TEST_P(BusyContract, cycles_in_which_a_copy_moves_nothing_are_counted_while_it_lasts_and_no_longer) {
  auto& registers = driver().registers();
  const auto copier = ring(0);
  EXPECT_EQ(registers.read64(hw::perf_stalled_cycles), 0U);
  const auto begin = registers.read64(hw::cycles);
  ASSERT_TRUE(copier->wait_for(copier->submit(copy(0, area_bytes))));
  ASSERT_TRUE(driver().until_quiescent());
  const auto stalled = registers.read64(hw::perf_stalled_cycles);
  EXPECT_GT(stalled, 0U);
  EXPECT_LT(stalled, registers.read64(hw::cycles) - begin);
  ASSERT_TRUE(let_pass(100'000));
  EXPECT_EQ(registers.read64(hw::perf_stalled_cycles), stalled);
}

TEST_P(BusyContract, several_channels_at_once_are_busy_no_longer_than_time_passes) {
  constexpr unsigned count = 8;
  constexpr auto piece = area_bytes / count;
  std::vector<std::unique_ptr<TestRing>> rings;
  for (unsigned number = 0; number < count; ++number) {
    rings.push_back(ring(number));
  }
  const auto begin = timer();
  for (unsigned number = 0; number < count; ++number) {
    rings[number]->submit(copy(number * piece, piece));
  }
  for (auto& each : rings) {
    const auto so_far = busy();  // read before the time that it is compared with
    EXPECT_LE(so_far, timer() - begin);
    ASSERT_TRUE(each->wait_for(1));
  }
  const auto counted = busy();
  EXPECT_GT(counted, 0U);
  EXPECT_LE(counted, timer() - begin);
}

TEST_P(BusyContract, parked_rings_do_not_count_however_often_they_look) {
  driver().registers().write32(hw::park_recheck_ns, 1'000);
  std::vector<std::unique_ptr<TestRing>> parked;
  for (unsigned number = 0; number < 8; ++number) {
    parked.push_back(ring(number));
    parked.back()->submit(wait_descriptor(space, host_va, hw::WaitCondition::equal, 1));
  }
  for (auto& each : parked) {
    ASSERT_TRUE(each->wait_for_state(hw::RingState::parked));
  }
  ASSERT_TRUE(let_pass(200'000));
  driver().registers().write32(hw::kick_all, 1);
  ASSERT_TRUE(let_pass(100'000));
  EXPECT_EQ(busy(), 0U);
}

TEST_P(BusyContract, a_descriptor_that_failed_or_was_stopped_counts_no_longer) {
  auto failing = ring(0);
  ASSERT_TRUE(failing->wait_for(failing->submit(copy_descriptor(space, 0x5000, space, device_va, 4096))));
  ASSERT_EQ(failing->record().status(), hw::Status::mmu);
  auto stopped = ring(1);
  stopped->submit(copy(0, area_bytes));
  stopped->disable();
  ASSERT_TRUE(stopped->wait_for_state(hw::RingState::disabled));
  ASSERT_TRUE(driver().until_quiescent());
  const auto counted = busy();
  ASSERT_TRUE(let_pass(100'000));
  EXPECT_EQ(busy(), counted);
}

TEST_P(BusyContract, a_reset_amid_a_copy_begins_the_count_anew) {
  auto copier = ring(0);
  ASSERT_TRUE(copier->wait_for(copier->submit(copy(0, area_bytes))));
  copier->submit(copy(0, area_bytes));
  auto& registers = driver().registers();
  registers.write32(hw::reset, hw::ResetRegister{}.set_busy(true).raw);
  ASSERT_TRUE(driver().until([&] {
    return !hw::ResetRegister{registers.read32(hw::reset)}.busy() &&
           hw::StatusRegister{registers.read32(hw::status)}.memory_ready();
  }));
  EXPECT_EQ(busy(), 0U);
  ASSERT_TRUE(let_pass(100'000));
  EXPECT_EQ(busy(), 0U);
}

}  // namespace datum::test
