// What each opcode does when nothing is wrong.

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/contract/contract_board.hpp"
#include "tests/support/pattern.hpp"

namespace datum::test {

class OpcodeContract : public Contract {
 protected:
  static constexpr std::uint64_t area_bytes = 64 * 1024;

  void SetUp() override {
    host_ = driver().host(area_bytes);
    device_ = driver().device_memory(area_bytes);
    driver().map_host(space, host_va, *host_);
    driver().map_device(space, device_va, device_, area_bytes);
    ring_ = std::make_unique<TestRing>(driver(), 0, 6, std::vector<unsigned>{space});
  }

  void TearDown() override {
    ring_.reset();
    host_.reset();
  }

  void run(hw::Descriptor descriptor) {
    const auto sequence = ring_->submit(descriptor);
    ASSERT_TRUE(ring_->wait_for(sequence));
    const auto record = ring_->record();
    ASSERT_EQ(record.status(), hw::Status::ok)
        << name_of(record.reason()) << " at " << std::hex << record.fault_address();
    ASSERT_EQ(record.sequence(), sequence);
    ASSERT_EQ(record.head(), ring_->tail());
    ASSERT_EQ(record.ring(), 0U);
  }

  Bytes device_bytes(std::uint64_t offset, std::size_t count) {
    Bytes bytes(count);
    driver().read_device(device_ + offset, std::as_writable_bytes(std::span{bytes}));
    return bytes;
  }

  unsigned char* host_bytes(std::uint64_t offset) {
    return reinterpret_cast<unsigned char*>(host_->data() + offset);
  }

  std::unique_ptr<HostBuffer> host_;
  std::uint64_t device_ = 0;
  std::unique_ptr<TestRing> ring_;
};

DATUM_ON_EVERY_BOARD(OpcodeContract);

TEST_P(OpcodeContract, nop_and_barrier_complete) {
  run(plain_descriptor(hw::Opcode::nop));
  run(plain_descriptor(hw::Opcode::barrier));
  EXPECT_EQ(ring_->head(), 2U);
  EXPECT_TRUE(ring_->wait_for_state(hw::RingState::idle));
}

TEST_P(OpcodeContract, copy_of_any_alignment_and_length) {
  const auto background = pattern(area_bytes, 11);
  for (const auto& [from, to, bytes] : std::vector<std::array<std::uint64_t, 3>>{{0, 0, 4096},
                                                                                 {0, 0, 1},
                                                                                 {1, 0, 63},
                                                                                 {0, 1, 64},
                                                                                 {3, 5, 129},
                                                                                 {63, 65, 4097},
                                                                                 {4095, 17, 8192},
                                                                                 {100, 200, 20001},
                                                                                 {0, 0, area_bytes}}) {
    write_pattern(host_bytes(0), area_bytes, from + to + bytes);
    driver().write_device(device_, std::as_bytes(std::span{background}));
    run(copy_descriptor(space, host_va + from, space, device_va + to, bytes));
    auto expected = background;
    std::copy_n(host_bytes(from), bytes, expected.begin() + static_cast<std::ptrdiff_t>(to));
    ASSERT_TRUE(same_bytes(expected, device_bytes(0, area_bytes))) << from << " " << to << " " << bytes;
  }
}

TEST_P(OpcodeContract, copy_device_to_device_to_host_and_host_to_host) {
  write_pattern(host_bytes(0), 8192, 5);
  run(copy_descriptor(space, host_va, space, device_va + 7, 8192));
  run(copy_descriptor(space, device_va + 7, space, device_va + 20000, 8192));
  run(copy_descriptor(space, device_va + 20000, space, host_va + 10001, 8192));
  EXPECT_TRUE(same_bytes(host_bytes(0), host_bytes(10001), 8192));
  run(copy_descriptor(space, host_va + 10001, space, host_va + 30000, 8192));
  EXPECT_TRUE(same_bytes(host_bytes(0), host_bytes(30000), 8192));
}

TEST_P(OpcodeContract, copy_of_no_bytes_completes_and_moves_nothing) {
  run(copy_descriptor(space, 0x123, space, 0x456, 0));
  run(fill_descriptor(space, 0x123, 0, 0, 1));
}

TEST_P(OpcodeContract, copy_region_with_pitches) {
  run(fill_descriptor(space, device_va, area_bytes, 0, 0));
  write_pattern(host_bytes(0), area_bytes, 21);
  auto descriptor = copy_descriptor(space, host_va + 3, space, device_va + 5, 0);
  descriptor.set_opcode(hw::Opcode::copy_region)
      .set_region_x_bytes(100)
      .set_region_rows(7)
      .set_region_planes(3);
  descriptor.set_src_row_pitch(128).set_src_slice_pitch(2000).set_dst_row_pitch(101).set_dst_slice_pitch(900);
  Bytes expected(area_bytes, 0);
  for (std::size_t plane = 0; plane < 3; ++plane) {
    for (std::size_t row = 0; row < 7; ++row) {
      std::copy_n(host_bytes(3 + plane * 2000 + row * 128), 100,
                  expected.begin() + static_cast<std::ptrdiff_t>(5 + plane * 900 + row * 101));
    }
  }
  run(descriptor);
  EXPECT_TRUE(same_bytes(expected, device_bytes(0, area_bytes)));
}

TEST_P(OpcodeContract, copy_region_without_rows_or_planes_moves_nothing) {
  run(fill_descriptor(space, device_va, area_bytes, 0, 0));
  auto descriptor = copy_descriptor(space, host_va, space, device_va, 0);
  descriptor.set_opcode(hw::Opcode::copy_region)
      .set_region_x_bytes(100)
      .set_region_rows(0)
      .set_region_planes(3);
  run(descriptor);
  descriptor.set_region_rows(2).set_region_planes(0);
  run(descriptor);
  EXPECT_EQ(device_bytes(0, 200), Bytes(200, 0));
}

TEST_P(OpcodeContract, fill_with_every_pattern_size_at_any_alignment) {
  const std::uint64_t low = 0x8877665544332211ULL;
  const std::uint64_t high = 0x00ffeeddccbbaa99ULL;
  std::array<unsigned char, 16> pattern_bytes{};
  std::memcpy(pattern_bytes.data(), &low, 8);
  std::memcpy(pattern_bytes.data() + 8, &high, 8);
  for (unsigned code = 0; code <= 4; ++code) {
    for (const auto& [offset, bytes] :
         std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 64}, {1, 1}, {5, 300}, {4090, 5000}}) {
      run(fill_descriptor(space, device_va, area_bytes / 4, 0, 0x5a));
      run(fill_descriptor(space, device_va + offset, bytes, code, low, high));
      Bytes expected(area_bytes / 4, 0x5a);
      for (std::uint64_t at = 0; at < bytes; ++at) {
        expected[offset + at] = pattern_bytes[at % (1U << code)];
      }
      ASSERT_TRUE(same_bytes(expected, device_bytes(0, area_bytes / 4)))
          << code << " " << offset << " " << bytes;
    }
  }
}

