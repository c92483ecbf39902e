// Threads of Datum's own: signals pass them by, and they know when nobody is left to work for.
#include <atomic>
#include <csignal>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include <datum/base/service_thread.hpp>

namespace datum {
namespace {

[[noreturn]] void look_around() {
  while (!service_thread_detail::first_thread_has_ended()) {
    std::this_thread::yield();
  }
  ::_exit(only_service_threads_left() ? 1 : 0);
}

void be_service() {
  name_service_thread('t');
  look_around();
}

void be_application() { look_around(); }

void be_service_that_lets_the_application_begin_a_thread() {
  name_service_thread('t');
  std::thread(look_around).detach();
  while (true) {
    ::pause();
  }
}

/// In a process of its own: the first thread ends, a second one lives on. 1: it was found that only ours are
/// left; 0: that others are.
int answer_after_the_first_thread(void (*second)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread(second).detach();
    ::syscall(SYS_exit, 0);  // this thread alone; pthread_exit would unwind through the test
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ServiceThread, given_a_process_whose_first_thread_lives_then_the_application_is_there) {
  EXPECT_FALSE(only_service_threads_left());
  std::thread([] {
    name_service_thread('t');
    EXPECT_FALSE(only_service_threads_left());
  }).join();
}

TEST(ServiceThread, given_only_our_threads_after_the_first_has_ended_then_the_application_is_gone) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer's own thread is one that cannot be told from the application's";
#endif
  EXPECT_EQ(1, answer_after_the_first_thread(be_service));
}

TEST(ServiceThread, given_a_thread_of_the_application_after_the_first_has_ended_then_it_is_there) {
  EXPECT_EQ(0, answer_after_the_first_thread(be_application));
  EXPECT_EQ(0, answer_after_the_first_thread(be_service_that_lets_the_application_begin_a_thread));
}

TEST(ServiceThread,
     given_blocked_signals_when_a_thread_starts_then_it_takes_none_and_the_starter_is_as_before) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  sigset_t inside;
  {
    const BlockedSignals blocked;
    std::thread([&] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); }).join();
  }
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGTERM, SIGINT, SIGALRM, SIGCHLD, SIGUSR1}) {
    EXPECT_EQ(1, sigismember(&inside, signal)) << signal;
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

}  // namespace
}  // namespace datum
