// The trace of a whole process: when it begins, what a child does, when the file is written.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driver/trace/trace.hpp"

namespace datum::test {

namespace {

using nlohmann::json;

/// Each test is in a process of its own, as ctest runs them; still, nothing is traced before.
class TraceFile : public ::testing::Test {
 protected:
  TraceFile() {
    std::string pattern = ::testing::TempDir() + "datum-trace-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    file_ = folder_ + "/out.json";
  }

  ~TraceFile() override {
    ::unsetenv("DATUM_TRACE");
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  /// The exit status of a child that does this and exits as programs do.
  static int in_child(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      std::exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }

  static json read(const std::string& path) {
    std::ifstream file(path);
    return file ? json::parse(file) : json();
  }

  static std::size_t calls_in(const json& timeline) {
    std::size_t count = 0;
    for (const json& event : timeline.at("traceEvents")) {
      count += event.contains("cat") && event.at("cat") == "api" ? 1 : 0;
    }
    return count;
  }

  static void make_calls(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      trace::Call call("zeX(number)", {i});
    }
  }

  std::string folder_;
  std::string file_;
};

}  // namespace

TEST_F(TraceFile, given_no_file_when_a_process_starts_then_it_is_not_traced) {
  ::unsetenv("DATUM_TRACE");
  trace::start_if_wanted();
  EXPECT_FALSE(trace::on());
}

TEST_F(TraceFile, given_a_file_when_the_process_exits_then_its_calls_are_in_it) {
  ::setenv("DATUM_TRACE", file_.c_str(), 1);
  EXPECT_EQ(in_child([] {
              trace::start_if_wanted();
              make_calls(3);
            }),
            0);
  EXPECT_EQ(calls_in(read(file_)), 3U);
}

TEST_F(TraceFile, given_a_small_buffer_when_there_are_more_calls_then_the_last_are_kept) {
  ::setenv("DATUM_TRACE", file_.c_str(), 1);
  ::setenv("DATUM_TRACE_EVENTS", "1024", 1);
  EXPECT_EQ(in_child([] {
              trace::start_if_wanted();
              make_calls(3000);
            }),
            0);
  ::unsetenv("DATUM_TRACE_EVENTS");
  const json timeline = read(file_);
  EXPECT_EQ(calls_in(timeline), 1024U);
  EXPECT_EQ(timeline.at("otherData").at("lost_events"), 3000 - 1024);
}

TEST_F(TraceFile, given_a_traced_process_when_a_child_is_traced_too_then_each_has_its_file) {
  ::setenv("DATUM_TRACE", file_.c_str(), 1);
  pid_t grandchild = 0;
  int channel[2];
  ASSERT_EQ(::pipe(channel), 0);
  EXPECT_EQ(in_child([&] {
              trace::start_if_wanted();
              make_calls(1);
              static_cast<void>(in_child([&] {
                trace::start_if_wanted();
                make_calls(2);
                const pid_t own = ::getpid();
                EXPECT_EQ(::write(channel[1], &own, sizeof own), static_cast<ssize_t>(sizeof own));
              }));
              make_calls(3);
            }),
            0);
  ASSERT_EQ(::read(channel[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  EXPECT_EQ(calls_in(read(file_)), 4U);
  EXPECT_EQ(calls_in(read(file_ + "." + std::to_string(grandchild))), 2U);
}

TEST_F(TraceFile, given_a_child_that_does_not_use_the_driver_when_it_exits_then_it_writes_nothing) {
  ::setenv("DATUM_TRACE", file_.c_str(), 1);
  EXPECT_EQ(in_child([] {
              trace::start_if_wanted();
              make_calls(1);
              static_cast<void>(in_child([] {}));
              make_calls(1);
            }),
            0);
  EXPECT_EQ(calls_in(read(file_)), 2U);
}

TEST_F(TraceFile, given_a_file_that_cannot_be_written_when_started_then_there_is_no_trace) {
  ::setenv("DATUM_TRACE", "/nonexistent/folder/out.json", 1);
  EXPECT_EQ(in_child([] {
              trace::start_if_wanted();
              std::_Exit(trace::on() ? 1 : 0);
            }),
            0);
}

TEST_F(TraceFile, given_nested_calls_when_asked_then_the_innermost_is_the_current_one) {
  ::setenv("DATUM_TRACE", file_.c_str(), 1);
  EXPECT_EQ(in_child([] {
              trace::start_if_wanted();
              bool good = trace::current_call() == 0;
              {
                trace::Call outer("zeX()", {});
                const std::uint64_t outer_number = trace::current_call();
                {
                  trace::Call inner("zeY()", {});
                  good = good && trace::current_call() != outer_number;
                }
                good = good && trace::current_call() == outer_number && outer_number != 0;
              }
              std::_Exit(good && trace::current_call() == 0 ? 0 : 1);
            }),
            0);
}

}  // namespace datum::test
