// Lists and queues on a board of the golden model: data, order, reuse.
#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

using ExecutionTest = ModelBench;

TEST_F(ExecutionTest,
       given_bytes_in_malloc_memory_when_copied_to_the_device_and_back_then_they_are_the_same) {
  const Bytes bytes = pattern(1'000'003, 1);
  void* memory = device_memory(bytes.size());
  ASSERT_TRUE(succeeded(copy_and_wait(memory, bytes.data(), bytes.size())));
  EXPECT_EQ(read_back(memory, bytes.size()), bytes);
}

TEST_F(ExecutionTest,
       given_a_recorded_copy_when_the_source_changes_before_execution_then_the_new_bytes_are_copied) {
  Bytes source = pattern(5000, 1);
  void* memory = device_memory(source.size());
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list();
  ASSERT_TRUE(succeeded(recorded->append(copy(memory, source.data(), source.size()), nullptr, {})));
  ASSERT_TRUE(succeeded(recorded->close()));
  std::ranges::copy(pattern(5000, 2), source.begin());
  ASSERT_TRUE(succeeded(run(*on, *recorded)));
  ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
  EXPECT_EQ(read_back(memory, source.size()), source);
}

TEST_F(ExecutionTest, given_a_closed_list_when_executed_many_times_then_each_execution_reads_anew) {
  auto* source = static_cast<unsigned char*>(host_memory(64));
  auto* target = static_cast<unsigned char*>(host_memory(64));
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list();
  ASSERT_TRUE(succeeded(recorded->append(copy(target, source, 64), nullptr, {})));
  ASSERT_TRUE(succeeded(recorded->close()));
  for (unsigned turn = 0; turn < 100; ++turn) {
    std::memset(source, static_cast<int>(turn), 64);
    ASSERT_TRUE(succeeded(run(*on, *recorded)));
    ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
    ASSERT_EQ(target[63], turn);
  }
}

TEST_F(ExecutionTest, given_an_open_list_or_an_immediate_one_when_executed_then_it_is_refused) {
  Owned<CommandQueue> on = queue();
  Owned<CommandList> open_list = list();
  Owned<CommandList> now = immediate();
  EXPECT_EQ(code(run(*on, *open_list)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(run(*on, *now)), ErrorCode::invalid_argument);
}

TEST_F(ExecutionTest, given_a_closed_list_when_appended_to_then_it_is_refused_until_it_is_reset) {
  void* memory = device_memory(64);
  Owned<CommandList> recorded = list();
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(recorded->close())) << "closing twice is no error";
  EXPECT_EQ(code(recorded->append(fill(memory, 64, 1), nullptr, {})), ErrorCode::invalid_argument);
  ASSERT_TRUE(succeeded(recorded->reset()));
  EXPECT_TRUE(succeeded(recorded->append(fill(memory, 64, 1), nullptr, {})));
}

TEST_F(ExecutionTest, given_a_list_much_longer_than_a_ring_when_executed_then_every_command_is_done) {
  constexpr unsigned commands = 5000;
  auto* target = static_cast<unsigned char*>(host_memory(commands));
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list();
  for (unsigned index = 0; index < commands; ++index) {
    ASSERT_TRUE(
        succeeded(recorded->append(fill(target + index, 1, static_cast<unsigned char>(index)), nullptr, {})));
  }
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(run(*on, *recorded)));
  ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
  for (unsigned index = 0; index < commands; ++index) {
    ASSERT_EQ(target[index], static_cast<unsigned char>(index)) << index;
  }
}

TEST_F(ExecutionTest, given_a_list_longer_than_a_ring_when_nobody_waits_then_it_is_done_all_the_same) {
  constexpr unsigned commands = 3000;
  auto* target = static_cast<unsigned char*>(host_memory(commands));
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list(true);
  for (unsigned index = 0; index < commands; ++index) {
    ASSERT_TRUE(succeeded(recorded->append(fill(target + index, 1, 0xee), nullptr, {})));
  }
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(run(*on, *recorded)));
  // Only the memory is looked at, no call of the driver.
  std::atomic_ref last(target[commands - 1]);
  for (int look = 0; look < 10'000 && last.load() != 0xee; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(last.load(), 0xee);
  EXPECT_TRUE(succeeded(on->synchronize(patience_ns)));
}

TEST_F(ExecutionTest,
       given_an_in_order_list_when_a_chain_of_copies_is_executed_then_each_sees_the_one_before) {
  const Bytes bytes = pattern(300'000, 3);
  void* a = device_memory(bytes.size());
  void* b = device_memory(bytes.size());
  void* c = device_memory(bytes.size());
  Bytes result(bytes.size());
  Owned<CommandList> now = immediate(true);
  ASSERT_TRUE(succeeded(now->append(copy(a, bytes.data(), bytes.size()), nullptr, {})));
  ASSERT_TRUE(succeeded(now->append(copy(b, a, bytes.size()), nullptr, {})));
  ASSERT_TRUE(succeeded(now->append(copy(c, b, bytes.size()), nullptr, {})));
  ASSERT_TRUE(succeeded(now->append(copy(result.data(), c, bytes.size()), nullptr, {})));
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
  EXPECT_EQ(result, bytes);
}

TEST_F(ExecutionTest, given_commands_of_no_bytes_when_executed_then_they_succeed_and_signal) {
  void* memory = device_memory(64);
  Owned<EventPool> events = pool(2);
  Owned<Event> gate = event(*events, 0);
  Owned<Event> done = event(*events, 1);
  Owned<CommandList> now = immediate(false);
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(now->append(copy(memory, memory, 0), done.get(), waits)));
  ASSERT_TRUE(succeeded(now->append(fill(memory, 0, 1), nullptr, {})));
  EXPECT_EQ(code(done->query()), ErrorCode::not_ready);
  ASSERT_TRUE(succeeded(gate->host_signal()));
  EXPECT_TRUE(succeeded(done->synchronize(patience_ns)));
  EXPECT_TRUE(succeeded(now->synchronize(patience_ns)));
}

