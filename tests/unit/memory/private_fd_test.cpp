#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <datum/base/private_fd.hpp>

namespace datum {
namespace {

/// The exit status of a child that does `work`; its standard descriptors are its own to close.
template <class Work>
int in_child(Work&& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int open_nothing() { return ::open("/dev/null", O_RDWR | O_CLOEXEC); }

bool is_closed_on_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

TEST(PrivateFd, given_closed_standard_streams_when_something_is_opened_then_it_takes_none_of_their_places) {
  EXPECT_EQ(0, in_child([] {
              ::close(STDERR_FILENO);
              ::close(STDIN_FILENO);
              const int fd = private_fd(open_nothing());
              const bool places_are_free =
                  ::fcntl(STDIN_FILENO, F_GETFD) < 0 && ::fcntl(STDERR_FILENO, F_GETFD) < 0;
              return fd > STDERR_FILENO && places_are_free && is_closed_on_exec(fd) ? 0 : 1;
            }));
}

TEST(PrivateFd, given_open_standard_streams_when_something_is_opened_then_it_keeps_its_number) {
  const UniqueFd fd(open_nothing());
  ASSERT_TRUE(fd.valid());
  EXPECT_EQ(fd.get(), private_fd(fd.get()));
}

TEST(PrivateFd, given_a_call_that_failed_when_passed_on_then_its_reason_is_kept) {
  errno = EMFILE;
  EXPECT_EQ(-1, private_fd(-1));
  EXPECT_EQ(EMFILE, errno);
}

TEST(PrivateFd, given_no_number_to_move_to_when_moved_then_it_fails_and_nothing_stays_open) {
  EXPECT_EQ(0, in_child([] {
              ::close(STDIN_FILENO);
              const int fd = open_nothing();
              const rlimit none{STDERR_FILENO + 1, STDERR_FILENO + 1};
              ::setrlimit(RLIMIT_NOFILE, &none);
              const bool refused = fd == STDIN_FILENO && private_fd(fd) < 0 && errno != 0;
              return refused && ::fcntl(STDIN_FILENO, F_GETFD) < 0 ? 0 : 1;
            }));
}

}  // namespace
}  // namespace datum
