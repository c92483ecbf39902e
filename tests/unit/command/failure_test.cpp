// Work that the board refuses, and a board that goes away.
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

class FailureTest : public ModelBench {
 protected:
  void SetUp() override {
    ModelBench::SetUp();
    read_only_ = context().allocate_host(4096, 0, {.writable = false}).value();
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

class LostMemoryTest : public ModelBench {
 protected:
  static constexpr std::size_t bytes = 4096;

  void SetUp() override {
    ModelBench::SetUp();
    memory_ = device_memory(bytes);
    const Bytes data = pattern(bytes, 3);
    ASSERT_TRUE(succeeded(copy_and_wait(memory_, data.data(), bytes)));
    std::memcpy(&first_word_, data.data(), sizeof first_word_);
  }

  Board& board() { return device().board(); }

  /// Where the board has the page.
  std::uint64_t device_address() {
    const std::uint64_t end = board().capabilities().aperture_fixed_bytes;
    for (std::uint64_t page = 0; page < end; page += bytes) {
      if (board().aperture().read64(page) == first_word_) {
        return page;
      }
    }
    ADD_FAILURE() << "the page is not in the fixed aperture";
    return 0;
  }

  void turn_bits(std::uint64_t address, std::uint64_t bits) {
    board().write64(hw::inject_address, address);
    board().write64(hw::inject_data, bits);
    board().write32(hw::inject_command, 1);
    ASSERT_EQ(board().read32(hw::inject_command), 0U);
  }

  std::uint64_t count(unsigned set) { return device().error_set(set).count().value(); }

  void* memory_ = nullptr;
  std::uint64_t first_word_ = 0;
};

TEST_F(LostMemoryTest, given_a_lost_word_when_a_copy_reads_it_then_the_copy_fails_and_says_why) {
  turn_bits(device_address() + 0x848, 0b11);
  Bytes to(bytes);
  Owned<CommandList> now = immediate();
  ASSERT_TRUE(succeeded(now->append(copy(to.data(), memory_, bytes), nullptr, {})));
  Status ended = now->synchronize(patience_ns);
  EXPECT_EQ(code(ended), ErrorCode::unknown);
  const std::string place = fmt::format("{:#x}", reinterpret_cast<std::uintptr_t>(memory_) + 0x840);
  EXPECT_NE(ended.error().message.find(place), std::string::npos) << ended.error().message;
  EXPECT_NE(ended.error().message.find("more wrong bits than can be corrected"), std::string::npos)
      << ended.error().message;
  EXPECT_EQ(count(0), 0U);
  EXPECT_GE(count(1), 1U);
  EXPECT_TRUE(succeeded(board().health())) << "the device stays available";
}

TEST_F(LostMemoryTest, given_a_lost_word_when_it_is_written_again_then_it_can_be_read) {
  turn_bits(device_address() + 0x848, 0b11);
  Owned<CommandList> now = immediate(true, true);
  ASSERT_TRUE(succeeded(now->append(fill(memory_, bytes, 0x77), nullptr, {})));
  EXPECT_EQ(read_back(memory_, bytes), Bytes(bytes, 0x77));
}

TEST_F(LostMemoryTest, given_a_wrong_bit_when_a_copy_reads_it_then_it_is_right_and_counted_until_cleared) {
  const std::uint64_t address = device_address();
  turn_bits(address + 0x848, 0b1);
  EXPECT_EQ(read_back(memory_, bytes), pattern(bytes, 3));
  EXPECT_EQ(count(0), 1U);
  EXPECT_EQ(count(1), 0U);
  ASSERT_TRUE(succeeded(device().error_set(0).clear()));
  EXPECT_EQ(count(0), 0U);
  turn_bits(address + 0x848, 0b10);
  EXPECT_EQ(read_back(memory_, bytes), pattern(bytes, 3));
  EXPECT_EQ(count(0), 1U);
  board().write32(hw::ecc_clear, hw::EccClearRegister{}.set_counts(true).raw);
  EXPECT_EQ(count(0), 0U) << "somebody else cleared the board's counts";
}

TEST_F(LostMemoryTest, given_a_protected_board_when_opened_then_its_scrubber_passes_once_a_day) {
  const BoardCapabilities& is = board().capabilities();
  ASSERT_TRUE(is.ecc);
  const std::uint64_t cycles = board().read32(hw::scrub_interval) * (is.memory_bytes / 64);
  constexpr double day_s = 24.0 * 60 * 60;
  EXPECT_NEAR(static_cast<double>(cycles) / static_cast<double>(is.clock_hz), day_s, day_s / 100);
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
  Owned<CommandQueue> idle = queue();
  Owned<Fence> unsubmitted(*Fence::create(*idle, false));
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
  for (const std::uint64_t time_out_ns : {std::uint64_t{0}, std::uint64_t{1'000'000}, ~std::uint64_t{0}}) {
    EXPECT_EQ(code(done->synchronize(time_out_ns)), ErrorCode::device_lost);
    EXPECT_EQ(code(gate->synchronize(time_out_ns)), ErrorCode::device_lost) << "nobody signals it";
    EXPECT_EQ(code(fence->synchronize(time_out_ns)), ErrorCode::device_lost);
    EXPECT_EQ(code(unsubmitted->synchronize(time_out_ns)), ErrorCode::device_lost);
    EXPECT_EQ(code(idle->synchronize(time_out_ns)), ErrorCode::device_lost);
  }
  EXPECT_EQ(code(done->query()), ErrorCode::device_lost);
  EXPECT_EQ(code(run(*on, *recorded)), ErrorCode::device_lost);
}

}  // namespace
}  // namespace datum::test