TEST_F(ExecutionTest, given_a_region_when_copied_then_only_its_rows_and_planes_are) {
  constexpr std::uint64_t pitch = 100;
  constexpr std::uint64_t plane = 2000;
  const Bytes bytes = pattern(3 * plane, 4);
  void* memory = device_memory(bytes.size());
  Bytes expected(bytes.size(), 0x55);
  ASSERT_TRUE(succeeded(copy_and_wait(memory, expected.data(), expected.size())));
  CopyCommand region = copy(static_cast<unsigned char*>(memory) + 3, bytes.data() + 7, 0);
  region.shape = {41, 13, 3};
  region.dst_pitches = {77, 1500};
  region.src_pitches = {pitch, plane};
  Owned<CommandList> now = immediate(true, true);
  ASSERT_TRUE(succeeded(now->append(region, nullptr, {})));
  for (std::uint64_t z = 0; z < 3; ++z) {
    for (std::uint64_t y = 0; y < 13; ++y) {
      std::memcpy(expected.data() + 3 + z * 1500 + y * 77, bytes.data() + 7 + z * plane + y * pitch, 41);
    }
  }
  EXPECT_EQ(read_back(memory, expected.size()), expected);
}

TEST_F(ExecutionTest, given_memory_of_another_context_when_copied_from_then_the_bytes_arrive) {
  Result<std::unique_ptr<Context>> other = Context::create(*driver_, {&device()});
  ASSERT_TRUE(other.ok());
  const Bytes bytes = pattern(10'000, 5);
  void* source = (*other)->allocate_device(device(), 0, bytes.size(), 0).value();
  {
    Owned<CommandList> there(*CommandList::create_immediate(**other, device(), settings(true, true)));
    ASSERT_TRUE(succeeded(there->append(copy(source, bytes.data(), bytes.size()), nullptr, {})));
  }
  void* target = device_memory(bytes.size());
  CopyCommand across = copy(target, source, bytes.size());
  across.src_context = other->get();
  across.src_context_handle = (*other)->handle();
  {
    Owned<CommandList> now = immediate(true, true);
    ASSERT_TRUE(succeeded(now->append(copy(target, pattern(16, 9).data(), 16), nullptr, {})))
        << "the ring serves one space";
    ASSERT_TRUE(succeeded(now->append(across, nullptr, {}))) << "and is started anew for two";
  }
  EXPECT_EQ(read_back(target, bytes.size()), bytes);
}

TEST_F(ExecutionTest, given_work_that_waits_when_the_queue_is_destroyed_then_it_is_in_use_and_goes_on) {
  Owned<EventPool> events = pool(1);
  Owned<Event> gate = event(*events);
  auto* target = static_cast<unsigned char*>(host_memory(16));
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list();
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(recorded->append(fill(target, 16, 7), nullptr, waits)));
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(run(*on, *recorded)));
  EXPECT_EQ(code(on->destroy()), ErrorCode::handle_object_in_use);
  ASSERT_TRUE(succeeded(gate->host_signal()));
  ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
  EXPECT_EQ(target[15], 7);
}

TEST_F(ExecutionTest, given_a_list_that_is_being_executed_when_destroyed_then_its_work_is_done) {
  auto* target = static_cast<unsigned char*>(host_memory(16));
  Owned<EventPool> events = pool(1);
  Owned<Event> gate = event(*events);
  Owned<CommandQueue> on = queue();
  {
    Owned<CommandList> recorded = list();
    Event* waits[] = {gate.get()};
    ASSERT_TRUE(succeeded(recorded->append(fill(target, 16, 7), nullptr, waits)));
    ASSERT_TRUE(succeeded(recorded->close()));
    ASSERT_TRUE(succeeded(run(*on, *recorded)));
  }
  ASSERT_TRUE(succeeded(gate->host_signal()));
  ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
  EXPECT_EQ(target[0], 7);
}

TEST_F(ExecutionTest, given_pages_when_cleared_then_they_read_as_zero) {
  const Bytes bytes = pattern(3 * 4096, 6);
  void* memory = device_memory(bytes.size());
  ASSERT_TRUE(succeeded(copy_and_wait(memory, bytes.data(), bytes.size())));
  // Beyond everything that is allocated: the last pages of the memory.
  std::vector<PageRun> runs;
  for (std::uint64_t page = 1; page <= 200; ++page) {
    runs.push_back({DeviceAddress{device().board().capabilities().memory_bytes - page * 4096, 0}, 4096});
  }
  EXPECT_TRUE(succeeded(device().rings().clear_pages(runs)));
  EXPECT_EQ(read_back(memory, bytes.size()), bytes);
}

TEST_F(ExecutionTest,
       given_pages_beyond_the_memory_when_cleared_then_the_refusal_is_told_and_the_next_clear_works) {
  const PageRun outside{DeviceAddress{1ULL << 45U, 0}, 4096};
  Status refused = device().rings().clear_pages(std::span(&outside, 1));
  EXPECT_EQ(code(refused), ErrorCode::unknown);
  const PageRun inside{DeviceAddress{device().board().capabilities().memory_bytes - 4096, 0}, 4096};
  EXPECT_TRUE(succeeded(device().rings().clear_pages(std::span(&inside, 1))));
}

}  // namespace
}  // namespace datum::test
