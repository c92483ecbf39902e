// A failure stops its ring and no other, leaves what the contract promises, and the ring works again after a
// restart.
#include "rtl_model/bench/dma_test.hpp"

namespace datum::rtl_bench {
namespace {

using hw::FaultReason;
using hw::RingState;
using hw::Status;

constexpr std::uint64_t source = 0x10'0000;
constexpr std::uint64_t destination = 0x20'0000;
constexpr unsigned fault_vector = 64;

struct Expected {
  Status status;
  FaultReason reason;
  bool write = false;
  unsigned space = 0;
  std::uint64_t address = 0;
};

class FaultTest : public ::testing::TestWithParam<Surroundings> {
 protected:
  FaultTest() : bench_(GetParam()), ring_(bench_, 9), other_(bench_, 10) {
    bench_.memory().write(dram(source), random_bytes(0x8000, 1));
  }

  /// Runs a good descriptor, `bad`, and one that must not be executed; the ring must report `expected`.
  void expect_failure(const hw::Descriptor& bad, const Expected& expected) {
    bench_.invalidate();
    bench_.forget_history();
    const std::uint64_t witness = destination + 0x9'0000;
    bench_.memory().put<std::uint64_t>(dram(witness), 0);
    bench_.memory().put<std::uint64_t>(dram(witness + 8), 0);
    const std::uint32_t first = ring_.tail();
    ring_.put(write_value({dram_space, witness}, 3, 1).set_sequence(100));
    ring_.put(hw::Descriptor(bad).set_sequence(101));
    ring_.put(write_value({dram_space, witness + 8}, 3, 1).set_flag_fence(true).set_sequence(102));
    ring_.doorbell();
    bench_.run_until_quiescent();
    expect_reported(expected, 101, first + 2);
    EXPECT_EQ(bench_.memory().get<std::uint64_t>(dram(witness)), 1U);
    EXPECT_EQ(bench_.memory().get<std::uint64_t>(dram(witness + 8)), 0U);
    expect_ring_works_after_restart();
  }

  void expect_reported(const Expected& expected, std::uint32_t sequence, std::uint32_t head) {
    EXPECT_EQ(ring_.state(), RingState::faulted);
    EXPECT_EQ(ring_.head(), head);
    const hw::CompletionRecord record = ring_.record();
    EXPECT_EQ(record.sequence(), sequence);
    EXPECT_EQ(record.status(), expected.status);
    EXPECT_EQ(record.reason(), expected.reason);
    EXPECT_EQ(record.fault_address(), expected.address);
    EXPECT_EQ(record.head(), head);
    expect_registers(expected, sequence);
    EXPECT_EQ(std::count(bench_.interrupts().begin(), bench_.interrupts().end(), 9U), 1);
  }

  void expect_registers(const Expected& expected, std::uint32_t sequence) {
    EXPECT_EQ(ring_.fault_info().status(), expected.status);
    EXPECT_EQ(ring_.fault_info().reason(), expected.reason);
    EXPECT_EQ(ring_.fault_info().write(), expected.write);
    EXPECT_EQ(ring_.fault_info().space(), expected.space);
    EXPECT_EQ(ring_.fault_address(), expected.address);
    EXPECT_EQ(ring_.fault_sequence(), sequence);
    ASSERT_EQ(bench_.faults().size(), 1U);
    const Fault& fault = bench_.faults()[0];
    EXPECT_EQ(fault.ring, 9U);
    EXPECT_EQ(fault.status, expected.status);
    EXPECT_EQ(fault.reason, expected.reason);
    EXPECT_EQ(fault.write, expected.write);
    EXPECT_EQ(fault.space, expected.space);
    EXPECT_EQ(fault.address, expected.address);
    EXPECT_EQ(fault.sequence, sequence);
    EXPECT_EQ(std::count(bench_.interrupts().begin(), bench_.interrupts().end(), fault_vector), 1);
  }

  void expect_ring_works_after_restart() {
    bench_.fail_nothing();
    bench_.unmap_changes();
    bench_.invalidate();
    ring_.doorbell();
    bench_.run_until_quiescent();
    EXPECT_EQ(ring_.state(), RingState::faulted) << "a doorbell revived it";
    ring_.restart();
    EXPECT_EQ(ring_.fault_info().raw, 0U);
    const std::uint64_t at = destination + 0xa'0000;
    bench_.memory().put<std::uint64_t>(dram(at), 0);
    for (Ring* ring : {&ring_, &other_}) {
      ring->put(copy({dram_space, at}, {dram_space, source}, 100));
      ring->submit(barrier().set_sequence(7).set_flag_complete(true));
      bench_.run_until_quiescent();
      EXPECT_EQ(ring->state(), RingState::idle);
      EXPECT_EQ(ring->record().sequence(), 7U);
      EXPECT_EQ(ring->record().status(), Status::ok);
      EXPECT_TRUE(bytes_at(bench_, dram(at), 100) == bytes_at(bench_, dram(source), 100));
    }
  }

