// Many rings, and rings that wait for one another.

#include <numeric>

#include "tests/contract/contract_board.hpp"
#include "tests/support/pattern.hpp"

namespace datum::test {

class ScheduleContract : public Contract {};

DATUM_ON_EVERY_BOARD(ScheduleContract);

TEST_P(ScheduleContract, sixty_four_rings_that_each_wait_for_the_next_finish_in_the_worst_order) {
  constexpr unsigned count = 64;
  driver().registers().write32(hw::park_recheck_ns, 0);
  auto words = driver().host(0x1000);
  driver().map_host(space, host_va, *words);
  std::vector<std::unique_ptr<TestRing>> rings;
  for (unsigned number = 0; number < count; ++number) {
    rings.push_back(std::make_unique<TestRing>(driver(), number, 2, std::vector<unsigned>{space}));
  }
  // Ring r waits for the word of ring r+1 and then writes its own; the last one waits for nobody and is
  // submitted last.
  const auto word_of = [](unsigned number) { return host_va + number * sizeof(std::uint64_t); };
  std::vector<std::uint32_t> last(count);
  for (unsigned number = 0; number < count; ++number) {
    if (number + 1 < count) {
      rings[number]->submit(wait_descriptor(space, word_of(number + 1), hw::WaitCondition::equal, 1));
    }
    last[number] = rings[number]->submit(write_value_descriptor(space, word_of(number), 1));
  }
  for (unsigned number = 0; number < count; ++number) {
    ASSERT_TRUE(rings[number]->wait_for(last[number])) << number;
    EXPECT_EQ(rings[number]->record().status(), hw::Status::ok) << number;
  }
  EXPECT_TRUE(driver().until_quiescent());
  for (unsigned number = 0; number < count; ++number) {
    EXPECT_EQ(rings[number]->state(), hw::RingState::idle) << number;
    EXPECT_EQ(words->word(number * sizeof(std::uint64_t)), 1U) << number;
  }
}

TEST_P(ScheduleContract, parked_rings_do_not_stop_others) {
  auto words = driver().host(0x1000);
  driver().map_host(space, host_va, *words);
  std::vector<std::unique_ptr<TestRing>> parked;
  for (unsigned number = 0; number < 16; ++number) {
    parked.push_back(std::make_unique<TestRing>(driver(), number, 2, std::vector<unsigned>{space}));
    parked.back()->submit(wait_descriptor(space, host_va, hw::WaitCondition::equal, 1));
  }
  TestRing worker(driver(), 20, 4, {space});
  ASSERT_TRUE(worker.wait_for(worker.submit(fill_descriptor(space, host_va + 8, 0xf00, 0, 2))));
  EXPECT_EQ(worker.record().status(), hw::Status::ok);
  EXPECT_EQ(parked[0]->state(), hw::RingState::parked);
}

TEST_P(ScheduleContract, rings_work_side_by_side_and_each_result_is_right) {
  constexpr unsigned count = 8;
  constexpr std::size_t bytes = 8192;
  auto host = driver().host(count * 2 * bytes);
  driver().map_host(space, host_va, *host);
  const auto device = driver().device_memory(count * bytes);
  driver().map_device(space, device_va, device, count * bytes);
  std::vector<std::unique_ptr<TestRing>> rings;
  std::vector<std::uint32_t> last(count);
  for (unsigned number = 0; number < count; ++number) {
    write_pattern(host->data() + number * bytes, bytes, number + 1);
    rings.push_back(std::make_unique<TestRing>(driver(), number, 3, std::vector<unsigned>{space}));
  }
  for (unsigned number = 0; number < count; ++number) {
    const auto piece = number * bytes;
    rings[number]->push(copy_descriptor(space, host_va + piece, space, device_va + piece, bytes));
    last[number] = rings[number]->submit(
        copy_descriptor(space, device_va + piece, space, host_va + count * bytes + piece, bytes)
            .set_flag_fence(true));
  }
  for (unsigned number = 0; number < count; ++number) {
    ASSERT_TRUE(rings[number]->wait_for(last[number])) << number;
    EXPECT_TRUE(same_bytes(host->data() + number * bytes, host->data() + (count + number) * bytes, bytes))
        << number;
  }
}

TEST_P(ScheduleContract, records_of_a_ring_come_in_order) {
  auto words = driver().host(0x1000);
  driver().map_host(space, host_va, *words);
  TestRing ring(driver(), 0, 6, {space});
  for (unsigned value = 1; value <= 40; ++value) {
    ring.submit(write_value_descriptor(space, host_va, value));
  }
  std::uint32_t seen = 0;
  ASSERT_TRUE(driver().until([&] {
    const auto record = ring.record().sequence();
    EXPECT_GE(record, seen);
    EXPECT_GE(words->word(0), record) << "the record came before the write";
    seen = record;
    return record == 40;
  }));
}

TEST_P(ScheduleContract, rings_that_make_way_for_one_another_in_the_middle_of_a_copy_move_every_byte) {
  constexpr unsigned count = 3;
  constexpr std::size_t bytes = 200'000;
  constexpr std::uint64_t piece = 0x40000;
  driver().registers().write32(hw::channel_enable, 1);
  auto host = driver().host(count * 2 * piece);
  driver().map_host(space, host_va, *host);
  driver().map_device(space, device_va, driver().device_memory(count * piece), count * piece);
  std::vector<std::unique_ptr<TestRing>> rings;
  std::vector<std::uint32_t> last(count);
  for (unsigned number = 0; number < count; ++number) {
    write_pattern(host->data() + number * piece, bytes, number + 1);
    rings.push_back(std::make_unique<TestRing>(driver(), number, 3, std::vector<unsigned>{space}));
    driver().registers().write32(hw::ring_weight(number), ~0U << number);
    EXPECT_EQ(driver().registers().read32(hw::ring_weight(number)), (15U << number) & 15U);
    driver().registers().write32(hw::ring_weight(number), number);
    rings[number]->push(
        copy_descriptor(space, host_va + number * piece, space, device_va + number * piece + 3, bytes));
    rings[number]->push(copy_descriptor(space, device_va + number * piece + 3, space,
                                        host_va + (count + number) * piece, bytes)
                            .set_flag_fence(true));
  }
  for (unsigned number = 0; number < count; ++number) {
    last[number] = rings[number]->submit(plain_descriptor(hw::Opcode::barrier));
  }
  for (unsigned number = 0; number < count; ++number) {
    ASSERT_TRUE(rings[number]->wait_for(last[number])) << number;
    EXPECT_EQ(rings[number]->record().status(), hw::Status::ok) << number;
    EXPECT_TRUE(same_bytes(host->data() + number * piece, host->data() + (count + number) * piece, bytes));
  }
  driver().registers().write32(hw::reset, 1);
  ASSERT_TRUE(driver().until([&] { return driver().registers().read32(hw::reset) == 0; }));
  EXPECT_EQ(driver().registers().read32(hw::ring_weight(2)), 0U);
}

}  // namespace datum::test
