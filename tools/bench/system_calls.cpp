#include "tools/bench/system_calls.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace datum::bench {
namespace {

/// A child that this process traces; killed at the end.
class TracedChild {
 public:
  explicit TracedChild(const std::function<void(const Counted&)>& program) : process_(::fork()) {
    if (process_ != 0) {
      return;
    }
    try {
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) {
        program([](const std::function<void()>& body) {
          ::raise(SIGUSR1);
          body();
          ::raise(SIGUSR1);
          ::raise(SIGUSR1);  // between these two is nothing but what a mark takes
        });
      }
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "datum-bench: %s\n", failure.what());
    }
    ::_exit(1);
  }

  ~TracedChild() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
  }

  TracedChild(const TracedChild&) = delete;
  TracedChild& operator=(const TracedChild&) = delete;

  /// Lets it go on to its next mark. How many system calls it made meanwhile; nothing: it ended.
  std::optional<long> run_to_mark(bool count) {
    constexpr int system_call = SIGTRAP | 0x80;
    long stops = 0;
    int pass_on = 0;
    for (;;) {
      if (started_ && ::ptrace(count ? PTRACE_SYSCALL : PTRACE_CONT, process_, nullptr, pass_on) != 0) {
        return std::nullopt;
      }
      int status = 0;
      if (::waitpid(process_, &status, 0) != process_ || !WIFSTOPPED(status)) {
        process_ = -1;
        return std::nullopt;
      }
      if (!started_) {
        started_ = true;
        ::ptrace(PTRACE_SETOPTIONS, process_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
      }
      pass_on = 0;
      if (WSTOPSIG(status) == system_call) {
        ++stops;  // once when it begins and once when it ends
      } else if (WSTOPSIG(status) == SIGUSR1) {
        return stops / 2;
      } else {
        pass_on = WSTOPSIG(status);
      }
    }
  }

 private:
  pid_t process_;
  bool started_ = false;
};

}  // namespace

std::optional<long> count_system_calls(const std::function<void(const Counted&)>& program) {
  TracedChild child(program);
  if (!child.run_to_mark(false)) {
    return std::nullopt;
  }
  const std::optional<long> with_body = child.run_to_mark(true);
  const std::optional<long> mark_alone = with_body ? child.run_to_mark(true) : std::nullopt;
  return mark_alone ? std::optional(*with_body - *mark_alone) : std::nullopt;
}

}  // namespace datum::bench