TEST_P(OpcodeContract, write_value_writes_4_or_8_bytes) {
  run(fill_descriptor(space, host_va, 64, 0, 0xff));
  run(write_value_descriptor(space, host_va + 8, 0x1122334455667788ULL));
  run(write_value_descriptor(space, host_va + 20, 0x99aabbccU, 2));
  EXPECT_EQ(host_->word(0), ~0ULL);
  EXPECT_EQ(host_->word(8), 0x1122334455667788ULL);
  EXPECT_EQ(host_->word(16), 0x99aabbccffffffffULL);
  run(write_value_descriptor(space, device_va + 8, 7));
  EXPECT_EQ(driver().aperture().read64(device_ + 8), 7U);
}

TEST_P(OpcodeContract, timestamp_writes_the_timer) {
  const auto before = driver().registers().read64(hw::timer);
  run(timestamp_descriptor(space, host_va));
  run(timestamp_descriptor(space, host_va + 8));
  const auto after = driver().registers().read64(hw::timer);
  EXPECT_LE(before, host_->word(0));
  EXPECT_LE(host_->word(0), host_->word(8));
  EXPECT_LE(host_->word(8), after);
  EXPECT_LE(ring_->record().timer(), after);
  EXPECT_GE(ring_->record().timer(), host_->word(8));
}

TEST_P(OpcodeContract, a_record_tells_the_cycle_in_which_it_was_made) {
  const auto before = driver().registers().read64(hw::cycles);
  run(fill_descriptor(space, host_va, 64, 0, 0xff));
  const auto first = ring_->record().cycles();
  run(fill_descriptor(space, host_va, 64, 0, 0xff));
  const auto second = ring_->record().cycles();
  EXPECT_LT(before, first);
  EXPECT_LT(first, second);
  EXPECT_LT(second, driver().registers().read64(hw::cycles));
}

