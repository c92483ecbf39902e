// A golden model as the commands see a board.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "sim/backend.hpp"
#include "tools/datum/open_board.hpp"

namespace datum::test {

/// 32 MiB of memory of which the fixed aperture shows 1 MiB and the window 64 KiB, so that both are moved
/// about.
class ModelBoard : public ::testing::Test {
 protected:
  void SetUp() override {
    auto function = sim::open_simulated("model:memory=32M,aperture=1M,window=64K");
    ASSERT_TRUE(function) << function.error().message;
    function_ = function->get();
    auto board = tool::adopt_board(std::move(function).value());
    ASSERT_TRUE(board) << board.error().message;
    board_ = std::make_unique<tool::OpenBoard>(std::move(board).value());
  }

  std::unique_ptr<tool::OpenBoard> board_;
  sim::SimFunction* function_ = nullptr;
};

}  // namespace datum::test
