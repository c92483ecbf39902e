// What a register access costs beside the load itself, in instructions.
#include <csignal>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test_run.hpp"
#include "tests/unit/vfio/card_test.hpp"

namespace datum::test {
namespace {

/// Instructions of a child between two signals that it raises around `body`: those of raising are counted,
/// too.
template <class Body>
long instructions_with(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGUSR1);
    body();
    ::raise(SIGUSR1);
    ::_exit(0);
  }
  int status = 0;
  const auto stopped_by = [&](int signal) {
    return ::waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == signal;
  };
  long count = -1;
  if (stopped_by(SIGUSR1)) {
    do {
      ++count;
      ::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
    } while (stopped_by(SIGTRAP));
  }
  const bool whole = WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1;
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return whole ? count : -1;
}

class Instructions : public EitherInterface {
 protected:
  static constexpr long most_added = 20;

  void SetUp() override {
    if (sanitized()) {
      GTEST_SKIP() << "a sanitizer adds instructions of its own";
    }
    plug({.registers_in_memory = true});
    open_it();
  }

  /// Instructions of `access` above those of `bare`.
  template <class Access, class Bare>
  static void expect_cheap(const Access& access, const Bare& bare, const char* what) {
    const long with_driver = instructions_with(access);
    const long alone = instructions_with(bare);
    ASSERT_GT(alone, 0) << "this process may not be traced";
    ASSERT_GT(with_driver, alone);
    EXPECT_LE(with_driver - alone, most_added) << what;
    RecordProperty(what, static_cast<int>(with_driver - alone));
    std::printf("%s adds %ld instructions\n", what, with_driver - alone);
  }
};

DATUM_THROUGH_EITHER(Instructions);

TEST_P(Instructions, an_access_of_a_mapped_register_adds_twenty_at_most) {
  board::Bar& bar = registers();
  std::byte* const memory = card_->registers();
  volatile std::uint64_t kept = 0;
  constexpr std::uint64_t offset = RegisterCard::scratch;
  expect_cheap([&] { kept = bar.read32(offset); },
               [&] { kept = *reinterpret_cast<const volatile std::uint32_t*>(memory + offset); }, "read32");
  expect_cheap([&] { kept = bar.read64(offset); },
               [&] { kept = *reinterpret_cast<const volatile std::uint64_t*>(memory + offset); }, "read64");
  expect_cheap([&] { bar.write32(offset, 1); },
               [&] { *reinterpret_cast<volatile std::uint32_t*>(memory + offset) = 1; }, "write32");
  expect_cheap([&] { bar.write64(offset, 1); },
               [&] { *reinterpret_cast<volatile std::uint64_t*>(memory + offset) = 1; }, "write64");
}

}  // namespace
}  // namespace datum::test
