// Events, fences, and many queues that wait for one another.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "driver/command/memory_use.hpp"
#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"
#include "driver/memory/address_space.hpp"
#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

using WaitingTest = ModelBench;

constexpr std::uint64_t ms = 1'000'000;

TEST_F(WaitingTest, given_an_event_when_signalled_queried_and_reset_by_the_host_then_each_answer_follows) {
  Owned<EventPool> events = pool(1);
  Owned<Event> one = event(*events);
  EXPECT_EQ(code(one->query()), ErrorCode::not_ready);
  EXPECT_EQ(code(one->synchronize(0)), ErrorCode::not_ready);
  ASSERT_TRUE(succeeded(one->host_signal()));
  EXPECT_TRUE(succeeded(one->query()));
  EXPECT_TRUE(succeeded(one->synchronize(0)));
  ASSERT_TRUE(succeeded(one->host_reset()));
  EXPECT_EQ(code(one->query()), ErrorCode::not_ready);
}

TEST_F(WaitingTest, given_an_unsignalled_event_when_waited_for_then_the_time_out_is_exact) {
  Owned<EventPool> events = pool(1);
  Owned<Event> one = event(*events);
  const std::uint64_t begun = host_now_ns();
  EXPECT_EQ(code(one->synchronize(30 * ms)), ErrorCode::not_ready);
  EXPECT_GE(host_now_ns() - begun, 30 * ms);
}

TEST_F(WaitingTest, given_a_thread_that_waits_without_limit_when_another_signals_then_it_wakes) {
  Owned<EventPool> events = pool(1);
  Owned<Event> one = event(*events);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(succeeded(one->host_signal()));
  });
  EXPECT_TRUE(succeeded(one->synchronize(~0ULL)));
  other.join();
}

TEST_F(WaitingTest,
       given_work_behind_an_event_when_the_host_resets_and_then_signals_it_then_the_work_is_done) {
  Owned<EventPool> events = pool(1);
  Owned<Event> gate = event(*events);
  auto* target = static_cast<unsigned char*>(host_memory(8));
  Owned<CommandList> now = immediate();
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(now->append(fill(target, 8, 9), nullptr, waits)));
  ASSERT_TRUE(succeeded(gate->host_reset()));
  EXPECT_EQ(code(now->synchronize(5 * ms)), ErrorCode::not_ready);
  ASSERT_TRUE(succeeded(gate->host_signal()));
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
  EXPECT_EQ(target[7], 9);
}

TEST_F(
    WaitingTest,
    given_an_event_that_the_board_waits_for_when_destroyed_then_its_slot_is_kept_until_the_work_has_ended) {
  Owned<EventPool> events = pool(2);
  Owned<CommandList> now = immediate();
  Event* gate = event(*events, 0).release();
  Owned<Event> opener = event(*events, 1);
  // Two steps: the gate is signalled by the board behind a wait for `opener`.
  Event* first[] = {opener.get()};
  ASSERT_TRUE(succeeded(now->append(SynchronizeCommand{}, gate, first)));
  gate->destroy();
  EXPECT_EQ(code(Status(Event::create(*events, 0, 0, 0).error())), ErrorCode::invalid_argument)
      << "the index is in use";
  ASSERT_TRUE(succeeded(opener->host_signal()));
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
  Result<Event*> again = Event::create(*events, 0, 0, 0);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(code((*again)->query()), ErrorCode::not_ready);
  (*again)->destroy();
}

TEST_F(WaitingTest, given_a_pool_with_events_when_destroyed_then_it_is_in_use) {
  Owned<EventPool> events = pool(4);
  {
    Owned<Event> one = event(*events);
    EXPECT_EQ(code(events->destroy()), ErrorCode::handle_object_in_use);
    EXPECT_EQ(code(one->query()), ErrorCode::not_ready);
  }
}

TEST_F(WaitingTest,
       given_a_recorded_event_that_was_destroyed_when_executed_then_the_list_is_refused_and_nothing_is_done) {
  Owned<EventPool> events = pool(1);
  auto* target = static_cast<unsigned char*>(host_memory(8));
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list();
  {
    Owned<Event> one = event(*events);
    ASSERT_TRUE(succeeded(recorded->append(fill(target, 8, 3), one.get(), {})));
  }
  ASSERT_TRUE(succeeded(recorded->close()));
  EXPECT_EQ(code(run(*on, *recorded)), ErrorCode::invalid_synchronization_object);
  EXPECT_TRUE(succeeded(on->synchronize(0)));
  EXPECT_EQ(target[0], 0);
}

