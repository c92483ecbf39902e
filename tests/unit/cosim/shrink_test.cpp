// The shortest program that still fails.

#include <algorithm>

#include <gtest/gtest.h>

#include "cosim/shrink.hpp"

namespace datum::cosim {
namespace {

bool has_long_fill(const Program& program) {
  return std::any_of(program.operations.begin(), program.operations.end(), [](const Operation& operation) {
    return operation.kind == Kind::fill && operation.bytes > 1000;
  });
}

/// The first seed from `first` on whose program has a long fill, but not at once.
Program failing_program(std::uint64_t first) {
  for (std::uint64_t seed = first;; ++seed) {
    Program program = make_program(seed);
    if (has_long_fill(program) && !has_long_fill(make_program(seed, 4))) {
      return program;
    }
  }
}

TEST(Shrinking, finds_the_shortest_beginning) {
  const Program program = failing_program(1);
  const unsigned count = shortest_beginning(program, has_long_fill);
  EXPECT_TRUE(has_long_fill(make_program(program.seed, count)));
  EXPECT_FALSE(has_long_fill(make_program(program.seed, count - 1)));
}

TEST(Shrinking, leaves_the_one_operation_that_fails_alone) {
  for (const std::uint64_t first : {1U, 100U, 200U}) {
    const Program least = shrink(failing_program(first), has_long_fill);
    ASSERT_EQ(least.operations.size(), 1U) << describe(least);
    const Operation& operation = least.operations.front();
    EXPECT_EQ(operation.kind, Kind::fill);
    EXPECT_TRUE(operation.starts_list);
    EXPECT_FALSE(operation.gated || operation.signals || operation.barrier_before);
    EXPECT_TRUE(operation.waits.empty());
  }
}

TEST(Shrinking, keeps_what_remains_in_order) {
  // Fails as long as two operations that depend on each other are there: the last and one that it waits for.
  const auto waits = [](const Program& program) {
    return std::any_of(program.operations.begin(), program.operations.end(),
                       [](const Operation& operation) { return !operation.waits.empty(); });
  };
  std::uint64_t seed = 1;
  while (!waits(make_program(seed))) {
    ++seed;
  }
  const Program least = shrink(make_program(seed), waits);
  EXPECT_EQ(least.operations.size(), 2U) << describe(least);
  EXPECT_TRUE(is_ordered(least));
  EXPECT_TRUE(least.operations.front().signals);
  EXPECT_EQ(least.operations.back().waits, std::vector<unsigned>{0});
}

}  // namespace
}  // namespace datum::cosim
