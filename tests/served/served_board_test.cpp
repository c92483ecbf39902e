// Applications whose board is in another process: runs in a row, and the death of either side.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/api_session.hpp"
#include "tests/support/board_server_process.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

constexpr std::size_t block_bytes = 1UL << 20U;

/// What an application needs to copy to its board and back.
struct World {
  OwnedContext context = create_context(session().driver);
  OwnedQueue queue = create_queue(context.get(), session().devices.front());
  OwnedList list = create_list(context.get(), session().devices.front());
  OwnedMemory host = allocate(MemoryKind::host, context.get(), session().devices.front(), block_bytes);
  OwnedMemory device = allocate(MemoryKind::device, context.get(), session().devices.front(), block_bytes);
};

ze_result_t append_round_trips(World& world, unsigned count) {
  for (unsigned number = 0; number < count; ++number) {
    for (const auto& [to, from] :
         {std::pair{world.device.get(), world.host.get()}, std::pair{world.host.get(), world.device.get()}}) {
      const auto code =
          zeCommandListAppendMemoryCopy(world.list.get(), to, from, block_bytes, nullptr, 0, nullptr);
      if (code != ZE_RESULT_SUCCESS) {
        return code;
      }
    }
  }
  return zeCommandListClose(world.list.get());
}

ze_result_t submit(World& world) {
  ze_command_list_handle_t list = world.list.get();
  return zeCommandQueueExecuteCommandLists(world.queue.get(), 1, &list, nullptr);
}

/// An ordinary run.
int scenario_copies() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  World world;
  const Bytes bytes = pattern(block_bytes, 3);
  std::memcpy(world.host.get(), bytes.data(), block_bytes);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, append_round_trips(world, 1));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, submit(world));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(world.queue.get(), patience_ns));
  SCENARIO_REQUIRE(std::memcmp(world.host.get(), bytes.data(), block_bytes) == 0);
  return 0;
}

/// Says when its work is under way, and waits for it for ever.
int scenario_copies_without_end() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  World world;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, append_round_trips(world, 20'000));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, submit(world));
  std::ofstream(std::getenv("DATUM_TEST_STARTED")) << ::getpid();
  const auto code = zeCommandQueueSynchronize(world.queue.get(), UINT64_MAX);
  SCENARIO_EXPECT(ZE_RESULT_ERROR_DEVICE_LOST, code);
  SCENARIO_EXPECT(ZE_RESULT_ERROR_DEVICE_LOST, zeDeviceGetStatus(session().devices.front()));
  return 0;
}

std::uint64_t usable_memory() {
  ze_device_usablemem_size_ext_properties_t usable{};
  usable.stype = ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES;
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  properties.pNext = &usable;
  const auto code = zeDeviceGetProperties(session().devices.front(), &properties);
  return code == ZE_RESULT_SUCCESS ? usable.currUsableMemSize : 0;
}

/// Says how much memory there was, holds some of it, and has another process ask for the board meanwhile.
int scenario_holds_memory() {
  constexpr std::size_t held_bytes = 64UL << 20U;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const std::uint64_t before = usable_memory();
  std::printf("%llu\n", static_cast<unsigned long long>(before));
  const OwnedContext context = create_context(session().driver);
  OwnedMemory block = allocate(MemoryKind::device, context.get(), session().devices.front(), held_bytes);
  const std::uint64_t while_held = usable_memory();
  SCENARIO_REQUIRE(while_held != 0 && while_held + held_bytes <= before);
  const ChildOutcome other = run_scenario_in_child("finds_the_board_in_use");
  std::fputs(other.errors.c_str(), stderr);
  SCENARIO_REQUIRE(other.succeeded());
  SCENARIO_REQUIRE(usable_memory() == while_held);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, block.free());
  SCENARIO_REQUIRE(usable_memory() == before);
  return 0;
}

/// An ordinary run, while signals make system calls end early.
int scenario_copies_under_signals() {
  struct sigaction action {};

  action.sa_handler = [](int) {};
  const itimerval often{{0, 1000}, {0, 1000}};
  SCENARIO_REQUIRE(::sigaction(SIGALRM, &action, nullptr) == 0);
  SCENARIO_REQUIRE(::setitimer(ITIMER_REAL, &often, nullptr) == 0);
  return scenario_copies();
}

/// One life after the other in a driver, until its board is gone: each call succeeds or says so.
ze_result_t live_once() {
  const ze_device_handle_t device = session().devices.front();
  const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  OwnedContext context;
  ze_result_t code = zeContextCreate(session().driver, &description, context.address());
  void* host = nullptr;
  void* on_device = nullptr;
  OwnedList list;
  ze_command_queue_desc_t synchronous{};
  synchronous.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  synchronous.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  const auto go_on = [&code](ze_result_t next) { code = code == ZE_RESULT_SUCCESS ? next : code; };
  if (code == ZE_RESULT_SUCCESS) {
    go_on(allocate_raw(MemoryKind::host, context.get(), device, block_bytes, 0, &host));
    go_on(allocate_raw(MemoryKind::device, context.get(), device, block_bytes, 0, &on_device));
  }
  if (code == ZE_RESULT_SUCCESS) {
    go_on(zeCommandListCreateImmediate(context.get(), device, &synchronous, list.address()));
  }
  if (code == ZE_RESULT_SUCCESS) {
    go_on(zeCommandListAppendMemoryCopy(list.get(), on_device, host, block_bytes, nullptr, 0, nullptr));
  }
  for (void* block : {host, on_device}) {
    if (block != nullptr) {
      zeMemFree(context.get(), block);
    }
  }
  return code;
}

