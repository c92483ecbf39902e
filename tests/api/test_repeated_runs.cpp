// A step-locked board repeats every bus transaction at its cycle when the same program of one thread runs
// again. Both runs are forked from one process, so that they have the same addresses, which are part of
// descriptors and page tables.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/api/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

constexpr std::size_t run_block_bytes = 24'000;  // several pages, and no whole number of them

struct Program {
  ze_device_handle_t device = nullptr;
  OwnedContext context;
  OwnedMemory host;
  OwnedMemory shared;
  OwnedMemory first;
  OwnedMemory second;
  OwnedEventPool pool;
  std::array<OwnedEvent, 6> events;
  Bytes ordinary_in = pattern(run_block_bytes, 3);
  Bytes ordinary_out = Bytes(run_block_bytes);
};

bool open_program(Program& program) {
  if (session().result != ZE_RESULT_SUCCESS) {
    return false;
  }
  program.device = session().devices.front();
  program.context = create_context(session().driver);
  program.host = allocate(MemoryKind::host, program.context, program.device, run_block_bytes);
  program.shared = allocate(MemoryKind::shared, program.context, program.device, run_block_bytes);
  program.first = allocate(MemoryKind::device, program.context, program.device, run_block_bytes);
  program.second = allocate(MemoryKind::device, program.context, program.device, run_block_bytes);
  program.pool = create_event_pool(program.context, static_cast<std::uint32_t>(program.events.size()),
                                   ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  for (std::uint32_t index = 0; index < program.events.size(); ++index) {
    program.events[index] = create_event(program.pool, index);
  }
  write_pattern(program.host.get(), run_block_bytes, 4);
  return true;
}

/// Ordinary memory goes in on one queue and comes out on another one, which waits for it; a third one fills
/// meanwhile. Two ways to wait: for a fence, and by asking again and again.
int several_queues(Program& program) {
  std::array<OwnedQueue, 3> queues;
  std::array<OwnedList, 3> lists;
  for (std::size_t index = 0; index < queues.size(); ++index) {
    queues[index] = create_queue(program.context, program.device);
    lists[index] = create_list(program.context, program.device);
  }
  ze_event_handle_t copied = program.events[0];
  ze_event_handle_t filled = program.events[1];
  const std::array<ze_event_handle_t, 2> both{copied, filled};
  const unsigned pattern_word = 0xfeedbeef;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS,
                  zeCommandListAppendMemoryCopy(lists[0], program.first.get(), program.ordinary_in.data(),
                                                run_block_bytes, copied, 0, nullptr));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS,
                  zeCommandListAppendMemoryFill(lists[1], program.second.get(), &pattern_word,
                                                sizeof pattern_word, run_block_bytes, filled, 0, nullptr));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS,
                  zeCommandListAppendMemoryCopy(lists[2], program.ordinary_out.data(), program.first.get(),
                                                run_block_bytes / 2, nullptr, 2,
                                                const_cast<ze_event_handle_t*>(both.data())));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(
                                         lists[2], program.ordinary_out.data() + run_block_bytes / 2,
                                         program.second.get(), run_block_bytes / 2, nullptr, 0, nullptr));
  const OwnedFence fence = create_fence(queues[2]);
  for (const std::size_t index : {2U, 0U, 1U}) {
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListClose(lists[index]));
    ze_command_list_handle_t list = lists[index];
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queues[index], 1, &list,
                                                                         index == 2 ? fence.get() : nullptr));
  }
  unsigned asked = 0;
  while (zeEventQueryStatus(copied) == ZE_RESULT_NOT_READY) {
    SCENARIO_REQUIRE(++asked < 10'000'000);
  }
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeFenceHostSynchronize(fence, UINT64_MAX));
  for (const OwnedQueue& queue : queues) {
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue, UINT64_MAX));
  }
  SCENARIO_REQUIRE(
      std::memcmp(program.ordinary_out.data(), program.ordinary_in.data(), run_block_bytes / 2) == 0);
  SCENARIO_REQUIRE(std::memcmp(program.ordinary_out.data() + run_block_bytes / 2, &pattern_word,
                               sizeof pattern_word) == 0);
  return 0;
}

/// A wait that ends by its time-out, on a board that waits itself and on one that has nothing to do; then the
/// host opens the gate.
int time_outs(Program& program) {
  const OwnedList list =
      create_immediate_list(program.context, program.device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ze_event_handle_t gate = program.events[2];
  const ze_event_handle_t done = program.events[3];
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 20'000'000));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS,
                  zeCommandListAppendMemoryCopy(list, program.shared.get(), program.host.get(),
                                                run_block_bytes, done, 1, &gate));
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 30'000'000));
  SCENARIO_EXPECT(ZE_RESULT_NOT_READY, zeCommandListHostSynchronize(list, 0));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventHostSynchronize(done, 20'000'000'000));
  SCENARIO_REQUIRE(std::memcmp(program.shared.get(), program.host.get(), run_block_bytes) == 0);
  ze_kernel_timestamp_result_t times{};
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeEventQueryKernelTimestamp(done, &times));
  SCENARIO_REQUIRE(times.global.kernelEnd > times.global.kernelStart);
  return zeCommandListHostSynchronize(list, UINT64_MAX) == ZE_RESULT_SUCCESS ? 0 : 1;
}