TEST_P(OpcodeContract, wait_value_knows_every_condition) {
  host_->set_word(0, 0xab05);
  run(wait_descriptor(space, host_va, hw::WaitCondition::equal, 5, 0xff));
  run(wait_descriptor(space, host_va, hw::WaitCondition::not_equal, 6, 0xff));
  run(wait_descriptor(space, host_va, hw::WaitCondition::greater_equal, 5, 0xff));
  run(wait_descriptor(space, host_va, hw::WaitCondition::greater_equal, 0xab00));
  EXPECT_TRUE(ring_->wait_for_state(hw::RingState::idle));
}

TEST_P(OpcodeContract, a_wait_that_does_not_hold_parks_until_it_is_kicked) {
  driver().registers().write32(hw::park_recheck_ns, 0);
  const auto sequence = ring_->submit(wait_descriptor(space, host_va, hw::WaitCondition::equal, 1));
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::parked));
  EXPECT_EQ(ring_->head(), 0U);
  EXPECT_TRUE(driver().until_quiescent()) << "a parked ring holds nothing";
  driver().registers().write32(hw::ring_kick(0), 1);
  ASSERT_TRUE(driver().until_quiescent());
  EXPECT_EQ(ring_->state(), hw::RingState::parked) << "the word has not changed";
  host_->set_word(0, 1);
  driver().registers().write32(hw::ring_kick(0), 1);
  ASSERT_TRUE(ring_->wait_for(sequence));
  EXPECT_EQ(ring_->record().status(), hw::Status::ok);
  EXPECT_EQ(ring_->head(), 1U);
}

TEST_P(OpcodeContract, kick_all_reaches_every_parked_ring) {
  driver().registers().write32(hw::park_recheck_ns, 0);
  TestRing other(driver(), 9, 4, {space});
  const auto first = ring_->submit(wait_descriptor(space, host_va, hw::WaitCondition::equal, 1));
  const auto second = other.submit(wait_descriptor(space, host_va + 8, hw::WaitCondition::equal, 1));
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::parked));
  ASSERT_TRUE(other.wait_for_state(hw::RingState::parked));
  host_->set_word(0, 1);
  host_->set_word(8, 1);
  driver().registers().write32(hw::kick_all, 1);
  EXPECT_TRUE(ring_->wait_for(first));
  EXPECT_TRUE(other.wait_for(second));
}