int scenario_lives_until_the_board_is_gone() {
  ze_result_t code = session().result;
  if (code == ZE_RESULT_SUCCESS) {
    while (code == ZE_RESULT_SUCCESS) {
      code = live_once();
    }
    SCENARIO_EXPECT(ZE_RESULT_ERROR_DEVICE_LOST, code);
    SCENARIO_EXPECT(ZE_RESULT_ERROR_DEVICE_LOST, zeDeviceGetStatus(session().devices.front()));
    return 0;
  }
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, code);
  return 0;
}

int scenario_finds_the_board_in_use() {
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, session().result);
  SCENARIO_REQUIRE(session().devices.empty());
  return 0;
}

class ServedBoard : public ::testing::TestWithParam<const char*> {
 protected:
  void start() { server_ = std::make_unique<BoardServerProcess>(GetParam(), path_); }

  [[nodiscard]] ChildOutcome run(const char* scenario) const {
    return run_scenario_in_child(scenario,
                                 {{"DATUM_BOARDS", "vfio-user:" + path_}, {"DATUM_TEST_STARTED", started()}},
                                 std::chrono::seconds(60));
  }

  [[nodiscard]] std::string started() const { return folder_.path("started"); }

  /// The process whose work is under way; 0: it never came to that.
  [[nodiscard]] pid_t wait_for_start() const {
    for (int tries = 0; tries < 3000; ++tries) {
      pid_t process = 0;
      if (std::ifstream(started()) >> process) {
        return process;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return 0;
  }

  PrivateFolder folder_;
  std::string path_ = folder_.path("board");
  std::unique_ptr<BoardServerProcess> server_;
};

INSTANTIATE_TEST_SUITE_P(Boards, ServedBoard, ::testing::Values(DATUM_SERVED_BOARDS),
                         [](const auto& instance) {
                           const std::string address = instance.param;
                           return address.substr(0, address.find(':'));
                         });

TEST_P(ServedBoard, given_one_server_when_applications_run_one_after_the_other_then_each_succeeds) {
  start();
  for (int application = 0; application < 2; ++application) {
    const ChildOutcome outcome = run("copies");
    EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  }
}

TEST_P(ServedBoard,
       given_memory_that_is_held_when_another_process_asks_then_it_has_no_device_rather_than_a_wrong_size) {
  start();
  const ChildOutcome first = run("holds_memory");
  ASSERT_TRUE(first.succeeded()) << first.describe();
  const ChildOutcome next = run("holds_memory");
  ASSERT_TRUE(next.succeeded()) << next.describe();
  EXPECT_EQ(first.output, next.output) << "the next process has all of the memory again";
}

TEST_P(ServedBoard,
       given_a_copy_under_way_when_the_server_is_killed_then_the_device_is_lost_and_nothing_hangs) {
  start();
  std::thread killer([this] {
    EXPECT_NE(wait_for_start(), 0);
    server_->send(SIGKILL);
  });
  const ChildOutcome outcome = run("copies_without_end");
  killer.join();
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

TEST_P(ServedBoard,
       given_a_copy_under_way_when_the_application_is_killed_then_the_server_serves_the_next_one) {
  start();
  std::thread killer([this] {
    const pid_t application = wait_for_start();
    ASSERT_NE(application, 0);
    ::kill(application, SIGKILL);
  });
  const ChildOutcome killed = run("copies_without_end");
  killer.join();
  EXPECT_EQ(killed.signal, SIGKILL) << killed.describe();
  const ChildOutcome next = run("copies");
  EXPECT_TRUE(next.succeeded()) << next.describe();
  server_->send(SIGTERM);
  EXPECT_EQ(server_->wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_P(ServedBoard, given_signals_all_the_time_when_an_application_runs_then_it_succeeds) {
  start();
  const ChildOutcome outcome = run("copies_under_signals");
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

TEST_P(ServedBoard,
       given_a_server_that_is_killed_at_any_moment_then_the_application_is_told_and_the_next_server_works) {
  std::mt19937_64 random(test_seed());
  const int rounds = std::string(GetParam()).starts_with("rtl") ? 3 : 10;
  for (int round = 0; round < rounds; ++round) {
    start();
    const std::chrono::milliseconds moment(std::uniform_int_distribution(1, 200)(random));
    SCOPED_TRACE("killed after " + std::to_string(moment.count()) + " ms, seed " +
                 std::to_string(test_seed()));
    std::thread killer([this, moment] {
      std::this_thread::sleep_for(moment);
      server_->send(SIGKILL);
    });
    const ChildOutcome outcome = run("lives_until_the_board_is_gone");
    killer.join();
    EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
    server_.reset();
  }
  start();
  const ChildOutcome next = run("copies");
  EXPECT_TRUE(next.succeeded()) << next.describe();
  server_->send(SIGTERM);
  EXPECT_EQ(server_->wait(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace datum::test

int main(int count, char** arguments) {
  using namespace datum::test;
  const int scenario =
      run_scenario_from_arguments(count, arguments,
                                  {{"copies", scenario_copies},
                                   {"copies_without_end", scenario_copies_without_end},
                                   {"copies_under_signals", scenario_copies_under_signals},
                                   {"lives_until_the_board_is_gone", scenario_lives_until_the_board_is_gone},
                                   {"holds_memory", scenario_holds_memory},
                                   {"finds_the_board_in_use", scenario_finds_the_board_in_use}});
  if (scenario >= 0) {
    return scenario;
  }
  ::testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
