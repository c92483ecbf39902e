// The timeline of a program on boards, read back.

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cosim/comparison.hpp"
#include "cosim/program_trace.hpp"
#include "sim/backend.hpp"
#include "tests/unit/cosim/spoiling_function.hpp"

namespace datum::cosim {
namespace {

using nlohmann::json;

std::unique_ptr<board::PcieFunction> opened(const char* address) {
  auto function = sim::open_simulated(address);
  EXPECT_TRUE(function) << (function ? "" : function.error().message);
  return std::move(function).value();
}

class ProgramTimeline : public ::testing::Test {
 protected:
  void SetUp() override { ::close(::mkstemp(file_.data())); }

  void TearDown() override { ::unlink(file_.c_str()); }

  json written(const ProgramTrace& trace) {
    const Status status = trace.write(file_);
    EXPECT_TRUE(status) << (status ? "" : status.error().message);
    std::ifstream file(file_);
    return json::parse(file).at("traceEvents");
  }

  static std::vector<json> of_category(const json& events, const char* category) {
    std::vector<json> found;
    for (const json& event : events) {
      if (event.value("cat", "") == category) {
        found.push_back(event);
      }
    }
    return found;
  }

  std::string file_ = "/tmp/datum-program-trace-XXXXXX";
};

TEST_F(ProgramTimeline, given_two_boards_then_each_operation_has_its_descriptors_on_both) {
  const auto one = opened("model:step,memory=16M");
  const auto other = opened("model:memory=16M");
  const Program program = make_program(3);
  ProgramTrace trace(program, ProgramTrace::Order::as_it_is);
  EXPECT_EQ(trace.run(*one, "model:step,memory=16M").failure, "");
  EXPECT_EQ(trace.run(*other, "model:memory=16M").failure, "");
  const json events = written(trace);
  EXPECT_EQ(of_category(events, "api").size(), 2 * program.operations.size());
  std::set<std::uint64_t> boards;
  std::size_t with_call = 0;
  for (const json& descriptor : of_category(events, "descriptor")) {
    boards.insert(descriptor.at("pid").get<std::uint64_t>());
    with_call += descriptor.at("args").at("call") != 0 ? 1 : 0;
    EXPECT_EQ(descriptor.at("args").at("status"), "OK") << descriptor;
    EXPECT_TRUE(descriptor.at("args").contains("cycle")) << descriptor;
  }
  EXPECT_EQ(boards.size(), 2U);
  EXPECT_GE(with_call, 2 * program.operations.size());
}

TEST_F(ProgramTimeline, given_a_bug_then_the_timeline_ends_with_what_went_wrong) {
  test::SpoilingFunction bad(opened("model:step,memory=32M"));
  board::PcieFunction* const boards[] = {&bad};
  std::optional<Finding> finding;
  for (std::uint64_t seed = 1; seed <= 200 && !finding; ++seed) {
    finding = compare(make_program(seed), boards, true);
  }
  ASSERT_TRUE(finding && finding->place);
  ProgramTrace trace(finding->shortest, ProgramTrace::Order::one_by_one);
  const auto outcome = trace.run(bad, "a board with a bug");
  ASSERT_TRUE(outcome.place);
  EXPECT_EQ(outcome.place->operation, finding->place->operation);
  EXPECT_EQ(outcome.place->address, finding->place->address);
  const json events = written(trace);
  const auto calls = of_category(events, "api");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_NE(calls[0].at("name").get<std::string>().find("fill"), std::string::npos) << calls[0];
  EXPECT_NE(calls[1].at("name").get<std::string>().find("operation 0 went wrong"), std::string::npos);
  const auto descriptors = of_category(events, "descriptor");
  ASSERT_EQ(descriptors.size(), 1U);
  const std::uint64_t cycle = descriptors[0].at("args").at("cycle").get<std::uint64_t>();
  EXPECT_GE(cycle, outcome.place->first_cycle);
  EXPECT_LE(cycle, outcome.place->last_cycle);
}

TEST_F(ProgramTimeline, given_a_file_that_cannot_be_then_it_is_told) {
  const Program program = make_program(1);
  const Status status = ProgramTrace(program, ProgramTrace::Order::as_it_is).write("/nonexistent/out.json");
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("'/nonexistent/out.json' cannot be written"), std::string::npos);
}

}  // namespace
}  // namespace datum::cosim
