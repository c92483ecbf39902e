// The decorators of the seam.

#include <gtest/gtest.h>

#include <datum/hw/registers.hpp>

#include "sim/backend.hpp"
#include "tests/fakes/fault_function.hpp"
#include "tests/fakes/trace_function.hpp"

namespace datum::test {
namespace {

std::unique_ptr<board::PcieFunction> model() {
  return std::move(sim::open_simulated("model:step,memory=16M")).value();
}

TEST(FaultFunction, passes_calls_on_until_the_chosen_one_fails_and_then_again) {
  FaultFunction function(model());
  function.fail(FunctionCall::interrupt_fd, 2, make_error(ErrorCode::out_of_host_memory, "no more"));
  EXPECT_TRUE(function.interrupt_fd(0));
  const auto failed = function.interrupt_fd(1);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::out_of_host_memory);
  EXPECT_EQ(failed.error().message, "no more");
  EXPECT_TRUE(function.interrupt_fd(1));
  EXPECT_EQ(function.calls(FunctionCall::interrupt_fd), 3U);
  EXPECT_EQ(function.calls(FunctionCall::health), 0U);
}

TEST(FaultFunction, a_failed_call_does_not_reach_the_board) {
  FaultFunction function(model());
  alignas(4096) static std::array<std::byte, 4096> memory;
  function.fail(FunctionCall::dma_map, 1, make_error(ErrorCode::insufficient_permissions, "no"));
  EXPECT_FALSE(function.dma_map(Iova{0x1000}, memory, board::DmaAccess::read));
  EXPECT_FALSE(function.inner().dma_unmap(Iova{0x1000}, memory.size()));
  EXPECT_TRUE(function.dma_map(Iova{0x1000}, memory, board::DmaAccess::read));
  EXPECT_TRUE(function.dma_unmap(Iova{0x1000}, memory.size()));
}

TEST(FaultFunction, can_fail_for_good_and_be_healed) {
  FaultFunction function(model());
  function.fail(FunctionCall::health, 1, make_error(ErrorCode::device_lost, "gone"), true);
  for (int times = 0; times < 3; ++times) {
    const auto health = function.health();
    ASSERT_FALSE(health);
    EXPECT_EQ(health.error().code, ErrorCode::device_lost);
  }
  function.heal();
  EXPECT_TRUE(function.health());
}

TEST(FaultFunction, knows_every_kind_of_call) {
  FaultFunction function(model());
  for (std::size_t kind = 0; kind < function_call_kinds; ++kind) {
    EXPECT_FALSE(name_of(static_cast<FunctionCall>(kind)).empty());
    function.fail(static_cast<FunctionCall>(kind), 1, make_error(ErrorCode::unknown, "no"));
  }
  EXPECT_FALSE(function.bar(0));
  EXPECT_FALSE(function.dma_map(Iova{0}, {}, board::DmaAccess::read));
  EXPECT_FALSE(function.dma_map_fd(Iova{0}, -1, 0, 0, board::DmaAccess::read));
  EXPECT_FALSE(function.dma_unmap(Iova{0}, 0));
  EXPECT_FALSE(function.interrupt_fd(0));
  EXPECT_FALSE(function.wait(0, -1, 0));
  EXPECT_FALSE(function.reset(board::ResetKind::function));
  EXPECT_FALSE(function.health());
  EXPECT_FALSE(function.export_memory({}, {}));
  EXPECT_FALSE(function.end_export({}));
  EXPECT_TRUE(function.bar(0));
  EXPECT_TRUE(function.wait(0, -1, 0));
}

TEST(TraceFunction, remembers_register_accesses_with_their_values) {
  TraceFunction function(model());
  const auto registers = function.bar(0);
  ASSERT_TRUE(registers);
  (*registers)->write32(hw::park_recheck_ns, 5);
  EXPECT_EQ((*registers)->read32(hw::park_recheck_ns), 5U);
  const auto calls = function.take();
  using Kind = TracedCall::Kind;
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0], (TracedCall{Kind::bar, 0, 0, 0, 0, true, {}}));
  EXPECT_EQ(calls[1], (TracedCall{Kind::write32, 0, hw::park_recheck_ns, 4, 5, true, {}}));
  EXPECT_EQ(calls[2], (TracedCall{Kind::read32, 0, hw::park_recheck_ns, 4, 5, true, {}}));
  EXPECT_TRUE(function.calls().empty());
}

TEST(TraceFunction, remembers_failures_and_gives_the_same_bar_each_time) {
  TraceFunction function(model());
  EXPECT_FALSE(function.bar(1));
  EXPECT_FALSE(function.dma_unmap(Iova{0x5000}, 0x1000));
  EXPECT_EQ(*function.bar(2), *function.bar(2));
  const auto calls = function.calls();
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_FALSE(calls[0].ok);
  EXPECT_EQ(calls[0].error, ErrorCode::not_available);
  EXPECT_EQ(calls[1].address, 0x5000U);
  EXPECT_EQ(calls[1].bytes, 0x1000U);
  EXPECT_EQ(calls[1].error, ErrorCode::invalid_argument);
  EXPECT_TRUE(calls[2].ok);
}

}  // namespace
}  // namespace datum::test
