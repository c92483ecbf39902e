// Each allocation of a submission fails in turn: the work is done whole, or it is refused and nothing of it
// is ever done.
#include <array>
#include <atomic>
#include <new>

#include "tests/support/allocations.hpp"
#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

class WholeSubmissionTest : public ModelBench {
 protected:
  static constexpr unsigned most = 500;       ///< allocations of one submission, by far
  static constexpr unsigned calls = 24;       ///< more than a block of the container of host steps has
  static constexpr std::size_t piece = 4096;  ///< ordinary memory, of which each copy keeps a pin
  static constexpr unsigned more_than_a_ring = 1100;

  void SetUp() override {
    ModelBench::SetUp();
    events_ = std::make_unique<Owned<EventPool>>(pool(2));
    gate_ = std::make_unique<Owned<Event>>(event(**events_, 0));
    done_ = std::make_unique<Owned<Event>>(event(**events_, 1));
    to_ = static_cast<unsigned char*>(host_memory(calls * piece));
    from_ = pattern(calls * piece, 1);
  }

  void TearDown() override {
    done_.reset();
    gate_.reset();
    events_.reset();
    ModelBench::TearDown();
  }

  /// Copies, functions and an event at the end.
  Owned<CommandList> everything() {
    Owned<CommandList> all = list();
    for (unsigned number = 0; number < calls; ++number) {
      const std::size_t first = number * piece;
      EXPECT_TRUE(succeeded(all->append(copy(to_ + first, from_.data() + first, piece), nullptr, {})));
      EXPECT_TRUE(succeeded(all->append(HostFunctionCommand{&count_call, &called_}, nullptr, {})));
    }
    EXPECT_TRUE(succeeded(all->append(fill(to_, 1, 0xee), done_->get(), {})));
    EXPECT_TRUE(succeeded(all->close()));
    return all;
  }

  /// A wait for the gate, and `behind` fills.
  Owned<CommandList> held_up(unsigned behind) {
    Owned<CommandList> first = list();
    Event* const waits[] = {gate_->get()};
    void* const place = host_memory(1);
    EXPECT_TRUE(succeeded(first->append(fill(place, 1, 1), nullptr, waits)));
    for (unsigned number = 0; number < behind; ++number) {
      EXPECT_TRUE(succeeded(first->append(fill(place, 1, 2), nullptr, {})));
    }
    EXPECT_TRUE(succeeded(first->close()));
    return first;
  }

  /// Whether it was taken; the allocation of that number fails, if there is one.
  static bool submit_with_failing(unsigned number, CommandQueue& on, CommandList& closed, bool& failed) {
    bool taken = false;
    failed = fail_allocation(number, [&] {
      try {
        taken = run(on, closed).ok();
      } catch (const std::bad_alloc&) {
        // the API's boundary makes OUT_OF_HOST_MEMORY of it
      }
    });
    return taken;
  }

  void expect_whole_or_nothing(CommandList& before, CommandList& all) {
    bool failed = true;
    unsigned refused = 0;
    for (unsigned number = 1; failed; ++number) {
      ASSERT_LT(number, most);
      SCOPED_TRACE("allocation " + std::to_string(number));
      called_ = 0;
      std::memset(to_, 0, calls * piece);
      ASSERT_TRUE(succeeded((*gate_)->host_reset()));
      ASSERT_TRUE(succeeded((*done_)->host_reset()));
      Owned<CommandQueue> on = queue();
      ASSERT_TRUE(succeeded(run(*on, before)));
      const bool taken = submit_with_failing(number, *on, all, failed);
      ASSERT_TRUE(taken || failed);
      refused += taken ? 0 : 1;
      ASSERT_TRUE(succeeded((*gate_)->host_signal()));
      ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
      EXPECT_EQ(called_, taken ? calls : 0);
      EXPECT_EQ(code((*done_)->query()), taken ? code(Status{}) : ErrorCode::not_ready);
      EXPECT_EQ(to_[0], taken ? 0xee : 0);
      const Bytes expected = taken ? from_ : Bytes(from_.size());
      EXPECT_TRUE(std::equal(expected.begin() + 1, expected.end(), to_ + 1));
    }
    EXPECT_GT(refused, 0U) << "it takes no memory, and nothing was tried";
  }

  static void count_call(void* counter) { ++*static_cast<std::atomic<unsigned>*>(counter); }

  std::unique_ptr<Owned<EventPool>> events_;
  std::unique_ptr<Owned<Event>> gate_;
  std::unique_ptr<Owned<Event>> done_;
  unsigned char* to_ = nullptr;
  Bytes from_;
  std::atomic<unsigned> called_{0};
};

TEST_F(WholeSubmissionTest,
       given_a_stream_whose_ring_has_room_when_an_allocation_fails_then_the_work_is_whole_or_refused) {
  Owned<CommandList> before = held_up(0);
  Owned<CommandList> all = everything();
  expect_whole_or_nothing(*before, *all);
}

TEST_F(
    WholeSubmissionTest,
    given_a_stream_with_more_than_its_ring_holds_when_an_allocation_fails_then_the_work_is_whole_or_refused) {
  Owned<CommandList> before = held_up(more_than_a_ring);
  Owned<CommandList> all = everything();
  expect_whole_or_nothing(*before, *all);
}

TEST_F(WholeSubmissionTest,
       given_a_stream_without_a_ring_when_an_allocation_fails_then_what_was_taken_is_done_by_who_waits) {
  Owned<CommandList> all = everything();
  bool failed = true;
  for (unsigned number = 1; failed; ++number) {
    ASSERT_LT(number, most);
    SCOPED_TRACE("allocation " + std::to_string(number));
    called_ = 0;
    ASSERT_TRUE(succeeded((*done_)->host_reset()));
    Owned<CommandQueue> on = queue();
    const bool taken = submit_with_failing(number, *on, *all, failed);
    ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
    EXPECT_EQ(called_, taken ? calls : 0);
    EXPECT_EQ(code((*done_)->query()), taken ? code(Status{}) : ErrorCode::not_ready);
  }
}

}  // namespace
}  // namespace datum::test
