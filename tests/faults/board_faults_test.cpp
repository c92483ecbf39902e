// What a board's function refuses once: to forget memory, to say that it is well, to be reset. Each call ends
// with an error of the named kind in bounded time, and the board works again after a reset at the latest.
#include <chrono>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "tests/faults/calls.hpp"
#include "tests/faults/world.hpp"

namespace datum::test {
namespace {

constexpr std::chrono::seconds longest_call{30};

Error refusal() { return make_error(ErrorCode::unknown, "the test lets the call fail"); }

Device& board_of(World& world) { return *world.driver->object().devices().front(); }

/// What the board can do: memory goes there and back.
void expect_to_work(World& world) {
  auto* const from = static_cast<unsigned char*>(world.on_host);
  std::memset(from, 0x3c, World::bytes);
  must(world,
       world.api.list.pfnAppendMemoryCopy(world.immediate, world.on_device, from, World::bytes, nullptr, 0,
                                          nullptr),
       "a copy to the board");
  std::memset(world.ordinary, 0, World::bytes);
  must(world,
       world.api.list.pfnAppendMemoryCopy(world.immediate, world.ordinary, world.on_device, World::bytes,
                                          nullptr, 0, nullptr),
       "a copy from the board");
  EXPECT_EQ(0, std::memcmp(from, world.ordinary, World::bytes));
}

class RefusedUnmapping : public ::testing::TestWithParam<Call> {};

TEST_P(RefusedUnmapping,
       given_memory_that_the_function_does_not_forget_then_its_addresses_are_not_used_again) {
  const Call& call = GetParam();
  World world;
  for (unsigned number = 1; number <= 3; ++number) {
    world.faults->fail(FunctionCall::dma_unmap, number, refusal());
    if (call.prepare != nullptr) {
      call.prepare(world);
    }
    const auto begin = std::chrono::steady_clock::now();
    must(world, call.call(world), "a call under which an unmapping is refused");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, longest_call);
    if (call.undo != nullptr) {
      call.undo(world);
    }
    world.faults->heal();
    // Were the addresses handed out again, the function would refuse to map there what is mapped already.
    if (call.prepare != nullptr) {
      call.prepare(world);
    }
    must(world, call.call(world), "the same call made again");
    if (call.undo != nullptr) {
      call.undo(world);
    }
    expect_to_work(world);
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, RefusedUnmapping,
                         ::testing::ValuesIn(calls_with_steps().begin(), calls_with_steps().end()),
                         [](const auto& of) { return std::string(of.param.name); });

class UnhealthyBoard : public ::testing::TestWithParam<Call> {};

TEST_P(UnhealthyBoard, given_a_function_that_says_it_is_lost_then_calls_end_and_after_a_reset_all_works) {
  const Call& call = GetParam();
  {
    World world;
    world.faults->fail(FunctionCall::health, 1, make_error(ErrorCode::device_lost, "the test says so"), true);
    EXPECT_FALSE(board_of(world).board().health().ok());
    if (call.prepare == nullptr) {  // else the preparation itself needs the board
      const auto begin = std::chrono::steady_clock::now();
      const ze_result_t code = call.call(world);
      EXPECT_TRUE(code == ZE_RESULT_SUCCESS || code == ZE_RESULT_ERROR_DEVICE_LOST)
          << std::hex << static_cast<unsigned>(code);
      EXPECT_LT(std::chrono::steady_clock::now() - begin, longest_call);
      if (code == ZE_RESULT_SUCCESS && call.undo != nullptr) {
        call.undo(world);
      }
    }
    world.faults->heal();
    ASSERT_TRUE(board_of(world).reset(true).ok());
    world.make_anew();
    expect_to_work(world);
    bool done = false;
    if (call.prepare != nullptr) {
      call.prepare(world);
    }
    done = call.call(world) == ZE_RESULT_SUCCESS;
    EXPECT_TRUE(done);
    if (call.undo != nullptr) {
      call.undo(world);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, UnhealthyBoard,
                         ::testing::ValuesIn(calls_with_steps().begin(), calls_with_steps().end()),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(RefusedReset, given_a_function_that_refuses_a_reset_then_the_device_is_lost_until_one_succeeds) {
  World world;
  const Footprint before = world.footprint();
  world.faults->fail(FunctionCall::reset, 1, refusal());
  const Status refused = board_of(world).reset(true);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(std::string::npos, refused.error().message.find("the test lets the call fail"));
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST,
            world.api.list.pfnAppendMemoryCopy(world.immediate, world.on_host, world.on_device, World::bytes,
                                               nullptr, 0, nullptr));
  ASSERT_TRUE(board_of(world).reset(true).ok());
  world.make_anew();
  expect_to_work(world);
  const Footprint after = world.footprint();
  EXPECT_EQ(before.descriptors, after.descriptors);
  EXPECT_EQ(before.threads, after.threads);
  EXPECT_EQ(before.handles, after.handles);
}

}  // namespace
}  // namespace datum::test
