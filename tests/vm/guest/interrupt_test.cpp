// Interrupts that are switched on and off again and again.
#include "tests/support/board_driver.hpp"
#include "tests/support/process_resources.hpp"
#include "tests/vm/guest/guest_test.hpp"
#include "vfio_backend/backend.hpp"

namespace datum::test {
namespace {

class InterruptCycles : public ThroughEither {
 protected:
  /// Opens the card, lets it raise a vector, and closes it.
  void raise_one() {
    auto opened = vfio::backend().open("vfio:" + card_ + forced());
    ASSERT_TRUE(opened) << opened.error().message;
    board::PcieFunction& function = **opened;
    BoardDriver driver(function);
    constexpr unsigned number = 2;
    TestRing ring(driver, number, 4, {});
    ring.push(plain_descriptor(hw::Opcode::nop).set_flag_interrupt(true));
    ring.ring_doorbell();
    const board::Clock clock = function.clock();
    const auto outcome = function.wait(number, -1, clock.now_ns + 5'000'000'000ULL * clock.wait_scale);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
  }
};

DATUM_THROUGH_EITHER(InterruptCycles);

TEST_P(
    InterruptCycles,
    given_a_card_that_is_opened_and_closed_again_and_again_then_each_interrupt_arrives_and_nothing_is_left) {
  raise_one();
  const auto before = open_descriptors();
  constexpr int rounds = 20;
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    raise_one();
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace datum::test