TEST_P(OpcodeContract, a_parked_ring_looks_again_after_its_recheck_time) {
  driver().registers().write32(hw::park_recheck_ns, 100'000);
  const auto sequence = ring_->submit(wait_descriptor(space, host_va, hw::WaitCondition::equal, 1));
  ASSERT_TRUE(ring_->wait_for_state(hw::RingState::parked));
  host_->set_word(0, 1);
  EXPECT_TRUE(ring_->wait_for(sequence));
  EXPECT_EQ(ring_->record().status(), hw::Status::ok);
}

TEST_P(OpcodeContract, a_parked_ring_goes_on_when_the_board_writes_the_word) {
  driver().registers().write32(hw::park_recheck_ns, 0);
  TestRing other(driver(), 9, 4, {space});
  unsigned ring_of_word = 0;
  for (const auto word : {host_va, device_va}) {
    const auto sequence =
        ring_->submit(wait_descriptor(space, word + 16, hw::WaitCondition::equal, 0x0101010101010101ULL));
    ASSERT_TRUE(ring_->wait_for_state(hw::RingState::parked));
    ASSERT_TRUE(other.wait_for(other.submit(fill_descriptor(space, word, 64, 0, 1)))) << ring_of_word;
    EXPECT_TRUE(ring_->wait_for(sequence)) << ring_of_word;
    ++ring_of_word;
  }
}

TEST_P(OpcodeContract, a_fenced_descriptor_sees_what_earlier_ones_wrote) {
  write_pattern(host_bytes(0), 16384, 8);
  ring_->push(copy_descriptor(space, host_va, space, device_va, 16384));
  ring_->push(copy_descriptor(space, device_va, space, device_va + 20000, 16384).set_flag_fence(true));
  run(copy_descriptor(space, device_va + 20000, space, host_va + 20000, 16384).set_flag_fence(true));
  EXPECT_TRUE(same_bytes(host_bytes(0), host_bytes(20000), 16384));
}

TEST_P(OpcodeContract, a_ring_wraps_around_many_times) {
  constexpr std::uint32_t values = 300;  // of 64 slots
  std::uint32_t sequence = 0;
  for (std::uint32_t value = 1; value <= values; ++value) {
    sequence = ring_->submit(write_value_descriptor(space, host_va, value));
    if (ring_->tail() % 50 == 0) {
      ASSERT_TRUE(ring_->wait_for(sequence));
    }
  }
  ASSERT_TRUE(ring_->wait_for(sequence));
  EXPECT_EQ(host_->word(0), values);
  EXPECT_EQ(ring_->head(), values);
  EXPECT_EQ(ring_->record().head(), values);
}

TEST_P(OpcodeContract, a_ring_of_one_slot_works) {
  TestRing small(driver(), 1, 0, {space});
  for (std::uint64_t value = 1; value < 5; ++value) {
    ASSERT_TRUE(small.wait_for(small.submit(write_value_descriptor(space, host_va, value))));
    EXPECT_EQ(host_->word(0), value);
  }
}

TEST_P(OpcodeContract, large_leaves_translate) {
  const auto big = driver().device_memory(large_page_bytes, large_page_bytes);
  const std::uint64_t va = 0x6000'0000'0000;
  driver().set_entry(space, va, 1,
                     hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_address_bytes(big));
  const std::uint64_t gigabyte_va = 0x5000'0000'0000;
  constexpr std::uint64_t gigabyte = 1ULL << 30U;
  const std::uint64_t memory_bytes = driver().registers().read64(hw::memory_bytes);
  const std::uint64_t huge = memory_bytes > gigabyte ? gigabyte : 0;
  const std::uint64_t last = std::min(memory_bytes - huge, gigabyte) - 8;
  driver().set_entry(space, gigabyte_va, 2,
                     hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_address_bytes(huge));
  run(write_value_descriptor(space, va + 0x1f'f000, 5));
  EXPECT_EQ(driver().aperture().read64(big + 0x1f'f000), 5U);
  run(write_value_descriptor(space, gigabyte_va + last, 6));
  run(copy_descriptor(space, gigabyte_va + last, space, host_va, 8));
  EXPECT_EQ(host_->word(0), 6U);
}

TEST_P(OpcodeContract, on_chip_memory_is_a_target) {
  if (driver().registers().read64(hw::onchip_bytes) < small_page_bytes) {
    GTEST_SKIP() << "this board has no on-chip memory";
  }
  const std::uint64_t va = 0x6100'0000'0000;
  driver().map(
      space, va, small_page_bytes,
      hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_ordinal(1).set_address_bytes(0));
  write_pattern(host_bytes(0), 4096, 31);
  run(copy_descriptor(space, host_va, space, va, 4096));
  run(copy_descriptor(space, va, space, host_va + 8192, 4096));
  EXPECT_TRUE(same_bytes(host_bytes(0), host_bytes(8192), 4096));
}

TEST_P(OpcodeContract, source_and_destination_may_be_in_different_spaces) {
  TestRing ring(driver(), 1, 4, {space, space + 1});
  auto other = driver().host(4096);
  driver().map_host(space + 1, host_va, *other);
  host_->set_word(0, 0x77);
  ASSERT_TRUE(ring.wait_for(ring.submit(copy_descriptor(space, host_va, space + 1, host_va, 8))));
  EXPECT_EQ(ring.record().status(), hw::Status::ok);
  EXPECT_EQ(other->word(0), 0x77U);
}

TEST_P(OpcodeContract, performance_counters_count) {
  auto& registers = driver().registers();
  const auto descriptors = registers.read64(hw::perf_descriptors);
  const auto host_reads = registers.read64(hw::perf_host_read_beats);
  const auto dram_writes = registers.read64(hw::perf_dram_writes);
  run(copy_descriptor(space, host_va, space, device_va, 4096));
  EXPECT_EQ(registers.read64(hw::perf_descriptors), descriptors + 1);
  EXPECT_GE(registers.read64(hw::perf_host_read_beats), host_reads + 64);
  EXPECT_GE(registers.read64(hw::perf_dram_writes), dram_writes + 64);
}

}  // namespace datum::test
