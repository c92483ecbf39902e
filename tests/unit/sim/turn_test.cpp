#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sim/board/turn.hpp"

namespace datum::sim {
namespace {

bool sleeps(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  return line.find(") S ") != std::string::npos;
}

TEST(Turn, given_a_caller_that_comes_back_at_once_when_the_board_has_waited_then_the_board_is_next) {
  Turn turn;
  std::atomic<int> board_thread{0};
  std::atomic<bool> board_was_in{false};
  std::thread board;
  {
    const Turn::Scope first(turn);
    board = std::thread([&] {
      board_thread = ::gettid();
      const Turn::Behind behind(turn);
      board_was_in = true;
    });
    while (board_thread == 0 || !sleeps(board_thread)) {
      std::this_thread::yield();
    }
  }
  {
    const Turn::Scope again(turn);
    EXPECT_TRUE(board_was_in);
  }
  board.join();
}

}  // namespace
}  // namespace datum::sim
