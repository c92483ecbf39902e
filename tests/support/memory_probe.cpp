#include "tests/support/memory_probe.hpp"

#include <array>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace datum::test {
namespace {

class ProbePipe {
 public:
  ProbePipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      ends_ = {-1, -1};
    }
  }

  ~ProbePipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  ProbePipe(const ProbePipe&) = delete;
  ProbePipe& operator=(const ProbePipe&) = delete;

  [[nodiscard]] bool put(const void* byte) const { return ::write(ends_[1], byte, 1) == 1; }

  [[nodiscard]] bool take(void* byte) const { return ::read(ends_[0], byte, 1) == 1; }

 private:
  std::array<int, 2> ends_{};
};

}  // namespace

bool host_can_read(const void* address) {
  const ProbePipe pipe;
  return pipe.put(address);
}

bool host_can_write(void* address) {
  const ProbePipe pipe;
  const unsigned char zero = 0;
  if (!pipe.put(address) && !pipe.put(&zero)) {
    return false;
  }
  return pipe.take(address);
}

bool host_load_faults(const void* address) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    ::signal(SIGBUS, SIG_DFL);
    (void)*static_cast<const volatile unsigned char*>(address);
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    return false;
  }
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
}

}  // namespace datum::test