TEST_F(WaitingTest, given_fences_when_work_ends_then_they_are_signalled_until_they_are_reset) {
  Owned<EventPool> events = pool(1);
  Owned<Event> gate = event(*events);
  Owned<CommandQueue> on = queue();
  Owned<Fence> fence(*Fence::create(*on, false));
  Owned<Fence> signalled(*Fence::create(*on, true));
  EXPECT_EQ(code(fence->query()), ErrorCode::not_ready);
  EXPECT_TRUE(succeeded(signalled->query()));
  Owned<CommandList> recorded = list();
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(recorded->append(BarrierCommand{}, nullptr, waits)));
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(run(*on, *recorded, fence.get())));
  EXPECT_EQ(code(fence->synchronize(5 * ms)), ErrorCode::not_ready);
  ASSERT_TRUE(succeeded(gate->host_signal()));
  EXPECT_TRUE(succeeded(fence->synchronize(patience_ns)));
  EXPECT_TRUE(succeeded(fence->query()));
  EXPECT_TRUE(succeeded(fence->reset()));
  EXPECT_EQ(code(fence->query()), ErrorCode::not_ready);
}

TEST_F(WaitingTest, given_the_fence_of_another_queue_when_executed_then_it_is_refused) {
  Owned<CommandQueue> on = queue();
  Owned<CommandQueue> other = queue();
  Owned<Fence> fence(*Fence::create(*other, false));
  Owned<CommandList> recorded = list();
  ASSERT_TRUE(succeeded(recorded->close()));
  EXPECT_EQ(code(run(*on, *recorded, fence.get())), ErrorCode::invalid_synchronization_object);
}

TEST_F(WaitingTest, given_an_empty_list_with_a_fence_when_executed_then_the_fence_is_signalled) {
  Owned<CommandQueue> on = queue();
  Owned<Fence> fence(*Fence::create(*on, false));
  Owned<CommandList> recorded = list();
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(run(*on, *recorded, fence.get())));
  EXPECT_TRUE(succeeded(fence->synchronize(patience_ns)));
}

TEST_F(WaitingTest,
       given_copies_with_timestamps_when_done_then_ends_follow_starts_and_commands_follow_one_another) {
  Owned<EventPool> events = pool(2, true);
  Owned<Event> first = event(*events, 0);
  Owned<Event> second = event(*events, 1);
  void* memory = device_memory(1 << 20);
  const std::uint64_t before = device().board().read_timer();
  Owned<CommandList> now = immediate(true);
  ASSERT_TRUE(succeeded(now->append(fill(memory, 1 << 20, 1), first.get(), {})));
  ASSERT_TRUE(succeeded(now->append(fill(memory, 1 << 20, 2), second.get(), {})));
  ASSERT_TRUE(succeeded(second->synchronize(patience_ns)));
  const EventTimes one = first->times().value();
  const EventTimes two = second->times().value();
  EXPECT_LE(before, one.start_ns);
  EXPECT_LE(one.start_ns, one.end_ns);
  EXPECT_LE(one.end_ns, two.start_ns);
  EXPECT_LE(two.start_ns, two.end_ns);
  EXPECT_LE(two.end_ns, device().board().read_timer());
  ASSERT_TRUE(succeeded(first->host_reset()));
  EXPECT_EQ(first->times().error().code, ErrorCode::not_ready);
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
}

/// Queues of which each waits for an event of the next one, submitted so that the last one to come is the
/// first that can run.
class ChainTest : public ModelBench, public ::testing::WithParamInterface<unsigned> {};

TEST_P(ChainTest, given_queues_that_wait_for_the_next_when_submitted_in_the_worst_order_then_all_finish) {
  const unsigned count = GetParam();
  Owned<EventPool> events = pool(count + 1);
  std::vector<Owned<Event>> signals;
  std::vector<Owned<CommandQueue>> queues;
  std::vector<Owned<CommandList>> lists;
  auto* target = static_cast<unsigned char*>(host_memory(count + 1));
  for (unsigned index = 0; index <= count; ++index) {
    signals.push_back(event(*events, index));
  }
  for (unsigned index = 0; index < count; ++index) {
    queues.push_back(queue());
    lists.push_back(list(true));
    Event* waits[] = {signals[index + 1].get()};
    // Copies its neighbour's byte: the byte arrives everywhere only if the order is kept.
    ASSERT_TRUE(succeeded(
        lists.back()->append(copy(target + index, target + index + 1, 1), signals[index].get(), waits)));
    ASSERT_TRUE(succeeded(lists.back()->close()));
    ASSERT_TRUE(succeeded(run(*queues.back(), *lists.back())));
  }
  EXPECT_EQ(code(queues.front()->synchronize(5 * ms)), ErrorCode::not_ready);
  target[count] = 0x5a;
  ASSERT_TRUE(succeeded(signals[count]->host_signal()));
  for (Owned<CommandQueue>& each : queues) {
    ASSERT_TRUE(succeeded(each->synchronize(patience_ns)));
  }
  EXPECT_EQ(target[0], 0x5a);
}