  DmaBench bench_;
  Ring ring_;
  Ring other_;
};

INSTANTIATE_TEST_SUITE_P(Ideal, FaultTest, ::testing::Values(Surroundings{}));
INSTANTIATE_TEST_SUITE_P(Slow, FaultTest,
                         ::testing::Values(Surroundings{
                             .read_latency_cycles = 90, .write_latency_cycles = 70, .translate_cycles = 15}));
INSTANTIATE_TEST_SUITE_P(Stalling, FaultTest,
                         ::testing::Values(Surroundings{.read_latency_cycles = 4,
                                                        .write_latency_cycles = 6,
                                                        .translate_cycles = 2,
                                                        .stall_percent = 40,
                                                        .seed = 3}));

TEST_P(FaultTest, given_a_page_that_is_refused_when_read_then_the_first_refused_address_is_reported) {
  for (const FaultReason reason : {FaultReason::not_present, FaultReason::malformed_entry,
                                   FaultReason::no_root, FaultReason::table_read}) {
    bench_.map(dram_space, (source >> 12U) + 2, {Target::dram, 0, true, reason});
    expect_failure(copy({dram_space, destination}, {dram_space, source + 100}, 0x4000),
                   {Status::mmu, reason, false, 0, source + 0x2000});
    bench_.map(dram_space, source >> 12U, {Target::dram, 0, true, reason});
    expect_failure(copy({dram_space, destination}, {dram_space, source + 100}, 0x400),
                   {Status::mmu, reason, false, 0, source + 100});
  }
}

TEST_P(
    FaultTest,
    given_a_page_that_refuses_writes_when_written_then_what_stands_before_it_is_written_and_nothing_behind) {
  bench_.memory().write(dram(destination), Bytes(0x4000, 0));
  bench_.map(dram_space, (destination >> 12U) + 1,
             {Target::dram, (destination >> 12U) + 1, false, FaultReason::none});
  expect_failure(copy({dram_space, destination + 0x80}, {dram_space, source}, 0x3000),
                 {Status::mmu, FaultReason::write_refused, true, 0, destination + 0x1000});
  EXPECT_TRUE(bytes_at(bench_, dram(destination + 0x80), 0xf80) == bytes_at(bench_, dram(source), 0xf80));
  EXPECT_TRUE(bytes_at(bench_, dram(destination + 0x1000), 0x3000) == Bytes(0x3000, 0));
  bench_.map(dram_space, (destination >> 12U) + 1,
             {Target::dram, (destination >> 12U) + 1, false, FaultReason::none});
  expect_failure(fill({dram_space, destination + 0x1004}, 77, 2, 1),
                 {Status::mmu, FaultReason::write_refused, true, 0, destination + 0x1004});
  bench_.map(dram_space, (destination >> 12U) + 1,
             {Target::dram, (destination >> 12U) + 1, false, FaultReason::none});
  expect_failure(write_value({dram_space, destination + 0x1008}, 3, 1),
                 {Status::mmu, FaultReason::write_refused, true, 0, destination + 0x1008});
}

TEST_P(FaultTest, given_a_wait_on_a_refused_page_when_looked_at_then_the_ring_fails) {
  bench_.map(host_space, source >> 12U, {Target::host, 0, true, FaultReason::not_present});
  expect_failure(wait_value({host_space, source + 8}, hw::WaitCondition::equal, 0),
                 {Status::mmu, FaultReason::not_present, false, 1, source + 8});
  bench_.fail_reads({Target::host, source});
  expect_failure(wait_value({host_space, source + 8}, hw::WaitCondition::equal, 0),
                 {Status::host_bus, FaultReason::bus_read, false, 1, source + 8});
}

TEST_P(FaultTest,
       given_a_read_that_is_answered_with_an_error_when_copied_then_nothing_of_that_word_is_written) {
  bench_.memory().write(dram(destination), Bytes(0x2000, 0));
  bench_.fail_reads(dram(source + 0x640));
  expect_failure(copy({dram_space, destination}, {dram_space, source}, 0x1000),
                 {Status::memory, FaultReason::uncorrectable, false, 0, source + 0x640});
  EXPECT_TRUE(bytes_at(bench_, dram(destination + 0x640), 0x9c0) == Bytes(0x9c0, 0));
  bench_.fail_reads({Target::host, source + 0x40});
  expect_failure(copy({dram_space, destination}, {host_space, source + 0x55}, 0x1000),
                 {Status::host_bus, FaultReason::bus_read, false, 1, source + 0x55});
}

TEST_P(FaultTest, given_a_write_that_is_answered_with_an_error_when_copied_then_its_burst_is_reported) {
  bench_.fail_writes({Target::host, destination + 0x400});
  expect_failure(fill({host_space, destination + 0x3}, 0x1000, 0, 1),
                 {Status::host_bus, FaultReason::bus_write, true, 1, destination + 0x400});
  bench_.fail_writes({Target::onchip, destination});
  expect_failure(write_value({onchip_space, destination + 8}, 3, 1),
                 {Status::memory, FaultReason::bus_write, true, 2, destination + 8});
}

TEST_P(FaultTest, given_a_space_that_the_ring_may_not_name_when_used_then_nothing_is_accessed) {
  expect_failure(copy({dram_space, destination}, {5, source}, 64),
                 {Status::mmu, FaultReason::space_not_allowed, false, 5, source});
  expect_failure(copy({0x8000, destination}, {dram_space, source}, 64),
                 {Status::mmu, FaultReason::space_not_allowed, true, 0, destination});
  expect_failure(write_value({77, destination}, 3, 1),
                 {Status::mmu, FaultReason::space_not_allowed, true, 77, destination});
}

TEST_P(FaultTest, given_a_space_that_the_board_does_not_have_when_used_then_it_has_no_root) {
  bench_.write_register64(hw::ring_spaces(9), 0x8000'8001'8002'8000U | std::uint64_t{300} << 48U);
  expect_failure(copy({dram_space, destination}, {300, source}, 64),
                 {Status::mmu, FaultReason::no_root, false, 300, source});
  bench_.write_register64(hw::ring_spaces(9), 0x8000'8001'8002'8000U | std::uint64_t{300} << 48U);
  expect_failure(fill({300, destination}, 64, 0, 1),
                 {Status::mmu, FaultReason::no_root, true, 300, destination});
}

TEST_P(FaultTest, given_addresses_above_48_bits_when_used_then_they_are_not_canonical) {
  const std::uint64_t top = std::uint64_t{1} << 48U;
  expect_failure(copy({dram_space, destination}, {dram_space, top}, 64),
                 {Status::mmu, FaultReason::not_canonical, false, 0, top});
  expect_failure(copy({dram_space, top - 63}, {dram_space, source}, 64),
                 {Status::mmu, FaultReason::not_canonical, true, 0, top - 63});
  expect_failure(fill({dram_space, ~std::uint64_t{0} - 7}, 8, 3, 0),
                 {Status::mmu, FaultReason::not_canonical, true, 0, ~std::uint64_t{0} - 7});
  expect_failure(copy_region({dram_space, top - 0x100}, {dram_space, source},
                             {.x_bytes = 64, .rows = 9, .src_row_pitch = 64, .dst_row_pitch = 64}),
                 {Status::mmu, FaultReason::not_canonical, true, 0, top});
}

TEST_P(FaultTest, given_descriptors_that_break_a_rule_when_executed_then_the_rule_is_named) {
  const auto malformed = [](FaultReason reason) { return Expected{Status::malformed, reason}; };
  hw::Descriptor opcode = barrier();
  opcode.words[0] |= 0x88;
  expect_failure(opcode, malformed(FaultReason::opcode));
  for (const unsigned word : {1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
    hw::Descriptor unused = barrier();
    unused.words[word] = 1;
    expect_failure(unused, malformed(FaultReason::reserved_bits));
  }
  for (const unsigned bit : {11U, 14U, 15U, 24U, 31U, 12U, 16U}) {
    hw::Descriptor reserved = copy({dram_space, destination}, {dram_space, source}, 64);
    reserved.words[0] |= std::uint64_t{1} << bit;
    expect_failure(reserved, malformed(FaultReason::reserved_bits));
  }
  hw::Descriptor condition = wait_value({dram_space, source}, hw::WaitCondition::equal, 0);
  condition.words[0] |= 3U << 12U;
  expect_failure(condition, malformed(FaultReason::reserved_bits));
  expect_failure(fill({dram_space, destination}, 64, 5, 0), malformed(FaultReason::size));
  expect_failure(write_value({dram_space, destination}, 1, 0), malformed(FaultReason::size));
  expect_failure(timestamp({dram_space, destination}).set_size_code(2), malformed(FaultReason::size));
  expect_failure(write_value({dram_space, destination + 4}, 3, 0), malformed(FaultReason::alignment));
  expect_failure(write_value({dram_space, destination + 2}, 2, 0), malformed(FaultReason::alignment));
  expect_failure(wait_value({dram_space, source + 4}, hw::WaitCondition::equal, 0),
                 malformed(FaultReason::alignment));
}

TEST_P(FaultTest, given_a_bit_of_a_word_that_an_opcode_leaves_unused_when_set_then_it_is_refused) {
  struct Unused {
    hw::Descriptor descriptor;
    std::vector<std::pair<unsigned, unsigned>> bits;  // word and bit
  };

  const Address to{dram_space, destination};
  const Address from{dram_space, source};
  const Unused opcodes[] = {
      {copy(to, from, 64), {{4, 48}, {5, 0}, {6, 63}, {7, 1}}},
      {copy_region(to, from, {.x_bytes = 64, .rows = 2, .src_row_pitch = 64, .dst_row_pitch = 64}),
       {{7, 32}}},
      {fill(to, 64, 3, 1), {{4, 48}, {6, 0}, {7, 63}}},
      {write_value(to, 3, 1), {{4, 0}, {5, 63}, {6, 1}, {7, 0}}},
      {wait_value(from, hw::WaitCondition::equal, 0), {{6, 0}, {7, 63}}},
      {timestamp(to), {{2, 0}, {4, 1}, {5, 0}, {6, 63}, {7, 0}}}};
  for (const Unused& opcode : opcodes) {
    for (const auto& [word, bit] : opcode.bits) {
      hw::Descriptor reserved = opcode.descriptor;
      reserved.words[word] |= std::uint64_t{1} << bit;
      expect_failure(reserved, {Status::malformed, FaultReason::reserved_bits});
    }
  }
}

TEST_P(FaultTest, given_ranges_that_end_with_the_last_address_when_copied_then_they_are_canonical) {
  const std::uint64_t top = std::uint64_t{1} << 48U;
  constexpr std::uint64_t frame = 0x300;
  bench_.map(dram_space, (top >> 12U) - 1, {Target::dram, frame, true, FaultReason::none});
  ring_.put(copy({dram_space, top - 100}, {dram_space, source}, 100));
  ring_.submit(copy({dram_space, destination}, {dram_space, top - 100}, 100).set_flag_fence(true));
  bench_.run_until_quiescent();
  EXPECT_EQ(ring_.state(), RingState::idle);
  EXPECT_TRUE(bytes_at(bench_, dram((frame << 12U) + 0x1000 - 100), 100) ==
              bytes_at(bench_, dram(source), 100));
  EXPECT_TRUE(bytes_at(bench_, dram(destination), 100) == bytes_at(bench_, dram(source), 100));
}

TEST_P(FaultTest, given_random_words_when_executed_then_the_ring_fails_or_goes_on_and_nothing_hangs) {
  std::mt19937_64 random(17);
  for (unsigned i = 0; i < 100; ++i) {
    hw::Descriptor garbage;
    for (std::uint64_t& word : garbage.words) {
      word = random() >> (random() % 64);
    }
    garbage.words[0] =
        (garbage.words[0] & ~std::uint64_t{0xf8}) | ((random() % 4 == 0 ? random() : 0) & 0xf8U);
    garbage.words[4] &= 0xfffff;
    ring_.submit(garbage);
    bench_.run_until_quiescent();
    const RingState state = ring_.state();
    EXPECT_TRUE(state == RingState::faulted || state == RingState::idle || state == RingState::parked);
    if (state != RingState::idle) {
      ring_.restart();
    }
  }
  expect_failure(fill({dram_space, destination}, 64, 7, 0), {Status::malformed, FaultReason::size});
}

TEST_P(FaultTest, given_a_slot_that_cannot_be_fetched_when_its_turn_comes_then_head_stays_on_it) {
  bench_.fail_reads({Target::host, ring_.slot_address(2)});
  for (unsigned i = 0; i < 4; ++i) {
    ring_.put(write_value({dram_space, destination + 8U * i}, 3, i + 1));
  }
  ring_.doorbell();
  bench_.run_until_quiescent();
  expect_reported({Status::host_bus, FaultReason::descriptor_fetch, false, 0, ring_.slot_address(2)}, 0, 2);
  EXPECT_EQ(bench_.memory().get<std::uint64_t>(dram(destination + 8)), 2U);
  EXPECT_EQ(bench_.memory().get<std::uint64_t>(dram(destination + 16)), 0U);
  expect_ring_works_after_restart();
}

TEST_P(FaultTest, given_a_record_that_cannot_be_written_when_due_then_the_ring_is_faulted_all_the_same) {
  bench_.fail_writes({Target::host, ring_.record_address()});
  ring_.submit(barrier().set_sequence(55).set_flag_interrupt(true));
  bench_.run_until_quiescent();
  EXPECT_EQ(ring_.state(), RingState::faulted);
  expect_registers({Status::host_bus, FaultReason::completion_write, true, 0, ring_.record_address()}, 55);
  EXPECT_EQ(std::count(bench_.interrupts().begin(), bench_.interrupts().end(), 9U), 0);
  expect_ring_works_after_restart();
}

TEST_P(FaultTest, given_a_record_that_cannot_be_written_when_the_ring_goes_on_meanwhile_then_it_stops) {
  bench_.fail_writes({Target::host, ring_.record_address()});
  ring_.put(barrier().set_flag_complete(true));
  for (unsigned i = 0; i < 50; ++i) {
    ring_.put(copy({dram_space, destination + 0x4000 * (i % 3)}, {dram_space, source}, 0x3000));
  }
  ring_.doorbell();
  bench_.run_until_quiescent();
  EXPECT_EQ(ring_.state(), RingState::faulted);
  EXPECT_LT(ring_.head(), 51U);
  EXPECT_EQ(ring_.fault_info().reason(), FaultReason::completion_write);
  expect_ring_works_after_restart();
}

TEST_P(FaultTest, given_a_tail_further_ahead_than_the_ring_is_long_when_written_then_the_ring_fails) {
  bench_.write_register(hw::ring_tail(9), 257);
  bench_.run_until_quiescent();
  expect_reported({Status::malformed, FaultReason::size}, 0, 0);
  expect_ring_works_after_restart();
  bench_.forget_history();
  ring_.restart();
  bench_.write_register(hw::ring_tail(9), 0xffffffffU);
  bench_.run_until_quiescent();
  expect_reported({Status::malformed, FaultReason::size}, 0, 0);
  expect_ring_works_after_restart();
}

TEST_P(FaultTest, given_earlier_descriptors_in_flight_when_a_later_one_fails_then_they_complete) {
  const Bytes bytes = bytes_at(bench_, dram(source), 0x6000);
  ring_.put(copy({dram_space, destination}, {dram_space, source}, 0x6000));
  ring_.put(copy({dram_space, destination + 0x8001}, {dram_space, source}, 0x5000).set_flag_complete(true));
  bench_.map(dram_space, 0x500, {Target::dram, 0, true, FaultReason::not_present});
  ring_.put(copy({dram_space, destination + 0x10000}, {dram_space, 0x500000}, 0x1000));
  ring_.doorbell();
  bench_.run_until_quiescent();
  EXPECT_EQ(ring_.state(), RingState::faulted);
  EXPECT_EQ(ring_.record().sequence(), 2U);
  EXPECT_TRUE(bytes_at(bench_, dram(destination), 0x6000) == bytes);
  EXPECT_TRUE(bytes_at(bench_, dram(destination + 0x8001), 0x5000) ==
              Bytes(bytes.begin(), bytes.begin() + 0x5000));
}

TEST_P(
    FaultTest,
    given_an_older_failure_at_the_end_of_the_pipe_when_a_younger_one_was_seen_first_then_the_older_is_reported) {
  bench_.fail_writes(dram(destination + 0x7c0));
  bench_.map(dram_space, 0x500, {Target::dram, 0, true, FaultReason::not_present});
  ring_.put(copy({dram_space, destination}, {dram_space, source}, 0x800));
  ring_.put(copy({dram_space, destination + 0x10000}, {dram_space, 0x500000}, 0x1000));
  ring_.doorbell();
  bench_.run_until_quiescent();
  EXPECT_EQ(ring_.record().sequence(), 0U);
  EXPECT_EQ(ring_.record().reason(), FaultReason::bus_write);
  EXPECT_EQ(ring_.head(), 1U);
}

}  // namespace
}  // namespace datum::rtl_bench
