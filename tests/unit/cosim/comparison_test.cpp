// Boards that agree, and one with a bug.

#include <memory>

#include <gtest/gtest.h>

#include "cosim/comparison.hpp"
#include "sim/backend.hpp"
#include "tests/fakes/forwarding_function.hpp"
#include "tests/unit/cosim/spoiling_function.hpp"

namespace datum::cosim {
namespace {

std::unique_ptr<board::PcieFunction> open(const char* address) {
  auto opened = sim::open_simulated(address);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return std::move(opened).value();
}

TEST(Comparison, of_boards_that_agree_finds_nothing) {
  const auto one = open("model:step,memory=16M,channels=1");
  const auto other = open("model:memory=64M");
  board::PcieFunction* const boards[] = {one.get(), other.get()};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto finding = compare(make_program(seed), boards, false);
    EXPECT_FALSE(finding) << describe(*finding);
  }
}

TEST(Comparison, finds_a_bug_and_makes_it_small) {
  const auto good = open("model:step,memory=16M");
  test::SpoilingFunction bad(open("model:step,memory=32M"));
  board::PcieFunction* const boards[] = {good.get(), &bad};
  std::optional<Finding> finding;
  for (std::uint64_t seed = 1; seed <= 200 && !finding; ++seed) {
    finding = compare(make_program(seed), boards, true);
  }
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->board, "model:step,memory=32M");
  ASSERT_EQ(finding->shortest.operations.size(), 1U) << describe(*finding);
  const Operation& operation = finding->shortest.operations.front();
  EXPECT_EQ(operation.kind, Kind::fill);
  EXPECT_GT(operation.bytes, test::long_bytes);
  ASSERT_TRUE(finding->place) << describe(*finding);
  EXPECT_EQ(finding->place->operation, 0U);
  EXPECT_EQ(finding->place->descriptor.opcode(), hw::Opcode::fill);
  EXPECT_EQ(finding->place->difference.found, finding->place->difference.expected | 1U);
  EXPECT_EQ(finding->place->difference.spot.offset, operation.to.offset);
  EXPECT_LT(finding->place->first_cycle, finding->place->last_cycle);
  EXPECT_NE(describe(*finding).find("operation 0 goes wrong"), std::string::npos) << describe(*finding);
}

TEST(Comparison, tells_a_board_that_does_not_answer) {
  class Dead final : public test::ForwardingFunction {
   public:
    using ForwardingFunction::ForwardingFunction;

    Status health() override { return make_error(ErrorCode::device_lost, "gone"); }

    Status reset(board::ResetKind) override { return make_error(ErrorCode::device_lost, "gone for good"); }
  };

  Dead dead(open("model:step,memory=16M"));
  board::PcieFunction* const boards[] = {&dead};
  const auto finding = compare(make_program(1), boards, false);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->failure, "gone for good");
  EXPECT_FALSE(finding->place);
}

}  // namespace
}  // namespace datum::cosim
