// Appending and executing take no memory once they have been done before.
#include "tests/support/allocations.hpp"
#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

class AllocationTest : public ModelBench {};

TEST_F(AllocationTest, given_a_list_that_was_recorded_before_when_recorded_anew_then_appends_take_no_memory) {
  Owned<EventPool> events = pool(2);
  Owned<Event> gate = event(*events, 0);
  Owned<Event> done = event(*events, 1);
  void* to = device_memory(4096);
  void* from = host_memory(4096);
  Owned<CommandList> recorded = list();
  Event* waits[] = {gate.get()};
  const auto record = [&] {
    for (int command = 0; command < 500; ++command) {
      ASSERT_TRUE(recorded->append(copy(to, from, 64), done.get(), waits).ok());
      ASSERT_TRUE(recorded->append(fill(to, 64, 1), nullptr, {}).ok());
    }
    ASSERT_TRUE(recorded->reset().ok());
  };
  record();
  EXPECT_EQ(count_allocations(record), 0U);
}

TEST_F(AllocationTest,
       given_an_immediate_list_in_use_when_appended_to_and_waited_for_then_no_memory_is_taken) {
  Owned<EventPool> events = pool(1);
  Owned<Event> done = event(*events);
  void* to = device_memory(4096);
  void* from = host_memory(4096);
  Owned<CommandList> now = immediate();
  const auto work = [&] {
    for (int command = 0; command < 50; ++command) {
      ASSERT_TRUE(now->append(copy(to, from, 64), done.get(), {}).ok());
      ASSERT_TRUE(done->synchronize(patience_ns).ok());
      ASSERT_TRUE(done->host_reset().ok());
    }
    ASSERT_TRUE(now->synchronize(patience_ns).ok());
  };
  work();
  const unsigned taken = count_allocations(work);
  EXPECT_LE(taken, 0U) << "allocations in 50 appends and waits";
}

TEST_F(AllocationTest,
       given_a_list_in_use_when_recorded_executed_waited_for_and_reset_then_no_memory_is_taken) {
  void* to = device_memory(4096);
  void* from = host_memory(4096);
  Owned<CommandQueue> on = queue();
  Owned<Fence> fence(*Fence::create(*on, false));
  Owned<CommandList> recorded = list();
  const auto work = [&] {
    for (int round = 0; round < 50; ++round) {
      ASSERT_TRUE(recorded->append(copy(to, from, 64), nullptr, {}).ok());
      ASSERT_TRUE(recorded->close().ok());
      ASSERT_TRUE(run(*on, *recorded, fence.get()).ok());
      ASSERT_TRUE(on->synchronize(patience_ns).ok());
      ASSERT_TRUE(fence->synchronize(patience_ns).ok());
      ASSERT_TRUE(succeeded(fence->reset()));
      ASSERT_TRUE(recorded->reset().ok());
    }
  };
  work();
  EXPECT_EQ(count_allocations(work), 0U);
}

}  // namespace
}  // namespace datum::test
