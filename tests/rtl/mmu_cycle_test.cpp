// The MMU alone: how long answers take, to the cycle, and what it keeps: what makes it slower shows here,
// though every answer is right.
#include <gtest/gtest.h>

#include "tests/rtl/mmu_bench.hpp"

namespace datum::rtl_test {
namespace {

constexpr std::uint64_t first_page = 0x6000'0000'0000;

std::uint64_t small_page(unsigned number) { return first_page + number * 0x1000ULL; }

void map_pages(MmuBench& bench, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    bench.tables.map(small_page(i), PageTables::leaf(0x1000ULL * (i + 1), false, true));
  }
}

TEST(MmuCycles, given_one_question_at_a_time_when_answered_then_it_takes_as_long_as_known) {
  MmuBench bench;
  map_pages(bench, 64);
  bench.tables.map(first_page + (1ULL << 30U), PageTables::leaf(0x60'0000, false, true), 1);
  bench.tables.map(first_page + (1ULL << 39U), PageTables::leaf(0x8000'0000, true, true), 2);
  EXPECT_EQ(bench.translate(small_page(0)).cycles, 85U) << "four levels";
  EXPECT_EQ(bench.translate(small_page(0)).cycles, 2U) << "the port knows it";
  EXPECT_EQ(bench.translate(small_page(0), false, 1).cycles, 3U) << "the shared TLB knows it";
  EXPECT_EQ(bench.translate(small_page(1)).cycles, 10U) << "its line is known";
  EXPECT_EQ(bench.translate(small_page(31)).cycles, 10U) << "so is the last one of its group";
  EXPECT_EQ(bench.translate(small_page(32)).cycles, 31U) << "the next group has to be read";
  EXPECT_EQ(bench.translate(first_page + (1ULL << 30U)).cycles, 27U) << "a large page";
  EXPECT_EQ(bench.translate(first_page + (1ULL << 39U)).cycles, 26U) << "a huge page";
  EXPECT_EQ(bench.translate(small_page(100)).cycles, 31U) << "not present";
  EXPECT_EQ(bench.translate(small_page(0), false, 0, 9).cycles, 6U) << "no root";
}

TEST(MmuCycles, given_all_ports_when_they_ask_at_once_then_all_answers_take_as_long_as_known) {
  MmuBench bench;
  map_pages(bench, 256);
  const auto cycles = [&](unsigned stride) {
    for (unsigned p = 0; p < ports; ++p) {
      for (unsigned i = 0; i < 6; ++i) {
        bench.ask(p, small_page((p * stride + i * 7) % 256), i % 2 == 0);
      }
    }
    std::uint64_t sum = 0;
    for (unsigned p = 0; p < ports; ++p) {
      const auto& answers = bench.answers(p);
      for (auto answer = answers.end() - 6; answer != answers.end(); ++answer) {
        EXPECT_EQ(answer->reason, FaultReason::none);
        sum += answer->cycles;
      }
    }
    return sum;
  };
  EXPECT_LE(cycles(29), 5175U) << "walks";
  EXPECT_LE(cycles(29), 468U) << "known pages";
  EXPECT_LE(cycles(1), 1586U) << "shared pages";
}

TEST(MmuCycles, given_pages_in_every_set_when_asked_twice_then_as_many_are_kept_as_there_is_room_for) {
  MmuBench bench;
  map_pages(bench, 128);
  for (unsigned large = 0; large < 32; ++large) {
    bench.tables.map(0x1000'0000'0000 + (std::uint64_t{large} << 21U),
                     PageTables::leaf(std::uint64_t{large} << 21U, true, true), 1);
  }
  for (unsigned huge = 0; huge < 8; ++huge) {
    bench.tables.map(0x2000'0000'0000 + (std::uint64_t{huge} << 30U),
                     PageTables::leaf(std::uint64_t{huge} << 30U, true, true), 2);
  }
  std::uint64_t walks = 0;
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned i = 0; i < 128; ++i) {
      EXPECT_EQ(bench.translate(small_page(i)).frame, i + 1);
    }
    for (unsigned large = 0; large < 32; ++large) {
      EXPECT_EQ(bench.translate(0x1000'0000'0000 + (std::uint64_t{large} << 21U)).frame,
                std::uint64_t{large} << 9U);
    }
    for (unsigned huge = 0; huge < 8; ++huge) {
      EXPECT_EQ(bench.translate(0x2000'0000'0000 + (std::uint64_t{huge} << 30U)).frame,
                std::uint64_t{huge} << 18U);
    }
    walks = round == 0 ? bench.walks : walks;
  }
  EXPECT_EQ(walks, 128U + 32U + 8U);
  EXPECT_EQ(bench.walks, walks) << "32, 8 and 2 sets of four ways hold them all";
}

TEST(MmuCycles, given_lines_of_tables_when_walked_in_turn_then_the_ones_used_last_are_kept) {
  MmuBench bench;
  // Tables far apart, so that each page has lines of its own; more pages than the TLB keeps.
  constexpr unsigned tables = 40;
  for (unsigned i = 0; i < tables; ++i) {
    for (unsigned j = 0; j < 8; ++j) {
      bench.tables.map(first_page + (std::uint64_t{i} << 21U) + small_page(j) - first_page,
                       PageTables::leaf(0x1000ULL * (8 * i + j + 1), false, true));
    }
  }
  for (unsigned j = 0; j < 8; ++j) {
    for (unsigned i = 0; i < tables; ++i) {
      EXPECT_EQ(bench.translate(first_page + (std::uint64_t{i} << 21U) + small_page(j) - first_page).frame,
                8 * i + j + 1);
    }
  }
  EXPECT_LE(bench.table_reads, 215U);
}

TEST(MmuCycles, given_an_idle_mmu_when_invalidated_then_it_takes_as_long_as_known) {
  MmuBench bench;
  bench.start_invalidation(true, false, 0, 0, 0);
  unsigned cycles = 0;
  for (; bench.invalidating() && cycles < 1000; ++cycles) {
    bench.cycle();
  }
  EXPECT_EQ(cycles, 34U);
}

}  // namespace
}  // namespace datum::rtl_test
