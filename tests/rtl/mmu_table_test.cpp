// The MMU alone: what it believes of tables that fail, change, or are shared, and what is under way when it
// forgets.
#include <gtest/gtest.h>

#include "tests/rtl/mmu_bench.hpp"

namespace datum::rtl_test {
namespace {

using hw::FaultReason;

// Its entry is the first one of a group of four lines, which are read at once.
constexpr std::uint64_t first_of_group = 0x6000'0000'0000;
constexpr std::uint64_t line_of_pages = 8 * 0x1000;

TEST(MmuTables, given_a_group_of_lines_when_one_cannot_be_read_then_only_its_pages_are_refused) {
  for (unsigned failing = 0; failing < 4; ++failing) {
    for (unsigned asked = 0; asked < 4; ++asked) {
      MmuBench bench;
      for (unsigned page = 0; page < 32; ++page) {
        bench.tables.map(first_of_group + page * 0x1000ULL,
                         PageTables::leaf(0x1000ULL * (page + 1), false, true));
      }
      bench.failing_line = bench.tables.entry_address(first_of_group + failing * line_of_pages, 0);
      const auto answer = bench.translate(first_of_group + asked * line_of_pages);
      EXPECT_EQ(answer.reason, asked == failing ? FaultReason::table_read : FaultReason::none)
          << failing << " " << asked;
      bench.failing_line.reset();
      for (unsigned line = 0; line < 4; ++line) {
        const auto again = bench.translate(first_of_group + line * line_of_pages + 0x2000);
        EXPECT_EQ(again.reason, FaultReason::none) << failing << " " << asked << " " << line;
        EXPECT_EQ(again.frame, 8 * line + 3) << "what could not be read was kept";
      }
    }
  }
}

TEST(MmuTables, given_an_entry_that_becomes_valid_at_any_level_when_asked_then_it_is_seen) {
  for (unsigned level = 0; level < 4; ++level) {
    MmuBench bench;
    const auto neighbour = first_of_group + (1ULL << (12U + 9U * level));
    bench.tables.map(first_of_group, PageTables::leaf(0x1000, false, true));
    EXPECT_EQ(bench.translate(first_of_group).frame, 1U);
    bench.tables.map(neighbour, PageTables::leaf(0x2000, false, true));
    const auto answer = bench.translate(neighbour);
    EXPECT_EQ(answer.reason, FaultReason::none) << "level " << level;
    EXPECT_EQ(answer.frame, 2U);
  }
}

TEST(MmuTables, given_spaces_that_share_tables_when_a_page_becomes_valid_then_the_other_space_sees_it) {
  MmuBench bench;
  constexpr std::uint64_t other_root = 0x90'0000;
  const auto entry = bench.tables.entry_address(va, 3);
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  bench.memory.write(other_root + (entry - bench.tables.root()), bench.memory.read(entry, 8));
  bench.set_root(5, other_root);
  EXPECT_EQ(bench.translate(va).frame, 1U);
  bench.tables.map(va + 0x1000, PageTables::leaf(0x2000, false, true));
  // Only the root's line is new: what is known of the others is older than the page.
  const auto answer = bench.translate(va + 0x1000, false, 0, 5);
  EXPECT_EQ(answer.reason, FaultReason::none);
  EXPECT_EQ(answer.frame, 2U);
}

TEST(MmuTables, given_a_refusal_when_a_page_of_the_same_line_is_asked_then_the_line_is_read_again) {
  for (unsigned level = 0; level < 4; ++level) {
    MmuBench bench;
    const auto step = 1ULL << (12U + 9U * level);
    bench.tables.map(first_of_group, PageTables::leaf(0x1000, false, true));
    bench.tables.map(first_of_group + 2 * step, PageTables::leaf(0x2000, false, true));
    EXPECT_EQ(bench.translate(first_of_group).frame, 1U);
    EXPECT_EQ(bench.translate(first_of_group + step).reason, FaultReason::not_present);
    const auto reads = bench.table_reads;
    EXPECT_EQ(bench.translate(first_of_group + 2 * step).frame, 2U);
    EXPECT_EQ(bench.table_reads, reads + 1 + level) << "its line, and each one below, at level " << level;
  }
}

TEST(MmuTables, given_walks_under_way_when_everything_is_invalidated_then_they_end_before_it) {
  MmuBench bench;
  bench.latency_cycles = 100;
  for (unsigned p = 0; p < 4; ++p) {
    bench.tables.map(va + p * 0x1000U, PageTables::leaf(0x1000ULL * (p + 1), false, true));
    bench.ask(p, va + p * 0x1000U, false);
  }
  for (unsigned i = 0; i < 50; ++i) {
    bench.cycle();
  }
  bench.start_invalidation(true, false, 0, 0, 0);
  for (unsigned i = 0; i < 100; ++i) {
    bench.cycle();
  }
  EXPECT_TRUE(bench.invalidating()) << "walks are under way";
  EXPECT_EQ(bench.invalidations, 0U);
  for (unsigned p = 0; p < 4; ++p) {
    EXPECT_EQ(bench.answers(p).back().frame, p + 1);
  }
  for (unsigned i = 0; i < 100; ++i) {
    bench.cycle();
  }
  EXPECT_FALSE(bench.invalidating());
  EXPECT_EQ(bench.invalidations, 1U);
}

TEST(MmuTables,
     given_questions_without_end_when_a_range_is_invalidated_then_the_first_answer_behind_it_is_new) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  EXPECT_EQ(bench.translate(va, false, 2).frame, 1U);
  bench.tables.map(va, PageTables::leaf(0x2000, false, true));
  for (unsigned i = 0; i < 600; ++i) {
    bench.ask(2, va, false);
  }
  bench.start_invalidation(false, false, 0, va, va);
  for (unsigned i = 0; i < 120; ++i) {
    bench.cycle();
  }
  EXPECT_FALSE(bench.invalidating()) << "it does not wait for the questions to end";
  bench.ask(2, va, false);
  EXPECT_EQ(bench.answers(2).back().frame, 2U);
}

TEST(MmuTables, given_a_table_that_could_not_be_read_when_another_one_is_new_then_the_next_walk_sees_it) {
  MmuBench bench;
  bench.tables.map(first_of_group, PageTables::leaf(0x1000, false, true));
  EXPECT_EQ(bench.translate(first_of_group).frame, 1U);
  bench.fail_reads = true;
  EXPECT_EQ(bench.translate(first_of_group + 4 * line_of_pages).reason, FaultReason::table_read);
  bench.fail_reads = false;
  const auto neighbour = first_of_group + (1ULL << 39U);
  bench.tables.map(neighbour, PageTables::leaf(0x2000, false, true));
  EXPECT_EQ(bench.translate(neighbour).frame, 2U);
}

TEST(MmuTables, given_a_root_above_4_gib_when_read_then_both_halves_stay_as_they_were_written) {
  MmuBench bench;
  bench.set_root(9, 0xa'bcde'f012'3000);
  bench.set_low_half_of_root(8, 0x1234'5001);
  for (unsigned again = 0; again < 2; ++again) {
    EXPECT_EQ(bench.root_word(9, true), 0xa'bcdeU);
    EXPECT_EQ(bench.root_word(9, false), 0xf012'3001U);
  }
}

TEST(MmuTables, given_pages_that_were_used_when_reset_then_all_is_read_anew) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  EXPECT_EQ(bench.translate(va).frame, 1U);
  bench.tables.map(va, PageTables::leaf(0x2000, false, true));
  bench.reset();
  EXPECT_EQ(bench.translate(va).reason, FaultReason::no_root);
  bench.set_root(0, bench.tables.root());
  EXPECT_EQ(bench.translate(va).frame, 2U);
}

TEST(MmuTables, given_a_memory_that_takes_addresses_late_when_walked_then_answers_are_right) {
  MmuBench bench;
  bench.slow_addresses = true;
  bench.latency_cycles = 1;
  for (unsigned page = 0; page < 64; ++page) {
    bench.tables.map(first_of_group + page * 0x1000ULL,
                     PageTables::leaf(0x1000ULL * (page + 1), false, true));
    EXPECT_EQ(bench.translate(first_of_group + page * 0x1000ULL, true, page % ports).frame, page + 1);
  }
}

}  // namespace
}  // namespace datum::rtl_test
