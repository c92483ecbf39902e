// Ordinary memory on either side of commands: pinned where it can be, staged where it cannot, never left
// pinned.
#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/command/host_function_command.hpp"
#include "tests/support/no_more_threads.hpp"
#include "tests/unit/command/counting_function.hpp"
#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

class PageableMemoryTest : public ModelBench {
 protected:
  std::unique_ptr<board::PcieFunction> decorate(std::unique_ptr<board::PcieFunction> function) override {
    count_ = std::make_shared<MappingCount>();
    return std::make_unique<CountingFunction>(std::move(function), count_);
  }

  std::shared_ptr<MappingCount> count_;
};

TEST_F(PageableMemoryTest, given_malloc_memory_when_the_list_was_synchronised_then_nothing_is_left_pinned) {
  const Bytes bytes = pattern(100'000, 1);
  void* memory = device_memory(bytes.size());
  Owned<CommandList> now = immediate();
  ASSERT_TRUE(succeeded(now->append(fill(memory, 16, 0), nullptr, {})));  // arenas and rings are made
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
  const std::int64_t before = count_->live_bytes;
  const std::uint64_t maps_before = count_->maps;
  ASSERT_TRUE(succeeded(now->append(copy(memory, bytes.data(), bytes.size()), nullptr, {})));
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
  EXPECT_GT(count_->maps, maps_before) << "it was pinned at all";
  EXPECT_EQ(count_->live_bytes, before);
}

TEST_F(PageableMemoryTest,
       given_malloc_memory_when_the_event_of_its_copy_was_waited_for_then_it_is_not_pinned) {
  const Bytes bytes = pattern(100'000, 1);
  void* memory = device_memory(bytes.size());
  Owned<EventPool> events = pool(2);
  Owned<Event> copied = event(*events, 0);
  Owned<Event> gate = event(*events, 1);
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list(true);
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(recorded->append(copy(memory, bytes.data(), bytes.size()), copied.get(), {})));
  ASSERT_TRUE(succeeded(recorded->append(BarrierCommand{}, nullptr, waits)));
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(copy_and_wait(memory, bytes.data(), 16)));
  const std::int64_t before = count_->live_bytes;
  for (int turn = 0; turn < 20; ++turn) {
    ASSERT_TRUE(succeeded(copied->host_reset()));
    ASSERT_TRUE(succeeded(gate->host_reset()));
    ASSERT_TRUE(succeeded(run(*on, *recorded)));
    ASSERT_TRUE(succeeded(copied->synchronize(patience_ns)));
    // The list goes on behind the gate, but the memory is the application's again.
    EXPECT_EQ(count_->live_bytes, before);
    ASSERT_TRUE(succeeded(gate->host_signal()));
    ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
  }
}

TEST_F(PageableMemoryTest, given_a_stack_array_and_a_mapped_file_when_copied_then_the_bytes_are_right) {
  unsigned char stack[3000];
  const Bytes bytes = pattern(sizeof stack, 7);
  std::memcpy(stack, bytes.data(), sizeof stack);
  void* memory = device_memory(sizeof stack);
  ASSERT_TRUE(succeeded(copy_and_wait(memory, stack, sizeof stack)));
  char name[] = "/tmp/datum-pageable-XXXXXX";
  const int file = ::mkstemp(name);
  ASSERT_GE(file, 0);
  ::unlink(name);
  ASSERT_EQ(::ftruncate(file, 8192), 0);
  void* mapped = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ASSERT_TRUE(succeeded(copy_and_wait(static_cast<unsigned char*>(mapped) + 100, memory, sizeof stack)));
  EXPECT_EQ(std::memcmp(static_cast<unsigned char*>(mapped) + 100, bytes.data(), sizeof stack), 0);
  ::munmap(mapped, 8192);
  ::close(file);
}

TEST_F(PageableMemoryTest,
       given_a_pointer_to_nothing_when_submitted_then_it_is_refused_and_the_list_stays_usable) {
  void* nothing = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::munmap(nothing, 4096);
  void* memory = device_memory(4096);
  Owned<CommandList> now = immediate();
  EXPECT_EQ(code(now->append(copy(memory, nothing, 100), nullptr, {})), ErrorCode::invalid_argument);
  EXPECT_TRUE(succeeded(now->append(fill(memory, 16, 1), nullptr, {})));
  EXPECT_TRUE(succeeded(now->synchronize(patience_ns)));
}

/// A board for which not more than a few pieces of memory may be mapped.
class StagedMemoryTest : public PageableMemoryTest {
 protected:
  void SetUp() override { open("locked=12M"); }

  static constexpr std::size_t too_much = 24U << 20U;
};

TEST_F(StagedMemoryTest, given_memory_that_cannot_be_pinned_when_copied_both_ways_then_every_byte_arrives) {
  const Bytes bytes = pattern(too_much + 13, 3);
  void* memory = device_memory(bytes.size());
  Bytes back(bytes.size());
  Owned<CommandList> now = immediate(true);
  ASSERT_TRUE(succeeded(now->append(copy(memory, bytes.data(), bytes.size()), nullptr, {})));
  ASSERT_TRUE(succeeded(now->append(copy(back.data(), memory, bytes.size()), nullptr, {})));
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
  EXPECT_TRUE(back == bytes);
}

TEST_F(StagedMemoryTest, given_staged_copies_when_nobody_waits_then_the_worker_moves_them) {
  const Bytes bytes = pattern(too_much, 4);
  void* memory = device_memory(bytes.size());
  Owned<EventPool> events = pool(1);
  Owned<Event> done = event(*events);
  Owned<CommandList> now = immediate(true);
  ASSERT_TRUE(succeeded(now->append(copy(memory, bytes.data(), bytes.size()), done.get(), {})));
  for (int look = 0; look < 20'000 && done->word() == event_word::cleared; ++look) {
    ::usleep(1000);
  }
  EXPECT_EQ(done->word(), event_word::signalled);
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
}

