#include "tests/conformance/fact_record.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

namespace datum::test::conformance {
namespace {

constexpr const char* facts_variable = "DATUM_CONFORMANCE_FACTS";
constexpr const char* test_variable = "DATUM_CONFORMANCE_TEST";

/// Opened before the first test, so that tests which count descriptors see the same number all along, and
/// those which exhaust them can still be recorded; far from the numbers that tests open and close. Children
/// append to the file of their parent.
int open_facts() {
  const char* path = std::getenv(facts_variable);
  if (path == nullptr || *path == '\0') {
    return -1;
  }
  constexpr int far_number = 200;
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const int far = ::fcntl(file, F_DUPFD_CLOEXEC, far_number);
  if (far < 0) {
    std::fprintf(stderr, "%s=%s cannot be written: %s\n", facts_variable, path, std::strerror(errno));
    std::exit(2);
  }
  ::close(file);
  return far;
}

const char* board_of_process() {
  const char* boards = std::getenv("DATUM_BOARDS");
  if (boards != nullptr && std::strstr(boards, "rtl:") != nullptr) {
    return "rtl";
  }
  return boards != nullptr && std::strstr(boards, "model:") != nullptr ? "model" : "none";
}

const int facts = open_facts();
const char* const board = board_of_process();

std::array<char, 512> current_test{};
/// Fingerprints of what the current test has shown; 0 is a free place.
std::array<std::atomic<std::uint64_t>, 4096> seen{};

void name_test(const char* name) { std::snprintf(current_test.data(), current_test.size(), "%s", name); }

/// A child begins with the name of its parent's test.
[[maybe_unused]] const bool named = [] {
  const char* name = std::getenv(test_variable);
  name_test(name != nullptr ? name : "");
  return name != nullptr;
}();

std::uint64_t fingerprint(const Call& call, const char* argument) {
  std::uint64_t hash = 0x9e3779b97f4a7c15U;
  for (const std::uint64_t part :
       {reinterpret_cast<std::uint64_t>(call.function), reinterpret_cast<std::uint64_t>(argument),
        static_cast<std::uint64_t>(call.result)}) {
    hash = (hash ^ part) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32U;
  }
  return hash | 1U;
}

/// True the first time. When the table is full, facts are written more than once, which does no harm.
bool is_new(std::uint64_t print) {
  for (std::size_t step = 0; step < seen.size(); ++step) {
    std::atomic<std::uint64_t>& place = seen[(print / 2 + step) % seen.size()];
    std::uint64_t found = place.load(std::memory_order_relaxed);
    if (found == 0 && place.compare_exchange_strong(found, print, std::memory_order_relaxed)) {
      return true;
    }
    if (found == print) {
      return false;
    }
  }
  return true;
}

/// One line with one system call, so that lines of several processes do not mix. A line that is lost (a child
/// may have closed the file) can only make a row look missing, never shown.
void write_line(const char* text, int length) {
  [[maybe_unused]] const ssize_t written = ::write(facts, text, static_cast<std::size_t>(length));
}

class TestFollower : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo& test) override {
    name_test((std::string(test.test_suite_name()) + "." + test.name()).c_str());
    ::setenv(test_variable, current_test.data(), 1);
    for (std::atomic<std::uint64_t>& place : seen) {
      place.store(0, std::memory_order_relaxed);
    }
  }

  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (test.result()->Passed()) {
      std::array<char, 600> line{};
      write_line(line.data(), std::snprintf(line.data(), line.size(), "passed\t%s\n", current_test.data()));
    }
  }
};

}  // namespace

bool recording() { return facts >= 0; }

void note(const Call& call, const char* argument) {
  if (!is_new(fingerprint(call, argument))) {
    return;
  }
  const int error = errno;
  std::array<char, 1024> line{};
  const int length =
      std::snprintf(line.data(), line.size(), "fact\t%s\t%s\t%s\t%s\t0x%x\n", board, current_test.data(),
                    call.function, argument != nullptr ? argument : "-", static_cast<unsigned>(call.result));
  write_line(line.data(), length);
  errno = error;
}

void follow_tests() {
  if (!recording()) {
    return;
  }
  if (::ftruncate(facts, 0) != 0) {
    std::fprintf(stderr, "%s: cannot be emptied: %s\n", facts_variable, std::strerror(errno));
    std::exit(2);
  }
  ::testing::UnitTest::GetInstance()->listeners().Append(new TestFollower);  // owned by GoogleTest
}

}  // namespace datum::test::conformance
