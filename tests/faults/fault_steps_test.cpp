// Of each call of the API each step fails in turn: an allocation, a system call, a call of the board's
// function. The call answers with an error of the named kind, leaves nothing behind, and succeeds when it is
// made again.
#include <chrono>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/faults/calls.hpp"
#include "tests/faults/steps.hpp"
#include "tests/faults/world.hpp"

namespace datum::test {
namespace {

/// A call that takes longer on the busiest machine waits for something that never comes.
constexpr std::chrono::seconds bound{30};
constexpr unsigned most_steps = 2000;

class FaultSteps : public ::testing::TestWithParam<Call> {
 protected:
  /// Where the kernel does not make a range inaccessible again, the range is lost with what is mapped there.
  [[nodiscard]] static bool gives_addresses_back() {
    const std::string_view name = GetParam().name;
    return name.starts_with("zeMemFree") || name.starts_with("zeVirtualMemFree");
  }

  void attempt(World& world, StepKind kind, unsigned number, bool& fired) {
    const Call& call = GetParam();
    if (call.prepare != nullptr) {
      call.prepare(world);
    }
    ze_result_t code = ZE_RESULT_SUCCESS;
    const auto begin = std::chrono::steady_clock::now();
    fired = fail_step(*world.faults, kind, number, [&] { code = call.call(world); });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, bound);
    if (code != ZE_RESULT_SUCCESS) {
      EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, code) << std::hex << static_cast<unsigned>(code);
      must(world, call.call(world), "the same call made again");
    }
    if (call.undo != nullptr) {
      call.undo(world);
    }
  }
};

TEST_P(FaultSteps, given_each_step_failing_in_turn_then_it_is_refused_leaves_nothing_and_can_be_repeated) {
  World world;
  bool fired = false;
  for (const StepKind kind : step_kinds) {
    attempt(world, kind, 0, fired);  // what is made at first use is there afterwards
    const Footprint before = world.footprint();
    unsigned number = 1;
    for (fired = true; fired; ++number) {
      SCOPED_TRACE(std::string(name_of(kind)) + " step " + std::to_string(number));
      attempt(world, kind, number, fired);
      const Footprint after = world.footprint();
      EXPECT_EQ(before.descriptors, after.descriptors);
      EXPECT_EQ(before.threads, after.threads);
      EXPECT_EQ(before.device_bytes, after.device_bytes);
      EXPECT_EQ(before.handles, after.handles);
      EXPECT_EQ(before.board_bytes, after.board_bytes);
      if (kind != StepKind::mmap || !gives_addresses_back()) {
        EXPECT_EQ(before.file_bytes, after.file_bytes);
      }
      ASSERT_LT(number, most_steps);
      if (HasFailure()) {
        return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, FaultSteps,
                         ::testing::ValuesIn(calls_with_steps().begin(), calls_with_steps().end()),
                         [](const auto& of) { return std::string(of.param.name); });

INSTANTIATE_TEST_SUITE_P(MoreCalls, FaultSteps,
                         ::testing::ValuesIn(more_calls_with_steps().begin(), more_calls_with_steps().end()),
                         [](const auto& of) { return std::string(of.param.name); });

INSTANTIATE_TEST_SUITE_P(Management, FaultSteps,
                         ::testing::ValuesIn(management_calls().begin(), management_calls().end()),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace datum::test
