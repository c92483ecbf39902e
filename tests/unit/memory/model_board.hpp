// A board of the golden model, and the parts of a device around it, for tests of memory that want the board's
// own word.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "driver/device/board.hpp"
#include "sim/backend.hpp"

namespace datum::test {

/// `options` as in an address: "memory=64M".
inline std::unique_ptr<Board> open_model(const std::string& options = {}) {
  auto function = sim::open_simulated("model:" + options);
  if (!function.ok()) {
    ADD_FAILURE() << function.error().message;
    return nullptr;
  }
  Result<std::unique_ptr<Board>> board = Board::adopt(std::move(*function));
  if (!board.ok()) {
    ADD_FAILURE() << board.error().message;
    return nullptr;
  }
  return std::move(*board);
}

}  // namespace datum::test
