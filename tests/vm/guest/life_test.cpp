// Cards that are in use, taken away, or left behind by a program that was killed.
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

#include "tests/vm/guest/guest_test.hpp"

namespace datum::test {
namespace {

const std::string device_lost = "70000001";

class CardInUse : public ThroughEither {};

DATUM_THROUGH_EITHER(CardInUse);

TEST_P(CardInUse,
       given_a_program_that_has_the_card_when_another_wants_it_then_the_first_is_named_until_it_ends) {
  Program first(scenario("hold"), {false, {}, on_card(forced())});
  ASSERT_EQ(first.read_line(), "ready") << first.end().describe();
  const ChildOutcome second = run(scenario("copy"), {false, {}, on_card(forced())});
  EXPECT_TRUE(has(second.errors, "is held by process " + std::to_string(first.process())))
      << second.describe();
  EXPECT_TRUE(has(second.errors, "busy")) << second.describe();
  EXPECT_LT(second.duration.count(), 20'000) << "no storm of attempts";
  EXPECT_TRUE(first.end().succeeded());
  const ChildOutcome third = run(scenario("copy"), {false, {}, on_card(forced())});
  EXPECT_TRUE(third.succeeded()) << third.describe();
}

TEST_P(CardInUse,
       given_work_in_flight_when_the_card_is_unbound_then_it_is_lost_with_a_sentence_and_the_program_lives) {
  Program user(scenario("copy_until_lost"), {false, {}, on_card(forced())});
  ASSERT_EQ(user.read_line(), "ready") << user.end().describe();
  Program unbind(tool({"unbind", card_}));
  const std::string said = user.read_line();
  EXPECT_TRUE(said.starts_with(device_lost)) << said;
  EXPECT_TRUE(has(said, "the kernel asked for it back")) << said;
  const ChildOutcome unbound = unbind.end();
  EXPECT_TRUE(unbound.succeeded()) << "the kernel has the card, though the program lives: "
                                   << unbound.describe();
  EXPECT_TRUE(user.runs());
  EXPECT_EQ(driver_of(card_), "");
  user.write_line("go on");
  const ChildOutcome ended = user.end();
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.output, "freed\n");

  give_to_vfio(card_);
  const ChildOutcome next = run(scenario("copy"), {false, {}, on_card(forced())});
  EXPECT_TRUE(next.succeeded()) << next.describe();
}

TEST_P(CardInUse,
       given_a_program_that_is_killed_amid_a_copy_when_the_next_one_starts_then_it_finds_a_card_like_new) {
  for (int round = 0; round < 2; ++round) {
    Program first(scenario("copy_for_ever"), {false, {}, on_card(forced())});
    ASSERT_EQ(first.read_line(), "ready") << first.end().describe();
    first.send(SIGKILL);
    EXPECT_EQ(first.end().signal, SIGKILL);
    const ChildOutcome next = run(scenario("copy_after_another"), {false, {}, on_card(forced())});
    EXPECT_TRUE(next.succeeded()) << next.describe();
  }
}

TEST_P(
    CardInUse,
    given_memory_access_turned_off_from_outside_when_the_card_is_used_then_it_is_lost_and_the_program_lives) {
  Program user(scenario("copy_until_lost"), {false, {}, on_card(forced())});
  ASSERT_EQ(user.read_line(), "ready") << user.end().describe();
  const UniqueFd config(::open(device_file(card_, "config").c_str(), O_RDWR | O_CLOEXEC));
  constexpr off_t command = 4;
  std::uint16_t on = 0;
  ASSERT_EQ(::pread(config.get(), &on, sizeof on, command), 2);
  constexpr unsigned memory_access = 2;
  const auto off = static_cast<std::uint16_t>(on & ~memory_access);
  ASSERT_EQ(::pwrite(config.get(), &off, sizeof off, command), 2);
  const std::string said = user.read_line();
  EXPECT_TRUE(said.starts_with(device_lost)) << said;
  ASSERT_EQ(::pwrite(config.get(), &on, sizeof on, command), 2);
  user.write_line("go on");
  const ChildOutcome ended = user.end();
  EXPECT_TRUE(ended.succeeded()) << ended.describe();

  const ChildOutcome next = run(scenario("copy"), {false, {}, on_card(forced())});
  EXPECT_TRUE(next.succeeded()) << "opened anew it works: " << next.describe();
}

TEST_P(CardInUse, given_pinned_memory_when_the_program_forks_then_the_card_sees_what_the_parent_writes) {
  const ChildOutcome outcome = run(scenario("fork_with_imported_memory"), {false, {}, on_card(forced())});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

}  // namespace
}  // namespace datum::test
