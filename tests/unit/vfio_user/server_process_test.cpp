// The program datum-board, from its start to its end.
#include <csignal>
#include <filesystem>
#include <sys/un.h>
#include <thread>

#include <datum/hw/registers.hpp>

#include "tests/support/board_server_process.hpp"
#include "tests/unit/vfio_user/raw_peer.hpp"
#include "vfio_backend/user/user_function.hpp"

namespace datum::test {
namespace {

using vfio_user::UserFunction;

class ServerProcess : public ::testing::Test {
 protected:
  ServerProcess() : path_(folder_.path("board")) {}

  [[nodiscard]] Result<std::unique_ptr<UserFunction>> open() const { return UserFunction::open(address()); }

  [[nodiscard]] std::string address() const { return "vfio-user:" + path_; }

  PrivateFolder folder_;
  std::string path_;
};

TEST_F(ServerProcess, given_two_runs_in_a_row_when_the_second_opens_then_its_board_is_new) {
  BoardServerProcess server("model:memory=16M", path_);
  for (int run = 0; run < 3; ++run) {
    const auto function = open();
    ASSERT_TRUE(function) << function.error().message;
    auto& registers = **(*function)->bar(0);
    auto& aperture = **(*function)->bar(2);
    EXPECT_EQ(registers.read32(hw::magic), hw::magic_value);
    EXPECT_EQ(registers.read64(hw::scratch), 0U);
    EXPECT_EQ(aperture.read64(0x1000), 0U) << "memory of the run before";
    registers.write64(hw::scratch, 1);
    aperture.write64(0x1000, 0x5ec4e7);
  }
}

TEST_F(ServerProcess, given_a_client_when_a_second_one_comes_then_it_is_told_that_the_board_is_in_use) {
  BoardServerProcess server("model:memory=16M", path_);
  const auto first = open();
  ASSERT_TRUE(first) << first.error().message;
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::not_available);
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
  EXPECT_TRUE((*first)->health());
}

TEST_F(ServerProcess, given_a_client_when_others_look_then_they_see_and_change_its_registers_and_memory) {
  BoardServerProcess server("model:memory=16M", path_, {"--look"});
  const auto client = open();
  ASSERT_TRUE(client) << client.error().message;
  (*(*client)->bar(0))->write64(hw::scratch, 0x1234);
  (*(*client)->bar(2))->write64(0x1000, 0x5678);
  {
    const auto onlooker = UserFunction::open(address() + ".look");
    ASSERT_TRUE(onlooker) << onlooker.error().message;
    EXPECT_EQ((*(*onlooker)->bar(0))->read64(hw::scratch), 0x1234U);
    EXPECT_EQ((*(*onlooker)->bar(2))->read64(0x1000), 0x5678U);
    (*(*onlooker)->bar(0))->write64(hw::scratch, 0x9abc);
  }
  EXPECT_EQ((*(*client)->bar(0))->read64(hw::scratch), 0x9abcU);
  EXPECT_TRUE((*client)->health()) << "an onlooker that goes leaves the client its board";
}

TEST_F(ServerProcess, given_an_onlooker_when_it_maps_memory_or_resets_then_it_is_refused) {
  BoardServerProcess server("model:memory=16M", path_, {"--look"});
  const auto onlooker = UserFunction::open(address() + ".look");
  ASSERT_TRUE(onlooker) << onlooker.error().message;
  alignas(4096) static std::byte page[4096];
  EXPECT_FALSE((*onlooker)->dma_map(Iova{0x10000}, page, board::DmaAccess::read_write));
  EXPECT_FALSE((*onlooker)->reset(board::ResetKind::function));
}

TEST_F(ServerProcess, given_an_onlooker_when_the_client_goes_then_the_look_ends_with_the_board) {
  BoardServerProcess server("model:memory=16M", path_, {"--look"});
  auto client = open();
  const auto onlooker = UserFunction::open(address() + ".look");
  ASSERT_TRUE(client);
  ASSERT_TRUE(onlooker);
  client = Error{};
  const auto next = open();  // waits until the new board is there
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ((*(*onlooker)->bar(0))->read32(hw::magic), ~0U);
}

TEST_F(ServerProcess, given_no_leave_to_look_when_somebody_tries_then_there_is_no_socket) {
  BoardServerProcess server("model:memory=16M", path_);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".look"));
}

TEST_F(ServerProcess, given_many_onlookers_when_one_more_comes_then_it_alone_is_turned_away) {
  BoardServerProcess server("model:memory=16M", path_, {"--look"});
  std::vector<std::unique_ptr<UserFunction>> onlookers;
  for (unsigned i = 0; i < 8; ++i) {
    auto onlooker = UserFunction::open(address() + ".look");
    ASSERT_TRUE(onlooker) << onlooker.error().message;
    onlookers.push_back(std::move(onlooker).value());
  }
  EXPECT_FALSE(UserFunction::open(address() + ".look"));
  EXPECT_TRUE(open());
}

TEST_F(ServerProcess, given_several_boards_when_opened_at_once_then_each_is_its_own) {
  const auto other = folder_.path("other");
  BoardServerProcess server("model:memory=16M", path_, {"--board", "model:memory=32M", "--socket", other});
  const auto first = open();
  const auto second = UserFunction::open("vfio-user:" + other);
  ASSERT_TRUE(first && second);
  EXPECT_EQ((*(*first)->bar(0))->read64(hw::memory_bytes), 16U << 20U);
  EXPECT_EQ((*(*second)->bar(0))->read64(hw::memory_bytes), 32U << 20U);
}

TEST_F(ServerProcess,
       given_its_end_is_asked_for_when_a_client_is_there_then_the_socket_goes_and_the_client_knows) {
  BoardServerProcess server("model:memory=16M", path_);
  const auto function = open();
  ASSERT_TRUE(function);
  std::thread waiter([&] {
    const auto outcome = (*function)->wait(board::any_vector, -1, board::no_deadline);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::device_lost);
  });
  server.send(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
  waiter.join();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  EXPECT_EQ((*function)->health().error().code, ErrorCode::device_lost);
  EXPECT_EQ((*(*function)->bar(0))->read32(hw::magic), ~0U);
  EXPECT_EQ((*(*function)->bar(2))->read64(0), ~0ULL) << "also where it is mapped";
}

TEST_F(ServerProcess, given_it_was_killed_when_started_again_then_it_takes_its_socket_back) {
  {
    BoardServerProcess server("model:memory=16M", path_);
    server.send(SIGKILL);
    EXPECT_EQ(server.wait(), 128 + SIGKILL);
  }
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_available);
  EXPECT_NE(refused.error().hint.find("datum-board"), std::string::npos) << refused.error().hint;
  BoardServerProcess server("model:memory=16M", path_);
  EXPECT_TRUE(open());
}

TEST_F(ServerProcess, given_the_signal_for_it_when_sent_then_it_says_what_its_boards_do) {
  BoardServerProcess server("model:memory=16M", path_);
  server.send(SIGUSR1);
  EXPECT_NE(server.read_line().find("no client"), std::string::npos);
  const auto function = open();
  ASSERT_TRUE(function);
  server.send(SIGUSR1);
  const std::string line = server.read_line();
  EXPECT_NE(line.find("client process " + std::to_string(::getpid())), std::string::npos) << line;
}

TEST_F(ServerProcess, given_boards_that_cannot_be_served_when_started_then_it_ends_at_once) {
  for (const char* board : {"model:step", "model:memory=7", "vfio:", "nonsense"}) {
    EXPECT_THROW(BoardServerProcess(board, path_), std::runtime_error) << board;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace datum::test