INSTANTIATE_TEST_SUITE_P(queues, ChainTest, ::testing::Values(1U, 8U, 56U, 57U, 63U, 64U, 65U, 200U));

TEST_F(WaitingTest,
       given_all_rings_waiting_when_another_queue_has_work_that_depends_on_nothing_then_it_is_done) {
  constexpr unsigned count = 100;
  Owned<EventPool> events = pool(1);
  Owned<Event> gate = event(*events);
  std::vector<Owned<CommandQueue>> queues;
  Owned<CommandList> waiting = list();
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(waiting->append(BarrierCommand{}, nullptr, waits)));
  ASSERT_TRUE(succeeded(waiting->close()));
  for (unsigned index = 0; index < count; ++index) {
    queues.push_back(queue());
    ASSERT_TRUE(succeeded(run(*queues.back(), *waiting)));
  }
  auto* target = static_cast<unsigned char*>(host_memory(8));
  for (unsigned turn = 1; turn <= 20; ++turn) {
    Owned<CommandList> now = immediate();
    ASSERT_TRUE(succeeded(now->append(fill(target, 8, static_cast<unsigned char>(turn)), nullptr, {})));
    ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
    EXPECT_EQ(target[0], turn);
  }
  ASSERT_TRUE(succeeded(gate->host_signal()));
  for (Owned<CommandQueue>& each : queues) {
    EXPECT_TRUE(succeeded(each->synchronize(patience_ns)));
  }
}

TEST_F(WaitingTest, given_no_ring_left_when_one_comes_free_then_the_queue_of_the_highest_priority_gets_it) {
  open("step");  // nothing ends before it is waited for
  constexpr std::uint32_t high = 2;
  constexpr std::uint32_t low = 1;
  constexpr unsigned rings = 63;
  Owned<EventPool> events = pool(rings + 4, true);
  Owned<Event> gate = event(*events, rings + 3);
  Event* waits[] = {gate.get()};
  std::vector<Owned<CommandQueue>> queues;
  std::vector<Owned<Event>> ends;
  auto* target = static_cast<unsigned char*>(host_memory(rings + 3));
  const auto submit = [&](std::uint32_t priority, bool waiting) {
    const auto index = static_cast<std::uint32_t>(queues.size());
    QueueSettings chosen = settings();
    chosen.priority = priority;
    queues.push_back(Owned(*CommandQueue::create(context(), device(), chosen)));
    ends.push_back(event(*events, index));
    Owned<CommandList> recorded = list();
    ASSERT_TRUE(succeeded(recorded->append(fill(target + index, 1, 1), ends.back().get(),
                                           waiting ? std::span<Event* const>(waits) : std::span<Event*>{})));
    ASSERT_TRUE(succeeded(recorded->close()));
    ASSERT_TRUE(succeeded(run(*queues.back(), *recorded)));
  };
  // Work that may park does not get the last rings; work that does not wait fills them.
  for (unsigned index = 0; index < rings; ++index) {
    submit(0, index < rings - rings / 8);
  }
  submit(low, false);
  submit(0, false);
  submit(high, false);
  ASSERT_TRUE(succeeded(gate->host_signal()));
  ASSERT_TRUE(succeeded(device().rings().synchronize(patience_ns)));
  const auto start_of = [&](unsigned index) { return ends[index]->times().value().start_ns; };
  EXPECT_LE(start_of(rings + 2), start_of(rings + 1)) << "high before normal, which was there first";
  EXPECT_LE(start_of(rings + 1), start_of(rings)) << "normal before low";
  EXPECT_LT(start_of(rings + 2), start_of(rings));
}

