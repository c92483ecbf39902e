// Work that the board refuses, and a board that goes away.
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

class FailureTest : public ModelBench {
 protected:
  void SetUp() override {
    ModelBench::SetUp();
    read_only_ = context().allocate_host(4096, 0, true).value();
    source_ = device_memory(4096);
  }

  CopyCommand forbidden() { return copy(read_only_, source_, 4096); }

  void* read_only_ = nullptr;
  void* source_ = nullptr;
};

TEST_F(FailureTest,
       given_a_refused_copy_when_its_list_is_waited_for_then_the_sentence_tells_command_address_and_reason) {
  Owned<CommandList> now = immediate();
  ASSERT_TRUE(succeeded(now->append(forbidden(), nullptr, {})));
  Status ended = now->synchronize(patience_ns);
  EXPECT_EQ(code(ended), ErrorCode::unknown);
  EXPECT_NE(ended.error().message.find("copy of 4096 bytes"), std::string::npos) << ended.error().message;
  EXPECT_NE(ended.error().message.find("read-only"), std::string::npos) << ended.error().message;
  EXPECT_NE(ended.error().message.find(fmt::format("{:#x}", reinterpret_cast<std::uintptr_t>(read_only_))),
            std::string::npos)
      << ended.error().message;
}

TEST_F(FailureTest, given_a_refused_copy_when_anything_behind_it_is_waited_for_then_all_ends_with_unknown) {
  Owned<EventPool> events = pool(3);
  Owned<Event> before = event(*events, 0);
  Owned<Event> own = event(*events, 1);
  Owned<Event> behind = event(*events, 2);
  Owned<CommandQueue> on = queue();
  Owned<Fence> fence(*Fence::create(*on, false));
  Owned<CommandList> recorded = list(true);
  ASSERT_TRUE(succeeded(recorded->append(fill(source_, 4096, 1), before.get(), {})));
  ASSERT_TRUE(succeeded(recorded->append(forbidden(), own.get(), {})));
  ASSERT_TRUE(succeeded(recorded->append(fill(source_, 4096, 2), behind.get(), {})));
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(run(*on, *recorded, fence.get())));
  EXPECT_EQ(code(fence->synchronize(patience_ns)), ErrorCode::unknown);
  EXPECT_EQ(code(on->synchronize(patience_ns)), ErrorCode::unknown);
  EXPECT_EQ(code(own->synchronize(patience_ns)), ErrorCode::unknown);
  EXPECT_EQ(code(behind->query()), ErrorCode::unknown);
  EXPECT_TRUE(succeeded(before->query())) << "what came before had been done";
  EXPECT_EQ(code(run(*on, *recorded)), ErrorCode::unknown) << "the queue takes no more work";
  EXPECT_TRUE(succeeded(device().board().health()));
  EXPECT_EQ(read_back(source_, 1).front(), 1) << "what came behind was not done";
}

TEST_F(FailureTest, given_a_refused_copy_when_an_event_is_polled_then_it_does_not_stay_unsignalled_for_ever) {
  Owned<EventPool> events = pool(1);
  Owned<Event> own = event(*events);
  Owned<CommandList> now = immediate();
  ASSERT_TRUE(succeeded(now->append(forbidden(), own.get(), {})));
  Status seen = own->query();
  for (int look = 0; look < 100'000 && code(seen) == ErrorCode::not_ready; ++look) {
    seen = own->query();
  }
  EXPECT_EQ(code(seen), ErrorCode::unknown);
}

