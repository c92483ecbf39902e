// A board that is reset, lost or not: what was made before it ends, and what is made after it works.
#include <chrono>
#include <thread>

#include "driver/memory/device_heap.hpp"
#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

class ResetTest : public ModelBench {
 protected:
  void make_new_context() {
    Result<std::unique_ptr<Context>> made = Context::create(*driver_, {&device()});
    ASSERT_TRUE(made.ok()) << made.error().message;
    context_ = std::move(*made);
  }

  /// Bytes through device memory of the context that there is now.
  void expect_copies_to_work(unsigned seed) {
    const Bytes bytes = pattern(100'000, seed);
    void* on_board = device_memory(bytes.size());
    ASSERT_TRUE(succeeded(copy_and_wait(on_board, bytes.data(), bytes.size())));
    EXPECT_EQ(read_back(on_board, bytes.size()), bytes);
    ASSERT_TRUE(succeeded(context().free(on_board)));
  }
};

TEST_F(ResetTest, given_a_lost_board_when_reset_then_a_new_context_works_time_and_again) {
  for (unsigned turn = 0; turn < 3; ++turn) {
    expect_copies_to_work(turn);
    sim_->lose("pulled out by the test");
    EXPECT_EQ(code(copy_and_wait(host_memory(64), host_memory(64), 64)), ErrorCode::device_lost);
    EXPECT_EQ(code(device().board().health()), ErrorCode::device_lost);
    context_.reset();
    ASSERT_TRUE(succeeded(device().reset(false)));
    EXPECT_TRUE(succeeded(device().board().health()));
    make_new_context();
  }
  expect_copies_to_work(9);
}

TEST_F(ResetTest,
       given_a_board_that_is_back_before_the_drivers_space_is_when_pages_are_cleared_then_they_are_lost) {
  Result<std::vector<PageRun>> runs = device().heap(0).allocate(small_page_bytes);
  ASSERT_TRUE(runs.ok());
  ASSERT_TRUE(succeeded(device().rings().clear_pages(*runs)));
  ASSERT_TRUE(succeeded(device().rings().reset_board()));
  EXPECT_EQ(code(device().rings().clear_pages(*runs)), ErrorCode::device_lost);
  ASSERT_TRUE(succeeded(device().reset(true)));
  EXPECT_TRUE(succeeded(device().rings().clear_pages(*runs)));
  device().heap(0).free(*runs);
}

TEST_F(ResetTest, given_rings_that_were_started_behind_a_reset_when_they_are_needed_then_they_begin_anew) {
  ASSERT_TRUE(succeeded(device().reset(true)));
  Board& board = device().board();
  for (const unsigned ring : {0U, 1U}) {  // as threads do that have not heard of the reset
    board.write32(hw::ring_control(ring), hw::RingControlRegister{}.set_enable(true).raw);
    board.write32(hw::ring_tail(ring), 1);
    ASSERT_NE(board.read32(hw::ring_state(ring)), static_cast<std::uint32_t>(hw::RingState::disabled));
  }
  Result<std::vector<PageRun>> runs = device().heap(0).allocate(small_page_bytes);
  ASSERT_TRUE(runs.ok());
  EXPECT_TRUE(succeeded(device().rings().clear_pages(*runs)));
  device().heap(0).free(*runs);
  make_new_context();
  expect_copies_to_work(3);
}

TEST_F(ResetTest, given_a_context_when_reset_without_force_then_it_is_in_use_and_works_on) {
  EXPECT_EQ(code(device().reset(false)), ErrorCode::handle_object_in_use);
  expect_copies_to_work(1);
}

TEST_F(ResetTest,
       given_work_that_waits_when_reset_by_force_then_it_ends_as_lost_and_so_does_what_depends_on_it) {
  Owned<EventPool> events = pool(2);
  Owned<Event> gate = event(*events, 0);
  Owned<Event> done = event(*events, 1);
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list();
  Event* waits[] = {gate.get()};
  ASSERT_TRUE(succeeded(recorded->append(fill(device_memory(4096), 4096, 1), done.get(), waits)));
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(run(*on, *recorded)));
  std::thread resetting([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(succeeded(device().reset(true)));
  });
  EXPECT_EQ(code(on->synchronize(~0ULL)), ErrorCode::device_lost);
  resetting.join();
  EXPECT_EQ(code(done->synchronize(patience_ns)), ErrorCode::device_lost);
}

TEST_F(ResetTest,
       given_an_idle_queue_when_the_board_is_reset_by_force_then_only_new_contexts_have_a_use_for_it) {
  Owned<CommandQueue> on = queue();
  Owned<CommandList> recorded = list();
  ASSERT_TRUE(succeeded(recorded->append(fill(device_memory(4096), 4096, 1), nullptr, {})));
  ASSERT_TRUE(succeeded(recorded->close()));
  ASSERT_TRUE(succeeded(run(*on, *recorded)));
  ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
  ASSERT_TRUE(succeeded(device().reset(true)));
  EXPECT_EQ(code(run(*on, *recorded)), ErrorCode::device_lost);
  EXPECT_EQ(code(context().health()), ErrorCode::device_lost);
  EXPECT_TRUE(succeeded(device().board().health()));
  std::unique_ptr<Context> former = std::move(context_);
  make_new_context();
  EXPECT_TRUE(succeeded(context().health()));
  expect_copies_to_work(4);
  std::swap(former, context_);  // who made objects in the old one destroys them there
  EXPECT_EQ(code(copy_and_wait(host_memory(64), host_memory(64), 64)), ErrorCode::device_lost);
}

TEST_F(ResetTest,
       given_a_default_context_when_the_board_is_reset_then_there_is_another_one_and_both_are_the_drivers) {
  Context* const before = *driver_->default_context();
  EXPECT_EQ(*driver_->default_context(), before);
  ASSERT_TRUE(succeeded(device().reset(true)));
  Context* const after = *driver_->default_context();
  EXPECT_NE(after, before);
  EXPECT_TRUE(succeeded(after->health()));
  EXPECT_EQ(code(before->health()), ErrorCode::device_lost);
  EXPECT_TRUE(driver_->owns(*before) && driver_->owns(*after));
}

TEST_F(ResetTest, given_memory_that_was_freed_when_the_board_was_reset_then_all_of_it_can_be_had_again) {
  const std::uint64_t free_bytes = device().heap(0).available_bytes();
  for (int turn = 0; turn < 5; ++turn) {
    expect_copies_to_work(2);
    sim_->lose("again");
    EXPECT_EQ(code(device().board().health()), ErrorCode::device_lost);
    context_.reset();
    ASSERT_TRUE(succeeded(device().reset(false)));
    make_new_context();
  }
  EXPECT_EQ(device().heap(0).available_bytes(), free_bytes);
}

}  // namespace
}  // namespace datum::test
