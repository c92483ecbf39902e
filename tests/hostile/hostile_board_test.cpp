// Boards that answer with anything: the program hears of a loss or a failure by name, in bounded time, and
// lives.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fakes/hostile_board.hpp"
#include "tests/hostile/session.hpp"
#include "tests/support/process_resources.hpp"
#include "tests/support/test_run.hpp"

namespace datum::test {
namespace {

/// The driver's bounds pass this much sooner than on a card. An honest board on a busy machine needs its
/// time.
constexpr unsigned fast = 100;
constexpr unsigned as_it_is = 1;
constexpr const char* board_options = "memory=32M,aperture=4M,window=64K";
constexpr std::uint64_t no_limit = ~std::uint64_t{0};
/// Where a board may undo a word that a wait is for, no driver can tell that wait from a rightful one.
constexpr std::uint64_t limited_ns = 300'000'000;

unsigned rounds() {
  const std::string effort = environment("DATUM_TEST_EFFORT", "quick");
  return effort == "all" ? 200 : effort == "ci" ? 12 : 6;
}

/// When the board turns.
enum class Begins { before_it_is_opened, after_it_was_opened };

struct Tally {
  unsigned opened = 0;
  unsigned successes = 0;
  unsigned losses = 0;
};

/// One driver over a hostile board, one program, and the end of both.
void run_round(Hostility hostility, std::uint64_t timeout_ns, Begins begins, unsigned speed, Tally& tally) {
  HostileBoard* hostile = nullptr;
  Result<OwnDriver> driver =
      OwnDriver::open(board_options, [&](std::unique_ptr<board::PcieFunction> function) {
        auto made = std::make_unique<HostileBoard>(std::move(function), hostility, speed);
        hostile = made.get();
        if (begins == Begins::before_it_is_opened) {
          hostile->begin();
        }
        return made;
      });
  if (!driver) {
    EXPECT_FALSE(driver.error().message.empty());
    return;
  }
  ++tally.opened;
  hostile->begin();
  HostileSession session(*driver, timeout_ns);
  session.run();
  EXPECT_EQ("", session.complaint()) << "seed " << hostility.seed;
  tally.successes += session.successes();
  tally.losses += session.losses();
}

Tally run_rounds(Hostility hostility, std::uint64_t timeout_ns, Begins begins, unsigned speed = fast) {
  Tally tally;
  hostility.seed = test_seed() * 1000;
  for (unsigned round = 0; round < rounds(); ++round, ++hostility.seed) {
    SCOPED_TRACE("seed " + std::to_string(hostility.seed));
    run_round(hostility, timeout_ns, begins, speed, tally);
  }
  return tally;
}

/// What a driver leaves when it ends shows as growth over several of them; the first may keep something.
class HostileBoardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Tally ignored;
    run_round({}, no_limit, Begins::after_it_was_opened, as_it_is, ignored);
    descriptors_ = open_descriptors();
    threads_ = thread_count();
  }

  void TearDown() override {
    EXPECT_EQ(descriptors_, open_descriptors());
    EXPECT_EQ(threads_, thread_count());
  }

  std::size_t descriptors_ = 0;
  std::size_t threads_ = 0;
};

TEST_F(HostileBoardTest, given_an_honest_board_behind_it_then_nothing_is_lost) {
  const Tally tally = run_rounds({}, no_limit, Begins::after_it_was_opened, as_it_is);
  EXPECT_EQ(rounds(), tally.opened);
  EXPECT_EQ(0U, tally.losses);
}

TEST_F(HostileBoardTest, given_registers_that_read_anything_then_every_wait_ends) {
  Hostility hostility;
  hostility.registers = 100;
  run_rounds(hostility, no_limit, Begins::after_it_was_opened);
}

TEST_F(HostileBoardTest, given_registers_that_lie_now_and_then_then_every_wait_ends) {
  Hostility hostility;
  hostility.registers = 6;
  run_rounds(hostility, no_limit, Begins::after_it_was_opened);
}

TEST_F(HostileBoardTest, given_writes_that_go_astray_then_every_wait_ends) {
  Hostility hostility;
  hostility.lost_writes = 40;
  const Tally tally = run_rounds(hostility, no_limit, Begins::after_it_was_opened);
  EXPECT_NE(0U, tally.losses);
}

TEST_F(HostileBoardTest, given_a_board_that_hears_nothing_then_it_is_lost) {
  Hostility hostility;
  hostility.lost_writes = 256;
  const Tally tally = run_rounds(hostility, no_limit, Begins::after_it_was_opened);
  EXPECT_GE(tally.losses, rounds());
}

TEST_F(HostileBoardTest, given_forged_completion_records_then_every_wait_ends) {
  Hostility hostility;
  hostility.records = 128;
  const Tally tally = run_rounds(hostility, no_limit, Begins::after_it_was_opened);
  EXPECT_NE(0U, tally.losses);
}

TEST_F(HostileBoardTest, given_descriptors_that_the_board_overwrites_then_nothing_in_them_is_followed) {
  Hostility hostility;
  hostility.slots = 128;
  hostility.records = 32;
  run_rounds(hostility, limited_ns, Begins::after_it_was_opened);
}

TEST_F(HostileBoardTest, given_interrupts_that_storm_or_are_missing_then_work_ends_well) {
  Hostility hostility;
  hostility.false_interrupts = 200;
  hostility.lost_interrupts = 200;
  const Tally tally = run_rounds(hostility, no_limit, Begins::after_it_was_opened, as_it_is);
  EXPECT_EQ(rounds(), tally.opened);
  EXPECT_EQ(0U, tally.losses) << "memory says what has ended, whatever the interrupts say";
}

TEST_F(HostileBoardTest, given_memory_that_reads_anything_then_every_wait_ends) {
  Hostility hostility;
  hostility.aperture = 128;
  run_rounds(hostility, no_limit, Begins::before_it_is_opened);
}

TEST_F(HostileBoardTest, given_the_drivers_memory_overwritten_then_no_word_of_it_is_followed) {
  Hostility hostility;
  hostility.scribbles = 128;
  run_rounds(hostility, limited_ns, Begins::after_it_was_opened);
}

TEST_F(HostileBoardTest, given_a_description_that_is_anything_then_the_board_is_refused_or_used) {
  Hostility hostility;
  hostility.registers = 12;
  hostility.identity = true;
  const std::size_t before = resident_bytes();
  run_rounds(hostility, limited_ns, Begins::before_it_is_opened);
  EXPECT_LT(resident_bytes(), before + (1U << 30U)) << "sizes that a board reports cost no memory";
}

TEST_F(HostileBoardTest, given_everything_at_once_then_the_program_lives) {
  Hostility hostility{0, 4, 4, 8, 8, 8, 8, 16, 16, false};
  run_rounds(hostility, limited_ns, Begins::after_it_was_opened);
  run_rounds(hostility, limited_ns, Begins::before_it_is_opened);
}

}  // namespace
}  // namespace datum::test