TEST_F(FailureTest,
       given_queues_that_depend_on_refused_work_when_waited_for_then_the_failure_reaches_the_last_of_them) {
  constexpr unsigned count = 80;  // more than rings
  Owned<EventPool> events = pool(count + 2);
  std::vector<Owned<Event>> signals;
  std::vector<Owned<CommandList>> lists;
  for (unsigned index = 0; index < count + 1; ++index) {
    signals.push_back(event(*events, index));
  }
  Owned<Event> gate = event(*events, count + 1);
  for (unsigned index = count; index-- > 0;) {
    lists.push_back(immediate());
    Event* waits[] = {signals[index].get()};
    ASSERT_TRUE(succeeded(lists.back()->append(BarrierCommand{}, signals[index + 1].get(), waits)));
  }
  Owned<CommandList> first = immediate();
  Event* gated[] = {gate.get()};
  ASSERT_TRUE(succeeded(first->append(forbidden(), signals[0].get(), gated)));
  ASSERT_TRUE(succeeded(gate->host_signal()));
  EXPECT_EQ(code(signals[count]->synchronize(patience_ns)), ErrorCode::unknown);
  for (Owned<CommandList>& each : lists) {
    EXPECT_EQ(code(each->synchronize(patience_ns)), ErrorCode::unknown);
  }
  Owned<CommandList> fresh = immediate(true, true);
  EXPECT_TRUE(succeeded(fresh->append(fill(source_, 16, 3), nullptr, {})));
}

TEST_F(FailureTest, given_an_event_with_an_error_when_reset_then_it_can_be_signalled_again) {
  Owned<EventPool> events = pool(1);
  Owned<Event> own = event(*events);
  {
    Owned<CommandList> now = immediate();
    ASSERT_TRUE(succeeded(now->append(forbidden(), own.get(), {})));
    EXPECT_EQ(code(own->synchronize(patience_ns)), ErrorCode::unknown);
  }
  ASSERT_TRUE(succeeded(own->host_reset()));
  EXPECT_EQ(code(own->query()), ErrorCode::not_ready);
  Owned<CommandList> fresh = immediate();
  ASSERT_TRUE(succeeded(fresh->append(fill(source_, 16, 3), own.get(), {})));
  EXPECT_TRUE(succeeded(own->synchronize(patience_ns)));
  EXPECT_TRUE(succeeded(fresh->synchronize(patience_ns)));
}

TEST_F(FailureTest, given_a_synchronous_list_when_its_command_is_refused_then_the_append_tells) {
  Owned<CommandList> now = immediate(true, true);
  EXPECT_EQ(code(now->append(forbidden(), nullptr, {})), ErrorCode::unknown);
}

TEST_F(FailureTest,
       given_a_refused_command_when_the_queue_is_destroyed_then_a_new_one_works_on_the_same_ring) {
  for (int turn = 0; turn < 100; ++turn) {
    {
      Owned<CommandList> now = immediate();
      ASSERT_TRUE(succeeded(now->append(forbidden(), nullptr, {})));
      EXPECT_EQ(code(now->synchronize(patience_ns)), ErrorCode::unknown);
    }
    Owned<CommandList> fresh = immediate(true, true);
    ASSERT_TRUE(succeeded(fresh->append(fill(source_, 16, 3), nullptr, {})));
  }
}

TEST_F(FailureTest, given_a_board_that_is_lost_when_anything_is_waited_for_then_device_lost_is_told) {
  Owned<EventPool> events = pool(2);
  Owned<Event> gate = event(*events, 0);
  Owned<Event> done = event(*events, 1);
  Owned<CommandQueue> on = queue();
  Owned<Fence> fence(*Fence::create(*on, false));
  Owned<CommandList> recorded = list();
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(recorded->append(fill(source_, 4096, 1), done.get(), waits)));
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(run(*on, *recorded, fence.get())));
  std::thread puller([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sim_->lose("pulled out by the test");
  });
  EXPECT_EQ(code(on->synchronize(~0ULL)), ErrorCode::device_lost);
  puller.join();
  EXPECT_EQ(code(done->synchronize(~0ULL)), ErrorCode::device_lost);
  EXPECT_EQ(code(fence->synchronize(~0ULL)), ErrorCode::device_lost);
  EXPECT_EQ(code(done->query()), ErrorCode::device_lost);
  EXPECT_EQ(code(run(*on, *recorded)), ErrorCode::device_lost);
}

}  // namespace
}  // namespace datum::test
