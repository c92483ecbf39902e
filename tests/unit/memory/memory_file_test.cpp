#include <csignal>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <gtest/gtest.h>

#include <datum/base/memory_file.hpp>
#include <datum/base/unique_fd.hpp>

namespace datum {
namespace {

int resize_under_a_limit(std::uint64_t bytes) {
  const rlimit limit{4096, 4096};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  return resize_memory_file(file.get(), bytes);
}

bool signal_is_left_over() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGXFSZ) != 0;
}

TEST(MemoryFile, given_a_limit_of_file_size_when_resized_beyond_it_then_no_signal_ends_the_process) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(resize_under_a_limit(1U << 20U) == EFBIG && !signal_is_left_over() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(MemoryFile, given_a_limit_of_file_size_when_resized_within_it_then_it_succeeds) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(resize_under_a_limit(4096));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace datum
