// What simulated boards promise beyond the seam: they cost nothing while idle, little memory, and repeat
// exactly.

#include <ctime>
#include <sys/resource.h>
#include <thread>

#include "sim/backend.hpp"
#include "tests/contract/contract_board.hpp"
#include "tests/support/pattern.hpp"

namespace datum::test {

class SimulationContract : public Contract {
 protected:
  static std::uint64_t process_time_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
  }

  static std::uint64_t cost_of_sleeping() {
    const auto before = process_time_ns();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return process_time_ns() - before;
  }

  static std::unique_ptr<sim::SimFunction> open_simulated(const std::string& address) {
    auto opened = sim::open_simulated(address);
    return opened ? std::move(opened).value() : nullptr;
  }
};

DATUM_ON_EVERY_BOARD(SimulationContract);

/// A free-running board repeats its stimulus, not its interleaving, so this is about the others.
class StepLockedContract : public SimulationContract {};

INSTANTIATE_TEST_SUITE_P(Boards, StepLockedContract, ::testing::ValuesIn(step_locked_addresses()),
                         address_as_name);

TEST_P(SimulationContract, an_idle_board_uses_no_processor_time) {
  std::vector<std::unique_ptr<board::PcieFunction>> boards;
  for (int count = 0; count < 4; ++count) {
    auto opened = open_board(GetParam());
    ASSERT_TRUE(opened);
    boards.push_back(std::move(opened).value());
  }
  BoardDriver used(*boards[0]);
  TestRing ring(used, 0, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(plain_descriptor(hw::Opcode::nop))));
  ASSERT_TRUE(used.until_quiescent());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LT(cost_of_sleeping(), 3'000'000U);
}

TEST_P(SimulationContract, a_board_with_a_parked_ring_uses_hardly_any) {
  auto words = driver().host(0x1000);
  driver().map_host(space, host_va, *words);
  // By the board's own speed, as a driver would: looking takes a slow board longer than a millisecond.
  driver().registers().write32(hw::park_recheck_ns, 1'000'000 * function().clock().wait_scale);
  TestRing ring(driver(), 0, 4, {space});
  ring.submit(wait_descriptor(space, host_va, hw::WaitCondition::equal, 1));
  ASSERT_TRUE(ring.wait_for_state(hw::RingState::parked));
  ASSERT_TRUE(driver().until_quiescent());
  // Of 300 ms: it wakes once in a millisecond, and sleeps in between.
  EXPECT_LT(cost_of_sleeping(), 150'000'000U);
}

TEST_P(SimulationContract, a_dma_fault_names_its_cycle) {
  driver().map(space, host_va, 0x1000,
               hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_host(true).set_address_bytes(
                   raw(driver().reserve_iova(0x1000))));
  TestRing ring(driver(), 0, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(fill_descriptor(space, host_va, 0x40, 0, 1))));
  const auto faults = function().take_dma_faults();
  ASSERT_FALSE(faults.empty());
  EXPECT_GT(faults[0].cycle, 0U);
}

TEST_P(SimulationContract, a_large_memory_costs_only_touched_pages) {
  auto function = open_simulated(GetParam() + (GetParam().back() == ':' ? "" : ",") + "memory=64G");
  ASSERT_NE(function, nullptr);
  BoardDriver driver(*function);
  const auto before = function->resident_memory_bytes();
  EXPECT_LT(before, 1U << 20U);
  const auto far = (1ULL << 36U) - 0x10000;
  driver.registers().write64(hw::window_base, hw::WindowBaseRegister{}.set_address_bytes(far).raw);
  driver.aperture().write64(driver.registers().read64(hw::aperture_fixed_bytes), 1);
  const auto after = function->resident_memory_bytes();
  EXPECT_GT(after, before);
  EXPECT_LE(after, before + 0x4000);
}

