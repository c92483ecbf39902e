// Random programs: always the same for a seed, and their result depends on nothing but them.

#include <gtest/gtest.h>

#include "cosim/program.hpp"

namespace datum::cosim {
namespace {

TEST(RandomProgram, of_a_seed_is_always_the_same_one) {
  EXPECT_EQ(describe(make_program(7)), describe(make_program(7)));
  EXPECT_NE(describe(make_program(7)), describe(make_program(8)));
  EXPECT_EQ(initial_memory(make_program(7)), initial_memory(make_program(7)));
}

TEST(RandomProgram, is_ordered_whatever_the_seed) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    EXPECT_TRUE(is_ordered(make_program(seed))) << seed;
  }
}

TEST(RandomProgram, that_lost_its_waits_and_barriers_is_not_ordered) {
  unsigned unordered = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Program program = make_program(seed);
    for (Operation& operation : program.operations) {
      operation.waits.clear();
      operation.barrier_before = false;
    }
    unordered += is_ordered(program) ? 0 : 1;
  }
  EXPECT_GT(unordered, 25U);
}

TEST(RandomProgram, cut_short_is_its_own_beginning) {
  const Program whole = make_program(3);
  const Program beginning = make_program(3, 2);
  ASSERT_EQ(beginning.operations.size(), 2U);
  EXPECT_EQ(describe(beginning, 1), describe(whole, 1));
}

TEST(MemoryDifference, is_the_first_byte_that_is_not_as_expected) {
  const Memory expected{{1, 2, 3}, {4, 5}};
  EXPECT_FALSE(first_difference(expected, expected));
  const auto found = first_difference(expected, {{1, 2, 3}, {4, 9}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->spot.buffer, 1U);
  EXPECT_EQ(found->spot.offset, 1U);
  EXPECT_EQ(found->expected, 5U);
  EXPECT_EQ(found->found, 9U);
}

}  // namespace
}  // namespace datum::cosim