TEST_F(
    StagedMemoryTest,
    given_memory_that_cannot_be_pinned_when_it_changes_before_the_command_begins_then_the_new_bytes_are_copied) {
  Bytes bytes = pattern(too_much, 5);
  void* memory = device_memory(bytes.size());
  Owned<EventPool> events = pool(1);
  Owned<Event> gate = event(*events);
  Owned<CommandList> now = immediate(true);
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(now->append(copy(memory, bytes.data(), bytes.size()), nullptr, waits)));
  std::ranges::copy(pattern(too_much, 6), bytes.begin());
  ASSERT_TRUE(succeeded(gate->host_signal()));
  Bytes back(bytes.size());
  ASSERT_TRUE(succeeded(now->append(copy(back.data(), memory, bytes.size()), nullptr, {})));
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
  EXPECT_TRUE(back == bytes);
}

TEST_F(StagedMemoryTest,
       given_memory_that_cannot_be_pinned_when_filled_and_copied_in_regions_then_every_byte_is_right) {
  Bytes bytes(too_much, 0x11);
  Owned<CommandList> now = immediate(true, true);
  ASSERT_TRUE(succeeded(now->append(fill(bytes.data() + 5, too_much - 10, 0x22), nullptr, {})));
  EXPECT_EQ(bytes[4], 0x11);
  EXPECT_EQ(bytes[5], 0x22);
  EXPECT_EQ(bytes[too_much - 6], 0x22);
  EXPECT_EQ(bytes[too_much - 5], 0x11);

  // Rows wider than staging memory and rows that share it.
  constexpr std::uint64_t pitch = 1U << 20U;
  for (const std::uint64_t width : {std::uint64_t{700'001}, std::uint64_t{333}}) {
    const Bytes source = pattern(20 * pitch, static_cast<unsigned>(width));
    void* memory = device_memory(20 * 700'001);
    CopyCommand in = copy(memory, source.data() + 9, 0);
    in.shape = {width, 20, 1};
    in.dst_pitches = {width, 0};
    in.src_pitches = {pitch, 0};
    ASSERT_TRUE(succeeded(now->append(in, nullptr, {})));
    Bytes back(20 * pitch, 0);
    CopyCommand out = copy(back.data() + 9, memory, 0);
    out.shape = {width, 20, 1};
    out.dst_pitches = {pitch, 0};
    out.src_pitches = {width, 0};
    ASSERT_TRUE(succeeded(now->append(out, nullptr, {})));
    Bytes expected(20 * pitch, 0);
    for (std::uint64_t row = 0; row < 20; ++row) {
      std::memcpy(expected.data() + 9 + row * pitch, source.data() + 9 + row * pitch, width);
    }
    EXPECT_TRUE(back == expected) << width;
  }
}

TEST_F(
    StagedMemoryTest,
    given_memory_that_vanishes_before_it_is_staged_when_waited_for_then_the_failure_is_told_and_not_a_crash) {
  void* mapped = ::mmap(nullptr, too_much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  std::memset(mapped, 1, too_much);
  void* memory = device_memory(too_much);
  Owned<EventPool> events = pool(1);
  Owned<Event> gate = event(*events);
  Owned<CommandList> now = immediate(true);
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(now->append(copy(memory, mapped, too_much), nullptr, waits)));
  ::munmap(mapped, too_much);
  ASSERT_TRUE(succeeded(gate->host_signal()));
  Status ended = now->synchronize(patience_ns);
  EXPECT_EQ(code(ended), ErrorCode::unknown);
  EXPECT_NE(ended.error().message.find("could not be read"), std::string::npos) << ended.error().message;
}

TEST_F(StagedMemoryTest,
       given_a_process_that_may_have_no_more_threads_when_waited_for_then_who_waits_stages) {
  const Bytes bytes = pattern(too_much, 8);
  Bytes back(too_much);
  void* memory = device_memory(too_much);
  Owned<CommandList> now = immediate();
  const NoMoreThreads none;
  ASSERT_TRUE(succeeded(now->append(copy(memory, bytes.data(), too_much), nullptr, {})));
  ASSERT_TRUE(succeeded(now->append(copy(back.data(), memory, too_much), nullptr, {})));
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
  EXPECT_TRUE(back == bytes);
}

TEST_F(PageableMemoryTest,
       given_a_process_that_may_have_no_more_threads_when_an_event_is_asked_for_then_functions_are_called) {
  int calls = 0;
  const HostFunctionCommand count{[](void* counter) { ++*static_cast<int*>(counter); }, &calls};
  Owned<EventPool> events = pool(1);
  Owned<Event> done = event(*events);
  Owned<CommandList> now = immediate();
  {
    const NoMoreThreads none;
    ASSERT_TRUE(succeeded(now->append(count, nullptr, {})));
    ASSERT_TRUE(succeeded(now->append(count, done.get(), {})));
    for (int look = 0; look < 20'000 && code(done->query()) == ErrorCode::not_ready; ++look) {
      ::usleep(1000);
    }
    EXPECT_TRUE(succeeded(done->query()));
    EXPECT_EQ(calls, 2);
  }
  ASSERT_TRUE(succeeded(now->append(count, nullptr, {})));
  ASSERT_TRUE(succeeded(now->synchronize(patience_ns)));
  EXPECT_EQ(calls, 3) << "with a worker again";
}

}  // namespace
}  // namespace datum::test
