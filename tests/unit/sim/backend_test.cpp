// The plugin's table.

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sim/backend.hpp"
#include "tests/support/no_more_threads.hpp"

namespace datum::sim {
namespace {

/// An environment variable, for the length of a test.
class TemporaryVariable {
 public:
  TemporaryVariable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }

  ~TemporaryVariable() { ::unsetenv(name_); }

  TemporaryVariable(const TemporaryVariable&) = delete;
  TemporaryVariable& operator=(const TemporaryVariable&) = delete;

 private:
  const char* name_;
};

const board::Backend& backend(std::string_view scheme) {
  for (const auto& entry : backends()) {
    if (entry.scheme == scheme) {
      return entry;
    }
  }
  throw std::runtime_error("no such backend");
}

TEST(SimulationBackends, offer_nothing_that_was_not_asked_for) {
  EXPECT_TRUE(backend("model").list().empty());
  EXPECT_TRUE(backend("rtl").list().empty());
}

TEST(SimulationBackends, open_a_board_under_its_whole_address) {
  const auto opened = backend("model").open("model:memory=16M,step");
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->info().address, "model:memory=16M,step");
}

TEST(SimulationBackends, let_nobody_print_into_the_memory_of_a_board) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard) {
      ::close(standard);
    }
    const auto opened = backend("model").open("model:memory=16M,step");
    bool printed = !opened;
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard) {
      printed = ::write(standard, "x", 1) >= 0 || printed;
    }
    ::_exit(printed ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(SimulationBackends, refuse_a_board_when_the_process_may_have_no_more_threads) {
  const test::NoMoreThreads none;
  const auto refused = backend("model").open("model:memory=16M");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_host_memory);
  EXPECT_NE(refused.error().message.find("no thread"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(backend("model").open("model:memory=16M,step")) << "it needs none";
}

TEST(SimulationBackends, diagnose_says_why_a_board_does_not_open) {
  EXPECT_EQ(backend("model").diagnose("model:memory=16M"), "");
  const auto text = backend("model").diagnose("model:memory=0");
  EXPECT_NE(text.find("memory=0"), std::string::npos) << text;
  EXPECT_NE(text.find("docs/simulation.md"), std::string::npos) << text;
}

TEST(SimulationBackends, take_defaults_from_the_environment) {
  const TemporaryVariable variable("DATUM_SIM_OPTIONS", "memory=32M,locked=1M");
  const auto opened = open_simulated("model:");
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->limits().max_locked_bytes, 1ULL << 20U);
  EXPECT_EQ((*opened)->info().bars[2].size_bytes, 64ULL << 20U);
}

}  // namespace
}  // namespace datum::sim