TEST_P(SimulationContract, many_boards_work_at_once_and_have_numbers_of_their_own) {
  constexpr unsigned count = 6;
  std::vector<std::unique_ptr<board::PcieFunction>> boards;
  for (unsigned number = 0; number < count; ++number) {
    auto opened = open_board(GetParam());
    ASSERT_TRUE(opened);
    boards.push_back(std::move(opened).value());
  }
  for (unsigned first = 0; first < count; ++first) {
    for (unsigned second = 0; second < first; ++second) {
      EXPECT_FALSE(boards[first]->info().pci.device == boards[second]->info().pci.device &&
                   boards[first]->info().pci.bus == boards[second]->info().pci.bus);
    }
  }
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < count; ++number) {
    threads.emplace_back([&, number] {
      BoardDriver driver(*boards[number]);
      auto memory = driver.host(0x4000);
      driver.map_host(space, host_va, *memory);
      const auto device = driver.device_memory(0x4000);
      driver.map_device(space, device_va, device, 0x4000);
      write_pattern(memory->data(), 0x2000, number);
      TestRing ring(driver, 0, 4, {space});
      ring.push(copy_descriptor(space, host_va, space, device_va, 0x2000));
      EXPECT_TRUE(ring.wait_for(ring.submit(
          copy_descriptor(space, device_va, space, host_va + 0x2000, 0x2000).set_flag_fence(true))));
      EXPECT_TRUE(same_bytes(memory->data(), memory->data() + 0x2000, 0x2000)) << number;
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

TEST_P(SimulationContract, a_lost_board_reads_ones_ends_waits_and_comes_back_by_reset) {
  auto function = open_simulated(GetParam());
  ASSERT_NE(function, nullptr);
  BoardDriver driver(*function);
  std::thread waiter([&] {
    for (;;) {
      const auto outcome = function->wait(0, -1, board::no_deadline);
      if (!outcome) {
        EXPECT_EQ(outcome.error().code, ErrorCode::device_lost);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  function->lose("the cable was pulled");
  waiter.join();
  const auto health = function->health();
  ASSERT_FALSE(health);
  EXPECT_EQ(health.error().code, ErrorCode::device_lost);
  EXPECT_NE(health.error().message.find("the cable was pulled"), std::string::npos);
  EXPECT_EQ(driver.registers().read32(hw::magic), 0xffffffffU);
  EXPECT_EQ(driver.registers().read64(hw::memory_bytes), ~0ULL);
  EXPECT_EQ(driver.aperture().read64(0), ~0ULL);
  ASSERT_TRUE(function->reset(board::ResetKind::function));
  EXPECT_TRUE(function->health());
  EXPECT_EQ(driver.registers().read32(hw::magic), hw::magic_value);
}

TEST_P(StepLockedContract, equal_step_locked_runs_repeat_every_transaction) {
  const auto run = [&](unsigned seed, unsigned value) {
    auto function = open_simulated(GetParam() + ",backpressure=30,seed=" + std::to_string(seed));
    EXPECT_NE(function, nullptr);
    BoardDriver driver(*function);
    auto memory = driver.host(0x8000);
    driver.map_host(space, host_va, *memory);
    const auto device = driver.device_memory(0x4000);
    driver.map_device(space, device_va, device, 0x4000);
    write_pattern(memory->data(), 0x4000, value);
    TestRing ring(driver, 0, 4, {space});
    TestRing other(driver, 1, 4, {space});
    ring.push(copy_descriptor(space, host_va + 5, space, device_va, 0x2000));
    other.submit(fill_descriptor(space, host_va + 0x4000, 0x1234, 0, value));
    EXPECT_TRUE(ring.wait_for(ring.submit(
        copy_descriptor(space, device_va, space, host_va + 0x6000, 0x1000).set_flag_interrupt(true))));
    EXPECT_TRUE(driver.until_quiescent());
    return std::pair(function->transaction_hash(), function->cycle());
  };
  const auto first = run(7, 1);
  EXPECT_EQ(run(7, 1), first);
  EXPECT_NE(run(7, 2).first, first.first) << "the hash must notice other data";
  if (GetParam().starts_with("rtl")) {
    EXPECT_NE(run(8, 1).first, first.first) << "another seed, another timing";
  }
}

}  // namespace datum::test
