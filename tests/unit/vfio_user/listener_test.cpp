// Where a server listens, and what it never overwrites.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/server/socket_listener.hpp"
#include "tests/support/board_server_process.hpp"
#include "tests/unit/vfio_user/raw_peer.hpp"

namespace datum::test {
namespace {

class Listener : public ::testing::Test {
 protected:
  static ErrorCode refusal(const std::string& path) {
    const auto listener = sim::SocketListener::open(path);
    return listener ? ErrorCode::not_ready : listener.error().code;
  }

  /// In a child process, of a user who is not this one: 0, or the errno of connect. Others may look into the
  /// folder.
  [[nodiscard]] int connect_as_another_user(const std::string& path) const {
    constexpr uid_t nobody = 65534;
    using std::filesystem::perms;
    std::filesystem::permissions(folder_.path(), perms::owner_all | perms::group_exec | perms::others_exec);
    const pid_t child = ::fork();
    if (child == 0) {
      const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      path.copy(address.sun_path, sizeof address.sun_path - 1);
      const bool other = ::setuid(nobody) == 0;
      ::_exit(!other ? 255
              : ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0
                  ? 0
                  : errno);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
  }

  PrivateFolder folder_;
};

TEST_F(Listener, given_a_new_path_when_opened_then_only_the_owner_may_connect_and_it_goes_at_the_end) {
  const auto path = folder_.path("board");
  {
    const auto listener = sim::SocketListener::open(path);
    ASSERT_TRUE(listener) << listener.error().message;

    struct stat status {};

    ASSERT_EQ(::lstat(path.c_str(), &status), 0);
    EXPECT_TRUE(S_ISSOCK(status.st_mode));
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(Listener, given_a_server_that_listens_when_another_wants_its_path_then_it_is_refused) {
  const auto path = folder_.path("board");
  const auto first = sim::SocketListener::open(path);
  ASSERT_TRUE(first);
  EXPECT_EQ(refusal(path), ErrorCode::not_available);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(Listener, given_a_socket_of_a_dead_server_when_opened_then_it_is_replaced) {
  const auto path = folder_.path("board");
  {
    const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  EXPECT_TRUE(sim::SocketListener::open(path));
}

TEST_F(Listener, given_something_else_at_the_path_when_opened_then_it_is_left_alone) {
  const auto path = folder_.path("precious");
  std::ofstream(path) << "data";
  EXPECT_EQ(refusal(path), ErrorCode::invalid_argument);
  const auto link = folder_.path("link");
  std::filesystem::create_symlink(path, link);
  EXPECT_EQ(refusal(link), ErrorCode::invalid_argument);
  EXPECT_EQ(std::filesystem::file_size(path), 4U);
}

TEST_F(Listener, given_paths_that_cannot_be_when_opened_then_each_is_refused) {
  EXPECT_EQ(refusal(""), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(folder_.path(std::string(200, 'x'))), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(folder_.path("no/such/folder")), ErrorCode::not_available);
}

TEST_F(Listener, given_a_folder_that_others_may_change_when_opened_then_it_is_refused) {
  const auto open = folder_.path("open");
  std::filesystem::create_directory(open);
  std::filesystem::permissions(open, std::filesystem::perms::all);
  EXPECT_EQ(refusal(open + "/board"), ErrorCode::insufficient_permissions);
}

TEST_F(Listener, given_a_path_that_was_taken_over_when_closed_then_the_new_file_stays) {
  const auto path = folder_.path("board");
  {
    const auto listener = sim::SocketListener::open(path);
    ASSERT_TRUE(listener);
    std::filesystem::remove(path);
    std::ofstream(path) << "other";
  }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(Listener, given_another_user_when_he_connects_then_he_is_refused_also_where_the_mode_lets_him) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can become another user";
  }
  const auto path = folder_.path("board");
  const auto listener = sim::SocketListener::open(path);
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_EQ(connect_as_another_user(path), EACCES) << "the socket's mode";
  std::filesystem::permissions(path, std::filesystem::perms::all);
  ASSERT_EQ(connect_as_another_user(path), 0);
  EXPECT_FALSE(listener->accept().valid()) << "the comparison of users";
}

}  // namespace
}  // namespace datum::test
