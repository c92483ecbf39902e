// DRAM and on-chip memory through the aperture: addresses, partial writes, order, and how busy the DRAM's bus
// is.
#include <random>

#include <gtest/gtest.h>

#include <datum/hw/registers.hpp>

#include "tests/rtl/board_bench.hpp"

namespace datum::rtl_test {
namespace {

constexpr std::uint64_t fixed_bytes = 8ULL << 20U;
constexpr std::uint64_t window_bytes = 1ULL << 20U;
constexpr unsigned decode_error = 3;

BusWord word(std::uint32_t seed) {
  BusWord result{};
  for (unsigned i = 0; i < result.size(); ++i) {
    result[i] = seed * 0x9e37'79b9U + i;
  }
  return result;
}

class BoardMemory : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(bench_.run_until_quiescent()); }

  void TearDown() override {
    EXPECT_TRUE(bench_.dram.broken_rules().empty()) << bench_.dram.broken_rules().front();
  }

  void finish() {
    ASSERT_TRUE(bench_.run_until([this] { return !bench_.aperture.busy(); }));
  }

  BusAnswer read_word(std::uint64_t address) {
    bench_.aperture.read(address, 1);
    finish();
    return bench_.aperture.beats.back();
  }

  unsigned write_word(std::uint64_t address, const BusWord& data, std::uint64_t strobe = ~std::uint64_t{0}) {
    bench_.aperture.write(address, {data}, strobe);
    finish();
    return bench_.aperture.write_answers.back();
  }

  /// Columns a cycle while the queued bursts run.
  double bus_share() {
    const auto columns = bench_.dram.columns();
    const auto start = bench_.now();
    finish();
    return static_cast<double>(bench_.dram.columns() - columns) / static_cast<double>(bench_.now() - start);
  }

  BoardBench bench_{Straps{.memory_bytes = 64ULL << 20U,
                           .aperture_fixed_bytes = fixed_bytes,
                           .aperture_window_bytes = window_bytes}};
};