TEST_F(WaitingTest,
       given_more_queues_than_rings_when_nobody_waits_then_the_host_lets_them_run_one_after_the_other) {
  constexpr unsigned count = 150;
  Owned<EventPool> events = pool(count);
  std::vector<Owned<Event>> signals;
  std::vector<Owned<CommandQueue>> queues;
  auto* target = static_cast<unsigned char*>(host_memory(count));
  for (unsigned index = 0; index < count; ++index) {
    signals.push_back(event(*events, index));
    queues.push_back(queue());
    Owned<CommandList> recorded = list();
    Event* waits[] = {signals[index].get()};
    ASSERT_TRUE(succeeded(recorded->append(fill(target + index, 1, 1), nullptr, waits)));
    ASSERT_TRUE(succeeded(recorded->close()));
    ASSERT_TRUE(succeeded(run(*queues.back(), *recorded)));
  }
  for (unsigned index = count; index-- > 0;) {
    ASSERT_TRUE(succeeded(signals[index]->host_signal()));
  }
  const auto done = [&] {
    unsigned sum = 0;
    for (unsigned index = 0; index < count; ++index) {
      sum += std::atomic_ref(target[index]).load();
    }
    return sum == count;
  };
  for (int look = 0; look < 10'000 && !done(); ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(done());
  EXPECT_TRUE(succeeded(device().rings().synchronize(patience_ns)));
}

TEST_F(WaitingTest, given_work_on_many_queues_when_the_device_is_synchronised_then_all_has_ended) {
  void* memory = device_memory(1 << 20);
  std::vector<Owned<CommandQueue>> queues;
  Owned<CommandList> recorded = list();
  ASSERT_TRUE(succeeded(recorded->append(fill(memory, 1 << 20, 1), nullptr, {})));
  ASSERT_TRUE(succeeded(recorded->close()));
  for (unsigned index = 0; index < 10; ++index) {
    queues.push_back(queue());
    ASSERT_TRUE(succeeded(run(*queues.back(), *recorded)));
  }
  ASSERT_TRUE(succeeded(device().rings().synchronize(patience_ns)));
  for (Owned<CommandQueue>& each : queues) {
    EXPECT_TRUE(succeeded(each->synchronize(0)));
  }
}

/// What another thread lets go of, slowly, as soon as the board has used it.
class SlowToGo {
 public:
  std::shared_ptr<void> make() {
    return {this, [](void* self) { static_cast<SlowToGo*>(self)->go(); }};
  }

  [[nodiscard]] bool going() const noexcept { return going_.load(); }

  [[nodiscard]] bool gone() const noexcept { return gone_.load(); }

 private:
  void go() {
    going_ = true;
    std::this_thread::sleep_for(std::chrono::nanoseconds(3 * limits::record_lag_ns));
    gone_ = true;
  }

  std::atomic<bool> going_{false};
  std::atomic<bool> gone_{false};
};

TEST_F(WaitingTest,
       given_memory_of_ended_work_that_takes_long_to_go_when_its_queue_is_destroyed_then_it_waits) {
  void* memory = device_memory(4096);
  SlowToGo slow;
  Owned<EventPool> events = pool(1);
  Owned<Event> gate = event(*events);
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list();
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(recorded->append(fill(memory, 4096, 1), nullptr, waits)));
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(run(*on, *recorded)));
  device().rings().keep_until_unused(
      {context().space(device()).number(), DeviceVa{reinterpret_cast<std::uintptr_t>(memory)}, 4096},
      slow.make());
  ASSERT_TRUE(succeeded(gate->host_signal()));
  std::thread other([&] {
    while (!slow.going()) {
      device().rings().pump();
    }
  });
  while (!slow.going()) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(succeeded(on.release()->destroy()));
  EXPECT_TRUE(slow.gone());
  other.join();
}

TEST_F(WaitingTest,
       given_a_thread_that_waits_for_a_fence_when_it_is_destroyed_then_the_wait_ends_with_the_work) {
  Owned<EventPool> events = pool(1);
  Owned<Event> gate = event(*events);
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list();
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(recorded->append(fill(device_memory(4096), 4096, 1), nullptr, waits)));
  ASSERT_TRUE(succeeded(recorded->close()));
  Fence* fence = *Fence::create(*on, false);
  ASSERT_TRUE(succeeded(run(*on, *recorded, fence)));
  std::atomic<bool> waiting{false};
  Status waited = make_error(ErrorCode::unknown, "nobody has waited");
  std::thread other([&] {
    waiting = true;
    waited = fence->synchronize(patience_ns);
  });
  while (!waiting) {
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  fence->destroy();
  ASSERT_TRUE(succeeded(gate->host_signal()));
  other.join();
  EXPECT_TRUE(succeeded(waited));
}

TEST_F(WaitingTest, given_threads_with_lists_of_their_own_when_all_copy_at_once_then_every_byte_is_right) {
  constexpr unsigned threads = 4;
  std::vector<std::thread> all;
  std::atomic<unsigned> right{0};
  for (unsigned thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      Owned<CommandList> now = immediate(true);
      void* memory = device_memory(20'000);
      for (unsigned turn = 0; turn < 30; ++turn) {
        const Bytes bytes = pattern(20'000, thread * 100 + turn);
        Bytes back(bytes.size());
        EXPECT_TRUE(succeeded(now->append(copy(memory, bytes.data(), bytes.size()), nullptr, {})));
        EXPECT_TRUE(succeeded(now->append(copy(back.data(), memory, bytes.size()), nullptr, {})));
        EXPECT_TRUE(succeeded(now->synchronize(patience_ns)));
        right += back == bytes ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : all) {
    thread.join();
  }
  EXPECT_EQ(right, threads * 30);
}

}  // namespace
}  // namespace datum::test