/// More commands than a ring has slots, which the host feeds while it waits; and a command whose result the
/// host itself has to move.
int work_for_the_host(Program& program) {
  constexpr int commands = 1500;
  const OwnedList list = create_immediate_list(
      program.context, program.device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const OwnedQueue queue = create_queue(program.context, program.device);
  const OwnedList many = create_list(program.context, program.device);
  for (int index = 0; index < commands; ++index) {
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS,
                    zeCommandListAppendMemoryCopy(
                        many, static_cast<unsigned char*>(program.second.get()) + index,
                        static_cast<unsigned char*>(program.host.get()) + index, 1, nullptr, 0, nullptr));
  }
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListClose(many));
  ze_command_list_handle_t handle = many;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue, 1, &handle, nullptr));
  std::uint64_t stamp = 0;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS,
                  zeCommandListAppendWriteGlobalTimestamp(list, &stamp, nullptr, 0, nullptr));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, UINT64_MAX));
  SCENARIO_REQUIRE(stamp != 0);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue, UINT64_MAX));
  Bytes back(commands);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, back.data(), program.second.get(),
                                                                   back.size(), nullptr, 0, nullptr));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(list, UINT64_MAX));
  SCENARIO_REQUIRE(std::memcmp(back.data(), program.host.get(), back.size()) == 0);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeDeviceSynchronize(program.device));
  return 0;
}

int whole_program() {
  Program program;
  SCENARIO_REQUIRE(open_program(program));
  for (const auto part : {several_queues, time_outs, work_for_the_host}) {
    if (const int status = part(program); status != 0) {
      return status;
    }
  }
  return 0;
}

/// The program on a board of its own, whose transactions go to `file`; its exit status.
int run_in_fork(const std::string& board, const std::string& file) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("DATUM_BOARDS", (board + ",transactions=" + file).c_str(), 1);
    const int status = whole_program();
    std::fflush(nullptr);
    ::_exit(status);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// The first transaction in which two runs differ, in words; empty: none.
std::string difference(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  for (std::size_t index = 0; index < first.size() || index < second.size(); ++index) {
    const std::string& one = index < first.size() ? first[index] : "the end";
    const std::string& other = index < second.size() ? second[index] : "the end";
    if (one != other) {
      return "transaction " + std::to_string(index) + " of " + std::to_string(first.size()) + ": '" + one +
             "' and '" + other + "'";
    }
  }
  return {};
}

class RepeatedRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "datum-transactions-XXXXXX";
    ASSERT_NE(nullptr, ::mkdtemp(name.data()));
    folder_ = name;
  }

  void TearDown() override {
    for (const char* file : {"/1", "/2"}) {
      ::unlink((folder_ + file).c_str());
    }
    ::rmdir(folder_.c_str());
  }

  /// Runs the program twice, on boards of these seeds.
  void run(char first_seed, char second_seed) {
    const std::string board =
        std::string(on_rtl() ? "rtl" : "model") + ":step,memory=64M,backpressure=20,seed=";
    const ChildOutcome outcome =
        run_scenario_in_child("the_same_program_twice", {{"DATUM_TEST_FIRST_BOARD", board + first_seed},
                                                         {"DATUM_TEST_SECOND_BOARD", board + second_seed},
                                                         {"DATUM_TEST_FOLDER", folder_}});
    ASSERT_TRUE(outcome.succeeded()) << outcome.describe();
    first_ = lines_of(folder_ + "/1");
    second_ = lines_of(folder_ + "/2");
    ASSERT_GT(first_.size(), 1000U);
  }

  std::string folder_;
  std::vector<std::string> first_;
  std::vector<std::string> second_;
};

TEST_F(RepeatedRuns, given_one_seed_when_a_program_runs_twice_then_all_transactions_come_at_their_cycles) {
  run('7', '7');
  EXPECT_EQ(difference(first_, second_), "") << "a line is: cycle, kind, address, extent, hash of all so far";
  EXPECT_EQ(first_.back(), second_.back());
}

TEST_F(RepeatedRuns, given_two_seeds_when_a_program_runs_on_rtl_then_the_transactions_differ) {
  if (!on_rtl()) {
    GTEST_SKIP() << "the golden model does the same with each seed";
  }
  run('7', '8');
  EXPECT_NE(first_.back(), second_.back());
}

}  // namespace

int scenario_the_same_program_twice() {
  const std::string folder = environment("DATUM_TEST_FOLDER");
  SCENARIO_EXPECT(0, run_in_fork(environment("DATUM_TEST_FIRST_BOARD"), folder + "/1"));
  SCENARIO_EXPECT(0, run_in_fork(environment("DATUM_TEST_SECOND_BOARD"), folder + "/2"));
  return 0;
}

}  // namespace datum::test