TEST_F(BoardMemory,
       given_the_fixed_part_when_written_then_the_dram_has_the_bytes_at_the_same_device_address) {
  EXPECT_EQ(write_word(0x12'3440, word(5)), 0U);
  EXPECT_EQ(bench_.dram_memory.get<BusWord>(0x12'3440), word(5));
  EXPECT_EQ(read_word(0x12'3440).data, word(5));
}

TEST_F(BoardMemory, given_strobes_when_written_then_only_those_bytes_change) {
  write_word(0x1000, word(1));
  write_word(0x1000, word(2), 0x00f0);
  auto expected = word(1);
  expected[1] = word(2)[1];
  EXPECT_EQ(read_word(0x1000).data, expected);
}

TEST_F(BoardMemory, given_the_window_when_it_is_moved_then_it_shows_that_memory) {
  bench_.dram_memory.put(0x300'0040, word(7));
  bench_.write64(hw::window_base, hw::WindowBaseRegister{}.set_address_bytes(0x300'0000).raw);
  EXPECT_EQ(read_word(fixed_bytes + 0x40).data, word(7));
  bench_.write64(hw::window_base, hw::WindowBaseRegister{}.set_address_bytes(0x3'f000).set_ordinal(1).raw);
  EXPECT_EQ(write_word(fixed_bytes + 0xfc0, word(8)), 0U);
  EXPECT_EQ(read_word(fixed_bytes + 0xfc0).data, word(8));
  EXPECT_EQ(bench_.dram_memory.get<BusWord>(0x3'ffc0), BusWord{}) << "ordinal 1 is not the DRAM";
}

TEST_F(BoardMemory,
       given_addresses_that_lead_nowhere_when_accessed_then_they_are_refused_and_the_next_access_works) {
  EXPECT_EQ(read_word(fixed_bytes + window_bytes).response, decode_error);
  EXPECT_EQ(write_word(fixed_bytes + window_bytes, word(1)), decode_error);
  bench_.write64(hw::window_base, hw::WindowBaseRegister{}.set_address_bytes(64ULL << 20U).raw);
  EXPECT_EQ(read_word(fixed_bytes).response, decode_error) << "beyond the DRAM";
  bench_.write64(hw::window_base,
                 hw::WindowBaseRegister{}.set_address_bytes(256ULL << 10U).set_ordinal(1).raw);
  EXPECT_EQ(read_word(fixed_bytes).response, decode_error) << "beyond the on-chip memory";
  bench_.write64(hw::window_base, hw::WindowBaseRegister{}.set_ordinal(2).raw);
  EXPECT_EQ(read_word(fixed_bytes).response, decode_error) << "there is no ordinal 2";
  EXPECT_EQ(write_word(0, word(1)), 0U);
  EXPECT_EQ(read_word(0).data, word(1));
}

TEST_F(BoardMemory, given_random_bursts_when_each_write_is_answered_before_its_read_then_every_read_sees_it) {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 40; ++round) {
    std::vector<std::uint64_t> addresses;
    for (unsigned i = 0; i < 20; ++i) {
      // Few rows of few banks, so that accesses get into each other's way.
      const auto address = std::uint64_t{random() % 8} * 0x8'0000 + std::uint64_t{random() % 4} * 0x1000 +
                           std::uint64_t{i} * 0x80;
      addresses.push_back(address);
      bench_.aperture.write(address, {word(round * 100 + i), word(round * 100 + i + 50)}, ~std::uint64_t{0},
                            i % 16);
    }
    finish();
    bench_.aperture.beats.clear();
    for (const auto address : addresses) {
      bench_.aperture.read(address, 2);
    }
    finish();
    for (unsigned i = 0; i < addresses.size(); ++i) {
      ASSERT_EQ(bench_.aperture.beats[2 * i].data, word(round * 100 + i));
      ASSERT_EQ(bench_.aperture.beats[2 * i + 1].data, word(round * 100 + i + 50));
    }
  }
}

TEST_F(BoardMemory, given_writes_of_one_address_when_many_are_under_way_then_the_last_one_stays) {
  for (std::uint32_t i = 0; i < 50; ++i) {
    bench_.aperture.write(0x4000, {word(i)});
  }
  finish();
  EXPECT_EQ(read_word(0x4000).data, word(49));
}

TEST_F(BoardMemory, given_a_long_stream_when_read_or_written_then_nine_of_ten_cycles_carry_data) {
  constexpr unsigned bursts = 500;
  for (unsigned i = 0; i < bursts; ++i) {
    bench_.aperture.write(std::uint64_t{i} * 1024, std::vector<BusWord>(16, word(i)));
  }
  const auto writing = bus_share();
  for (unsigned i = 0; i < bursts; ++i) {
    bench_.aperture.read(std::uint64_t{i} * 1024, 16);
  }
  const auto reading = bus_share();
  EXPECT_EQ(bench_.aperture.beats.back().data, word(bursts - 1));
  RecordProperty("write_columns_per_cycle", std::to_string(writing));
  RecordProperty("read_columns_per_cycle", std::to_string(reading));
  EXPECT_GT(writing, 0.90);
  EXPECT_GT(reading, 0.90);
}

TEST_F(BoardMemory, given_a_stream_of_reads_and_one_of_writes_when_both_run_then_the_bus_is_still_busy) {
  for (unsigned i = 0; i < 500; ++i) {
    bench_.aperture.write((4ULL << 20U) + std::uint64_t{i} * 1024, std::vector<BusWord>(16, word(i)));
    bench_.aperture.read(std::uint64_t{i} * 1024, 16);
  }
  const auto share = bus_share();
  RecordProperty("columns_per_cycle", std::to_string(share));
  EXPECT_GT(share, 0.84);
}

TEST_F(BoardMemory, given_random_single_words_when_read_then_banks_work_side_by_side) {
  std::mt19937 random(1);
  for (unsigned i = 0; i < 2000; ++i) {
    bench_.aperture.read(std::uint64_t{random() % 0x2'0000} * 64, 1);
  }
  const auto share = bus_share();
  RecordProperty("columns_per_cycle", std::to_string(share));
  EXPECT_GT(share, 0.38);
}

TEST_F(BoardMemory, given_the_on_chip_memory_when_a_stream_runs_then_it_takes_one_access_a_cycle) {
  bench_.write64(hw::window_base, hw::WindowBaseRegister{}.set_ordinal(1).raw);
  const auto start = bench_.now();
  for (unsigned i = 0; i < 200; ++i) {
    bench_.aperture.write(fixed_bytes + std::uint64_t{i} * 1024, std::vector<BusWord>(16, word(i)));
  }
  finish();
  EXPECT_LT(bench_.now() - start, 200U * 16 + 40);
  const auto reading = bench_.now();
  for (unsigned i = 0; i < 200; ++i) {
    bench_.aperture.read(fixed_bytes + std::uint64_t{i} * 1024, 16);
  }
  finish();
  EXPECT_LT(bench_.now() - reading, 200U * 16 + 40);
  EXPECT_EQ(bench_.aperture.beats.front().data, word(0));
  EXPECT_EQ(bench_.aperture.beats.back().data, word(199));
}

}  // namespace
}  // namespace datum::rtl_test
