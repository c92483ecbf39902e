#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "driver/device/board.hpp"
#include "driver/device/mmu.hpp"
#include "tests/unit/device/fake_function.hpp"

namespace datum::test {
namespace {

class MmuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto function = std::make_unique<FakeFunction>();
    fake_ = function.get();
    registers_ = function->registers;
    aperture_ = function->aperture;
    Result<std::unique_ptr<Board>> board = Board::adopt(std::move(function));
    ASSERT_TRUE(board.ok());
    board_ = std::move(*board);
  }

  Mmu& mmu() { return board_->mmu(); }

  FakeFunction* fake_ = nullptr;
  std::shared_ptr<FakeBar> registers_;
  std::shared_ptr<FakeBar> aperture_;
  std::unique_ptr<Board> board_;
};

TEST_F(MmuTest,
       given_eight_spaces_when_all_are_acquired_then_space_0_is_never_given_and_the_eighth_is_refused) {
  std::set<unsigned> given;
  for (int count = 0; count < 7; ++count) {
    Result<unsigned> space = mmu().acquire_space();
    ASSERT_TRUE(space.ok());
    given.insert(*space);
  }
  EXPECT_EQ(given.size(), 7U);
  EXPECT_EQ(given.count(0), 0U);
  EXPECT_EQ(mmu().acquire_space().error().code, ErrorCode::out_of_device_memory);
  mmu().release_space(3);
  EXPECT_EQ(*mmu().acquire_space(), 3U);
}

TEST_F(MmuTest, given_entries_when_written_then_they_stand_in_the_aperture) {
  const std::uint64_t entries[] = {0x1111, 0x2222, 0x3333};
  ASSERT_TRUE(mmu().write_entries({0x8000, 0}, entries).ok());
  EXPECT_EQ(aperture_->read64(0x8000), 0x1111U);
  EXPECT_EQ(aperture_->read64(0x8010), 0x3333U);
}

TEST_F(MmuTest, given_entries_outside_the_fixed_aperture_when_written_then_they_are_refused) {
  const std::uint64_t entries[] = {1, 2};
  EXPECT_EQ(mmu().write_entries({(4ULL << 20U) - 8, 0}, entries).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(mmu().write_entries({~0ULL - 7, 0}, entries).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(mmu().write_entries({0, 1}, entries).error().code, ErrorCode::invalid_argument);
}

TEST_F(MmuTest, given_a_range_when_invalidated_then_whole_pages_are_and_the_call_waits_for_the_board) {
  registers_->on_write = [&](std::uint64_t offset, std::uint64_t value) {
    if (offset == hw::inv_command) {
      EXPECT_EQ(value, 1U);
      registers_->set32(hw::inv_status, hw::InvStatusRegister{}.set_busy(true).raw);
    }
  };
  std::thread board_side([&] {
    while (registers_->read32(hw::inv_status) == 0) {
      std::this_thread::yield();
    }
    registers_->set32(hw::inv_status, hw::InvStatusRegister{}.set_done_count(1).raw);
  });
  EXPECT_TRUE(mmu().invalidate(5, DeviceVa{0x7000'1234}, 0x1000).ok());
  board_side.join();
  EXPECT_EQ(registers_->read32(hw::inv_space), 5U);
  EXPECT_EQ(registers_->read64(hw::inv_address), 0x7000'1000U);
  EXPECT_EQ(registers_->read64(hw::inv_bytes), 0x2000U);
}

TEST_F(MmuTest, given_an_invalidation_that_never_ends_then_the_board_is_lost_within_the_bound) {
  registers_->set32(hw::inv_status, hw::InvStatusRegister{}.set_busy(true).raw);
  fake_->clock_step_ns = 50'000'000;
  EXPECT_EQ(mmu().invalidate(1, DeviceVa{0}, 0).error().code, ErrorCode::device_lost);
  EXPECT_TRUE(board_->is_lost());
}

TEST_F(MmuTest, given_a_root_when_set_then_it_is_valid_and_the_space_is_invalidated) {
  std::uint64_t commands = 0;
  registers_->on_write = [&](std::uint64_t offset, std::uint64_t) {
    commands += offset == hw::inv_command ? 1 : 0;
  };
  ASSERT_TRUE(mmu().set_root(2, {0x5000, 0}).ok());
  EXPECT_EQ(registers_->read64(hw::space_root(2)), 0x5001U);
  EXPECT_EQ(registers_->read64(hw::inv_bytes), 0U);
  ASSERT_TRUE(mmu().clear_root(2).ok());
  EXPECT_EQ(registers_->read64(hw::space_root(2)), 0U);
  EXPECT_EQ(commands, 2U);
  EXPECT_EQ(mmu().set_root(2, {0x5008, 0}).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace datum::test
