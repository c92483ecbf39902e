// The MMU alone: what it keeps and counts under questions at random, and its roots.
#include <gtest/gtest.h>

#include "tests/rtl/mmu_bench.hpp"

namespace datum::rtl_test {
namespace {

using hw::FaultReason;

TEST(Mmu, given_half_a_root_when_read_and_walked_then_the_other_half_is_zero) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  EXPECT_EQ(bench.root_word(9, false), 0U);
  EXPECT_EQ(bench.root_word(9, true), 0U);
  const auto low = static_cast<std::uint32_t>(
      hw::SpaceRootRegister{}.set_valid(true).set_address_bytes(bench.tables.root()).raw);
  bench.set_low_half_of_root(9, low);
  EXPECT_EQ(bench.root_word(9, false), low);
  EXPECT_EQ(bench.root_word(9, true), 0U);
  EXPECT_EQ(bench.translate(va, false, 0, 9).frame, 1U);
}

TEST(Mmu,
     given_questions_when_they_are_answered_then_each_was_a_hit_or_a_walk_and_meanwhile_it_was_not_idle) {
  MmuBench bench;
  for (unsigned page = 0; page < 8; ++page) {
    bench.tables.map(va + page * 0x1000U, PageTables::leaf(0x1000U * (page + 1), false, true));
  }
  EXPECT_TRUE(bench.idle());
  for (unsigned i = 0; i < 40; ++i) {
    bench.ask(i % 4, va + (i * 5 % 8) * 0x1000U, false);
  }
  bench.cycle();
  bench.cycle();
  EXPECT_FALSE(bench.idle());
  bench.answers(0);
  bench.cycle();
  bench.cycle();
  EXPECT_TRUE(bench.idle());
  EXPECT_EQ(bench.hits + bench.walks, 40U);
  EXPECT_GE(bench.walks, 8U);
}

TEST(Mmu, given_more_pages_than_can_be_kept_when_asked_at_random_then_each_answer_is_right) {
  MmuBench bench;
  PageTables other{bench.memory, 0x80'0000, 1ULL << 20U};
  bench.set_root(7, other.root());
  constexpr unsigned pages = 3000;
  const auto address = [](unsigned page) { return va + page % 8 * 0x4020'0000ULL + page / 8 * 0x1000ULL; };
  for (unsigned page = 0; page < pages; ++page) {
    bench.tables.map(address(page), PageTables::leaf(0x1000ULL * (page + 1), false, page % 3 != 0));
    other.map(address(page), PageTables::leaf(0x1000ULL * (page + 10'001), false, page % 5 != 0));
  }
  std::uint64_t random = 1;
  for (unsigned i = 0; i < 6000; ++i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const unsigned page = static_cast<unsigned>(random >> 33U) % (i % 4 == 0 ? pages : 20);
    const bool second = (random >> 20U) % 2 != 0;
    const bool write = (random >> 21U) % 2 != 0;
    const auto answer = bench.translate(address(page), write, i % ports, second ? 7 : 0);
    if (write && page % (second ? 5U : 3U) == 0) {
      ASSERT_EQ(answer.reason, FaultReason::write_refused) << page;
    } else {
      ASSERT_EQ(answer.reason, FaultReason::none) << page;
      ASSERT_EQ(answer.frame, page + (second ? 10'001U : 1U));
    }
  }
  EXPECT_LT(bench.walks, 4500U) << "what is asked often is kept";
}

}  // namespace
}  // namespace datum::rtl_test
