#include <ostream>

#include <gtest/gtest.h>

#include "driver/device/board.hpp"
#include "driver/device/limits.hpp"
#include "tests/unit/device/fake_function.hpp"

namespace datum::test {
namespace {

class BoardTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Board>> adopt() { return Board::adopt(std::move(function_)); }

  ErrorCode code() {
    Result<std::unique_ptr<Board>> board = adopt();
    return board.ok() ? ErrorCode::not_ready : board.error().code;
  }

  std::unique_ptr<FakeFunction> function_ = std::make_unique<FakeFunction>();
  FakeFunction* fake_ = function_.get();
  std::shared_ptr<FakeBar> registers_ = function_->registers;
};

TEST_F(BoardTest, given_a_sane_board_when_adopted_then_its_capabilities_are_known) {
  Result<std::unique_ptr<Board>> board = adopt();
  ASSERT_TRUE(board.ok()) << board.error().message;
  const BoardCapabilities& found = (*board)->capabilities();
  EXPECT_EQ(found.ring_count, 4U);
  EXPECT_EQ(found.channel_count, 2U);
  EXPECT_EQ(found.space_count, 8U);
  EXPECT_EQ(found.memory_bytes, 64ULL << 20U);
  EXPECT_EQ(found.onchip_bytes, 1ULL << 20U);
  EXPECT_EQ(found.aperture_fixed_bytes, 4ULL << 20U);
  EXPECT_TRUE(found.memory_clean);
  EXPECT_TRUE((*board)->health().ok());
}

TEST_F(BoardTest, given_a_function_that_reads_all_ones_when_adopted_then_it_is_lost_and_not_of_a_wrong_kind) {
  registers_->dead = true;
  const Result<std::unique_ptr<Board>> board = adopt();
  ASSERT_FALSE(board.ok());
  EXPECT_EQ(board.error().code, ErrorCode::device_lost);
  EXPECT_NE(board.error().hint.find("datum doctor"), std::string::npos) << board.error().hint;
}

TEST_F(BoardTest, given_another_magic_number_when_adopted_then_it_is_refused) {
  registers_->set32(hw::magic, 0x12345678);
  EXPECT_EQ(code(), ErrorCode::unsupported_version);
}

TEST_F(BoardTest, given_a_newer_major_version_when_adopted_then_it_is_refused) {
  registers_->set32(hw::version, hw::VersionRegister{}.set_major(hw::version_major + 1).raw);
  EXPECT_EQ(code(), ErrorCode::unsupported_version);
}

TEST_F(BoardTest, given_a_newer_minor_version_when_adopted_then_it_is_taken) {
  registers_->set32(hw::version, hw::VersionRegister{}.set_major(hw::version_major).set_minor(7).raw);
  EXPECT_TRUE(adopt().ok());
}

TEST_F(BoardTest, given_a_reset_that_never_ends_when_adopted_then_the_board_is_lost_within_its_bound) {
  registers_->on_write = nullptr;
  fake_->clock_step_ns = 50'000'000;
  EXPECT_EQ(code(), ErrorCode::device_lost);
}

TEST_F(BoardTest,
       given_memory_that_never_becomes_ready_when_adopted_then_the_board_is_lost_within_its_bound) {
  registers_->set32(hw::status, 0);
  fake_->clock_step_ns = 50'000'000;
  EXPECT_EQ(code(), ErrorCode::device_lost);
}

TEST_F(BoardTest, given_a_board_slower_than_a_card_when_adopted_then_parked_rings_look_again_as_much_later) {
  fake_->wait_scale = 50;
  ASSERT_TRUE(adopt().ok());
  EXPECT_EQ(registers_->read32(hw::park_recheck_ns), 50 * limits::park_recheck_ns);
}

TEST_F(BoardTest, given_a_board_that_is_hopelessly_slow_when_adopted_then_the_time_still_fits_its_register) {
  fake_->wait_scale = 1'000'000;
  ASSERT_TRUE(adopt().ok());
  EXPECT_EQ(registers_->read32(hw::park_recheck_ns), UINT32_MAX);
}

TEST_F(BoardTest, given_fewer_interrupt_vectors_than_the_board_needs_when_adopted_then_it_is_refused) {
  registers_->set32(hw::ring_count, 5);
  registers_->set32(hw::vector_count, 7);
  EXPECT_EQ(code(), ErrorCode::unsupported_version);
}

TEST_F(BoardTest, given_a_board_when_its_registers_turn_to_all_ones_then_it_is_lost_and_stays_so) {
  Result<std::unique_ptr<Board>> board = adopt();
  ASSERT_TRUE(board.ok());
  EXPECT_FALSE((*board)->is_lost());
  registers_->dead = true;
  EXPECT_EQ((*board)->health().error().code, ErrorCode::device_lost);
  registers_->dead = false;
  EXPECT_EQ((*board)->health().error().code, ErrorCode::device_lost);
  EXPECT_TRUE((*board)->is_lost());
}

TEST_F(BoardTest, given_two_reasons_for_a_loss_when_asked_then_the_first_is_told) {
  Result<std::unique_ptr<Board>> board = adopt();
  ASSERT_TRUE(board.ok());
  (*board)->declare_lost("first");
  (*board)->declare_lost("second");
  EXPECT_EQ((*board)->health().error().message, "first");
}

/// A register and a value that no driver can work with.
TEST_F(BoardTest, given_a_lost_board_when_reset_then_it_lives_again_and_its_life_is_another_one) {
  const std::unique_ptr<Board> board = *adopt();
  const std::uint64_t life = board->life();
  fake_->lose();
  EXPECT_EQ(board->health().error().code, ErrorCode::device_lost);
  ASSERT_TRUE(board->reset().ok());
  EXPECT_TRUE(board->is_lost()) << "until whoever asked for it says that all is ready";
  board->begin_next_life();
  EXPECT_TRUE(board->health().ok());
  EXPECT_EQ(board->life(), life + 1);
}

TEST_F(BoardTest, given_a_card_without_a_reset_of_its_own_when_reset_then_its_slot_is) {
  const std::unique_ptr<Board> board = *adopt();
  fake_->has_function_reset = false;
  EXPECT_TRUE(board->reset().ok());
  EXPECT_EQ(fake_->resets, 1U);
}

TEST_F(BoardTest, given_a_card_without_any_reset_when_reset_then_that_is_refused_and_it_is_as_it_was) {
  const std::unique_ptr<Board> board = *adopt();
  fake_->has_function_reset = fake_->has_hot_reset = false;
  EXPECT_EQ(board->reset().error().code, ErrorCode::unsupported_feature);
  EXPECT_TRUE(board->health().ok());
  fake_->lose();
  EXPECT_EQ(board->health().error().code, ErrorCode::device_lost);
  EXPECT_EQ(board->reset().error().code, ErrorCode::unsupported_feature);
  EXPECT_EQ(board->health().error().code, ErrorCode::device_lost);
}

TEST_F(BoardTest, given_a_board_that_does_not_answer_after_its_reset_then_it_stays_lost_and_says_why) {
  const std::unique_ptr<Board> board = *adopt();
  registers_->dead = true;
  EXPECT_EQ(board->reset().error().code, ErrorCode::device_lost);
  registers_->dead = false;
  const Status health = board->health();
  EXPECT_EQ(health.error().code, ErrorCode::device_lost);
  EXPECT_NE(health.error().message.find("does not answer"), std::string::npos) << health.error().message;
}

TEST_F(BoardTest, given_another_board_after_the_reset_then_it_is_lost_and_says_so) {
  const std::unique_ptr<Board> board = *adopt();
  registers_->set64(hw::memory_bytes, 128ULL << 20U);
  EXPECT_EQ(board->reset().error().code, ErrorCode::device_lost);
  EXPECT_NE(board->health().error().message.find("another one"), std::string::npos);
}

struct Nonsense {
  const char* name;
  std::uint32_t offset;
  std::uint64_t value;
  bool wide;
};

/// GoogleTest would print the bytes, with addresses in them, and ctest would take that for a part of the
/// test's name.
void PrintTo(const Nonsense& nonsense, std::ostream* to) { *to << nonsense.name; }

class BoardNonsenseTest : public BoardTest, public ::testing::WithParamInterface<Nonsense> {};

TEST_P(BoardNonsenseTest,
       given_a_description_that_makes_no_sense_when_adopted_then_it_is_refused_and_the_register_is_named) {
  if (GetParam().wide) {
    registers_->set64(GetParam().offset, GetParam().value);
  } else {
    registers_->set32(GetParam().offset, static_cast<std::uint32_t>(GetParam().value));
  }
  Result<std::unique_ptr<Board>> board = adopt();
  ASSERT_FALSE(board.ok());
  EXPECT_EQ(board.error().code, ErrorCode::unsupported_version);
  EXPECT_NE(board.error().message.find("makes no sense"), std::string::npos) << board.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    registers, BoardNonsenseTest,
    ::testing::Values(Nonsense{"no_rings", hw::ring_count, 0, false},
                      Nonsense{"one_ring", hw::ring_count, 1, false},
                      Nonsense{"too_many_rings", hw::ring_count, 65, false},
                      Nonsense{"rings_all_ones", hw::ring_count, ~0U, false},
                      Nonsense{"no_channels", hw::channel_count, 0, false},
                      Nonsense{"one_space", hw::space_count, 1, false},
                      Nonsense{"too_many_spaces", hw::space_count, 257, false},
                      Nonsense{"no_memory", hw::memory_bytes, 0, true},
                      Nonsense{"memory_all_ones", hw::memory_bytes, ~0ULL, true},
                      Nonsense{"memory_no_pages", hw::memory_bytes, (64ULL << 20U) + 8, true},
                      Nonsense{"onchip_all_ones", hw::onchip_bytes, ~0ULL, true},
                      Nonsense{"aperture_larger_than_bar", hw::aperture_fixed_bytes, 16ULL << 20U, true},
                      Nonsense{"aperture_none", hw::aperture_fixed_bytes, 0, true},
                      Nonsense{"window_beyond_bar", hw::aperture_window_bytes, 5ULL << 20U, true},
                      Nonsense{"window_all_ones", hw::aperture_window_bytes, ~0ULL, true},
                      Nonsense{"clock_stands", hw::clock_hz, 0, true},
                      Nonsense{"timer_stands", hw::timer_hz, 0, true},
                      Nonsense{"vectors_do_not_match", hw::vector_count, 4, false}),
    [](const ::testing::TestParamInfo<Nonsense>& chosen) { return std::string(chosen.param.name); });

}  // namespace
}  // namespace datum::test
