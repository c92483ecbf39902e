// The MMU alone: translation, refusals, what its TLBs may keep, invalidation, and how long an answer takes.
#include <gtest/gtest.h>

#include "tests/rtl/mmu_bench.hpp"

namespace datum::rtl_test {
namespace {

using hw::FaultReason;

TEST(Mmu, given_small_pages_when_asked_then_each_gets_its_frame_and_target) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x12'3000, false, true));
  bench.tables.map(va + 0x1000, PageTables::leaf(0x4000, false, false, 1));
  bench.tables.map(va + 0x2000, PageTables::leaf(0x3'ffff'f000, true, false));
  const auto dram = bench.translate(va, true);
  EXPECT_EQ(dram.reason, FaultReason::none);
  EXPECT_EQ(dram.target, Target::dram);
  EXPECT_EQ(dram.frame, 0x123U);
  const auto onchip = bench.translate(va + 0x1000);
  EXPECT_EQ(onchip.target, Target::onchip);
  EXPECT_EQ(onchip.frame, 4U);
  const auto host = bench.translate(va + 0x2000);
  EXPECT_EQ(host.target, Target::host);
  EXPECT_EQ(host.frame, 0x3'ffff'fU);
}

TEST(Mmu, given_large_and_huge_pages_when_asked_inside_then_the_frame_is_that_of_the_small_page) {
  MmuBench bench;
  constexpr std::uint64_t large = 0x4000'0000'0000;
  constexpr std::uint64_t huge = 0x5000'0000'0000;
  bench.tables.map(large, PageTables::leaf(0x60'0000, false, true), 1);
  bench.tables.map(huge, PageTables::leaf(0x8000'0000, true, true), 2);
  const auto in_large = bench.translate(large + 0x12'3000, true);
  EXPECT_EQ(in_large.size, 1U);
  EXPECT_EQ(in_large.frame, 0x723U);
  const auto in_huge = bench.translate(huge + 0x3456'7000, true);
  EXPECT_EQ(in_huge.size, 2U);
  EXPECT_EQ(in_huge.frame, 0xb'4567U);
  EXPECT_EQ(bench.translate(huge + 0x3456'6000).frame, 0xb'4566U);
}

TEST(Mmu, given_broken_entries_when_asked_then_the_reason_says_what_is_wrong) {
  MmuBench bench;
  const auto good = PageTables::leaf(0x1000, false, true);
  EXPECT_EQ(bench.translate(va).reason, FaultReason::not_present);
  bench.tables.map(va, hw::Pte{good}.set_writable(false));
  EXPECT_EQ(bench.translate(va, true).reason, FaultReason::write_refused);
  EXPECT_EQ(bench.translate(va, false).reason, FaultReason::none);

  struct Broken {
    std::uint64_t va;
    hw::Pte entry;
    unsigned level;
  };

  const Broken broken[] = {{0x1000'0000'0000, hw::Pte{good.raw | (1ULL << 9U)}, 0},
                           {0x1000'0000'1000, hw::Pte{good.raw | (1ULL << 63U)}, 0},
                           {0x1000'0000'2000, hw::Pte{good}.set_leaf(false), 0},
                           {0x1000'0000'3000, hw::Pte{good}.set_ordinal(2), 0},
                           {0x2000'0000'0000, PageTables::leaf(0x1000, false, true), 1},
                           {0x3000'0000'0000, PageTables::leaf(0x20'0000, false, true), 2},
                           {0x4000'0000'0000, PageTables::leaf(0, false, true), 3}};
  for (const auto& one : broken) {
    bench.tables.map(one.va, one.entry, one.level);
    EXPECT_EQ(bench.translate(one.va).reason, FaultReason::malformed_entry) << std::hex << one.va;
  }
  EXPECT_EQ(bench.translate(va, false, 0, 5).reason, FaultReason::no_root);
}

TEST(Mmu, given_tables_that_cannot_be_read_when_asked_then_the_reason_is_table_read_and_nothing_is_kept) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  bench.fail_reads = true;
  EXPECT_EQ(bench.translate(va).reason, FaultReason::table_read);
  bench.fail_reads = false;
  EXPECT_EQ(bench.translate(va).reason, FaultReason::none);
}

TEST(Mmu, given_a_refusal_when_the_entry_becomes_valid_then_it_is_seen_without_invalidation) {
  MmuBench bench;
  bench.tables.map(va + 0x1000, PageTables::leaf(0x8000, false, true));
  EXPECT_EQ(bench.translate(va + 0x1000).reason, FaultReason::none);  // its line of the table is known now
  EXPECT_EQ(bench.translate(va).reason, FaultReason::not_present);
  bench.tables.map(va, PageTables::leaf(0x5000, false, false));
  EXPECT_EQ(bench.translate(va).frame, 5U);
  EXPECT_EQ(bench.translate(va, true).reason, FaultReason::write_refused);
  bench.tables.map(va, PageTables::leaf(0x5000, false, true));
  EXPECT_EQ(bench.translate(va, true).reason, FaultReason::none);
}

TEST(Mmu, given_an_invalidated_range_when_asked_again_then_new_entries_are_seen_and_others_stay) {
  MmuBench bench;
  for (unsigned page = 0; page < 4; ++page) {
    bench.tables.map(va + page * 0x1000U, PageTables::leaf(0x1000U * (page + 1), false, true));
    EXPECT_EQ(bench.translate(va + page * 0x1000U, true, page).frame, page + 1);
  }
  for (unsigned page = 0; page < 4; ++page) {
    bench.tables.map(va + page * 0x1000U, PageTables::leaf(0x1000U * (page + 0x101), false, true));
  }
  bench.invalidate(va + 0x1000, 0x2000);
  EXPECT_EQ(bench.invalidations, 1U);
  EXPECT_EQ(bench.translate(va + 0x1000, false, 1).frame, 0x102U);
  EXPECT_EQ(bench.translate(va + 0x2000, false, 2).frame, 0x103U);
  const auto reads = bench.table_reads;
  EXPECT_EQ(bench.translate(va, false, 5).frame, 1U) << "outside the range: still from the TLB";
  EXPECT_EQ(bench.translate(va + 0x3000, false, 6).frame, 4U);
  EXPECT_EQ(bench.table_reads, reads);
  bench.invalidate(0, 0);
  EXPECT_EQ(bench.translate(va, false, 0).frame, 0x101U);
}

TEST(Mmu, given_two_spaces_when_one_is_invalidated_then_the_other_one_is_untouched) {
  MmuBench bench;
  PageTables other{bench.memory, 0x80'0000, 1ULL << 20U};
  bench.set_root(200, other.root());
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  other.map(va, PageTables::leaf(0x2000, false, true));
  EXPECT_EQ(bench.translate(va, false, 0, 0).frame, 1U);
  EXPECT_EQ(bench.translate(va, false, 0, 200).frame, 2U);
  bench.tables.map(va, PageTables::leaf(0x3000, false, true));
  other.map(va, PageTables::leaf(0x4000, false, true));
  bench.invalidate(0, 0, 200);
  EXPECT_EQ(bench.translate(va, false, 1, 0).frame, 1U);
  EXPECT_EQ(bench.translate(va, false, 1, 200).frame, 4U);
}

TEST(Mmu, given_a_large_page_when_a_part_of_it_is_invalidated_then_all_of_it_is_read_again) {
  MmuBench bench;
  constexpr std::uint64_t large = 0x4000'0000'0000;
  bench.tables.map(large, PageTables::leaf(0x60'0000, false, true), 1);
  EXPECT_EQ(bench.translate(large).frame, 0x600U);
  bench.tables.map(large, PageTables::leaf(0xa0'0000, false, true), 1);
  bench.invalidate(large + 0x5000, 0x1000);
  EXPECT_EQ(bench.translate(large + 0x1f'f000).frame, 0xbffU);
}

TEST(Mmu,
     given_a_drain_that_is_not_granted_when_invalidating_then_it_waits_and_questions_are_still_answered) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  bench.grant_drain = false;
  bench.start_invalidation(true, false, 0, 0, 0);
  EXPECT_TRUE(bench.drain_requested());
  EXPECT_EQ(bench.translate(va).frame, 1U);
  for (unsigned i = 0; i < 100; ++i) {
    bench.cycle();
  }
  EXPECT_TRUE(bench.invalidating());
  EXPECT_EQ(bench.invalidations, 0U);
  bench.tables.map(va, PageTables::leaf(0x2000, false, true));
  bench.grant_drain = true;
  for (unsigned i = 0; i < 100; ++i) {
    bench.cycle();
  }
  EXPECT_FALSE(bench.invalidating());
  EXPECT_EQ(bench.translate(va).frame, 2U);
}

TEST(Mmu, given_the_page_of_the_last_answer_when_asked_again_then_answers_come_one_a_cycle) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  bench.translate(va, true, 3);
  for (unsigned i = 0; i < 50; ++i) {
    bench.ask(3, va, true);
  }
  const auto& answers = bench.answers(3);
  ASSERT_EQ(answers.size(), 51U);
  for (unsigned i = 1; i < 51; ++i) {
    EXPECT_EQ(answers[i].cycles, 2U);
  }
}

TEST(Mmu, given_all_ports_when_they_hit_the_shared_tlb_then_no_answer_takes_longer_than_a_turn_of_the_ports) {
  MmuBench bench;
  for (unsigned page = 0; page < 2 * ports; ++page) {
    bench.tables.map(va + page * 0x1000U, PageTables::leaf(0x1000U * (page + 1), false, true));
    bench.translate(va + page * 0x1000U, true, 0);
  }
  for (unsigned p = 0; p < ports; ++p) {
    for (unsigned i = 0; i < 8; ++i) {
      bench.ask(p, va + (2 * p + i % 2) * 0x1000U, false);
    }
  }
  bench.answers(0);
  for (unsigned p = 1; p < ports; ++p) {
    for (const auto& answer : bench.answers(p)) {
      EXPECT_EQ(answer.reason, FaultReason::none);
      EXPECT_LE(answer.cycles, 4 + ports);
    }
  }
}

TEST(Mmu, given_a_stream_of_small_pages_when_walked_then_32_pages_cost_one_table_read) {
  MmuBench bench;
  constexpr unsigned pages = 256;
  for (unsigned page = 0; page < pages; ++page) {
    bench.tables.map(0x6000'0000'0000 + page * 0x1000U, PageTables::leaf(0x1000U * (page + 1), false, true));
  }
  for (unsigned page = 0; page < pages; ++page) {
    bench.ask(0, 0x6000'0000'0000 + page * 0x1000U, false);
  }
  const auto& answers = bench.answers(0);
  std::uint64_t cycles = 0;
  for (unsigned page = 0; page < pages; ++page) {
    EXPECT_EQ(answers[page].frame, page + 1);
    cycles += answers[page].cycles;
  }
  EXPECT_EQ(bench.table_reads, pages / 32 + 3);
  // A page of 4 KiB keeps the data bus busy for 64 cycles.
  EXPECT_LT(cycles / pages, 16U);
}

}  // namespace
}  // namespace datum::rtl_test
