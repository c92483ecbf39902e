// Error correction in the DRAM controller, with bits turned in the device's cells.
#include <random>

#include <gtest/gtest.h>

#include <datum/hw/registers.hpp>

#include "tests/rtl/board_bench.hpp"

namespace datum::rtl_test {
namespace {

constexpr unsigned lanes = 8;
constexpr unsigned code_bits = 72;
constexpr unsigned memory_error = 2;

class BoardEcc : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(bench_.run_until_quiescent()); }

  void TearDown() override {
    EXPECT_TRUE(bench_.dram.broken_rules().empty()) << bench_.dram.broken_rules().front();
  }

  /// Until all accesses are answered, and what they left to do is done.
  void settle() {
    ASSERT_TRUE(bench_.run_until([this] { return !bench_.aperture.busy(); }));
    ASSERT_TRUE(bench_.run_until_quiescent());
  }

  BusAnswer read(std::uint64_t address) {
    bench_.aperture.read(address, 1);
    EXPECT_TRUE(bench_.run_until([this] { return !bench_.aperture.busy(); }));
    return bench_.aperture.beats.back();
  }

  std::uint64_t read_cycles(std::uint64_t address) {
    const auto start = bench_.now();
    read(address);
    return bench_.now() - start;
  }

  void turn(std::uint64_t word, unsigned bit) {
    bench_.dram.turn_bits(word, bit < 64 ? 1ULL << bit : 0,
                          bit < 64 ? std::uint8_t{0} : static_cast<std::uint8_t>(1U << (bit - 64)));
  }

  std::uint64_t corrected() { return bench_.read64(hw::ecc_corrected_count); }

  BoardBench bench_{Straps{.memory_bytes = 64ULL << 20U,
                           .aperture_fixed_bytes = 8ULL << 20U,
                           .aperture_window_bytes = 1ULL << 20U}};
};

BusWord random_word(std::mt19937& random) {
  BusWord word{};
  for (auto& part : word) {
    part = static_cast<std::uint32_t>(random());
  }
  return word;
}

void merge(BusWord& into, const BusWord& from, std::uint64_t strobe) {
  auto* to = reinterpret_cast<std::byte*>(into.data());
  const auto* bytes = reinterpret_cast<const std::byte*>(from.data());
  for (unsigned byte = 0; byte < sizeof(BusWord); ++byte) {
    if (((strobe >> byte) & 1U) != 0) {
      to[byte] = bytes[byte];
    }
  }
}

TEST_F(BoardEcc, given_writes_of_any_bytes_when_bits_turn_meanwhile_then_every_read_is_right) {
  std::mt19937 random(7);
  constexpr unsigned columns = 12;
  // Few columns in few banks, so that merges, repairs and writes of one column meet.
  const auto address_of = [](unsigned column) { return (column % 3) * 0x2'0000ULL + (column / 3) * 0x40ULL; };
  std::array<BusWord, columns> expected{};
  for (unsigned round = 0; round < 150; ++round) {
    for (unsigned access = 0; access < 8; ++access) {
      const auto column = static_cast<unsigned>(random() % columns);
      const auto data = random_word(random);
      const std::uint64_t any = (std::uint64_t{random()} << 32U) | random();
      const auto strobe = access % 3 == 0 ? any : access % 3 == 1 ? any & (any << 3U) : ~std::uint64_t{0};
      merge(expected.at(column), data, strobe);
      bench_.aperture.write(address_of(column), {data}, strobe);
    }
    if (round % 2 == 0) {
      settle();
    }
    const auto turned = static_cast<unsigned>(random() % columns);
    turn(address_of(turned) + 8 * (random() % lanes), static_cast<unsigned>(random() % code_bits));
    bench_.aperture.beats.clear();
    ASSERT_TRUE(bench_.run_until([this] { return !bench_.aperture.busy(); }));
    for (unsigned column = 0; column < columns; ++column) {
      bench_.aperture.read(address_of(column), 1);
    }
    ASSERT_TRUE(bench_.run_until([this] { return !bench_.aperture.busy(); }));
    for (unsigned column = 0; column < columns; ++column) {
      ASSERT_EQ(bench_.aperture.beats.at(column).data, expected.at(column)) << round << " " << column;
      ASSERT_EQ(bench_.aperture.beats.at(column).response, 0U);
    }
  }
  settle();
  EXPECT_GT(corrected(), 100U);
  EXPECT_EQ(bench_.read64(hw::ecc_uncorrected_count), 0U);
}

TEST_F(BoardEcc,
       given_a_wrong_bit_in_every_word_of_a_column_when_read_then_all_are_corrected_and_written_back) {
  std::mt19937 random(8);
  const auto data = random_word(random);
  bench_.aperture.write(0x1000, {data});
  settle();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    turn(0x1000 + 8 * lane, 9 * lane);
  }
  EXPECT_EQ(read(0x1000).data, data);
  settle();
  EXPECT_EQ(corrected(), 8U);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    EXPECT_TRUE(bench_.dram.is_right(0x1000 + 8 * lane)) << lane;
  }
}

TEST_F(BoardEcc, given_a_burst_over_a_lost_word_when_read_then_that_beat_alone_is_answered_with_an_error) {
  bench_.dram.turn_bits(0x10c8, 3, 0);
  bench_.aperture.beats.clear();
  bench_.aperture.read(0x1000, 16);
  settle();
  for (unsigned beat = 0; beat < 16; ++beat) {
    EXPECT_EQ(bench_.aperture.beats.at(beat).response, beat == 3 ? memory_error : 0U) << beat;
  }
}

TEST_F(BoardEcc, given_an_error_when_corrected_then_the_read_takes_no_longer) {
  read(0x1000);  // opens the row
  settle();
  const auto right = read_cycles(0x1000);
  turn(0x1000, 17);
  EXPECT_EQ(read_cycles(0x1000), right);
  RecordProperty("aperture_read_cycles_row_hit", std::to_string(right));
}

TEST_F(BoardEcc, given_a_stream_of_writes_of_parts_of_words_when_they_wait_for_reads_then_many_wait_at_once) {
  constexpr unsigned writes = 400;
  const auto start = bench_.now();
  for (unsigned i = 0; i < writes; ++i) {
    bench_.aperture.write(std::uint64_t{i} * 64, {BusWord{i}}, 0x0f);
  }
  ASSERT_TRUE(bench_.run_until([this] { return !bench_.aperture.busy(); }));
  const auto cycles = static_cast<double>(bench_.now() - start) / writes;
  RecordProperty("cycles_per_partial_write", std::to_string(cycles));
  EXPECT_LT(cycles, 8) << "one after the other each takes some thirty";
}

}  // namespace
}  // namespace datum::rtl_test
