// What each flag of a list promises about the order of its commands.
#include <csignal>
#include <ctime>
#include <sys/time.h>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class ListFlags : public ApiTest {};

TEST_F(ListFlags,
       given_any_flags_when_a_barrier_or_event_stands_between_then_the_later_copy_sees_the_earlier) {
  const std::size_t bytes = by_board<std::size_t>(100'000, 3000);
  const OwnedMemory first = memory(MemoryKind::host, bytes);
  const OwnedMemory second = memory(MemoryKind::device, bytes);
  const OwnedMemory third = memory(MemoryKind::device, bytes);
  const OwnedMemory last = memory(MemoryKind::shared, bytes);
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent between = create_event(pool);
  ze_event_handle_t wait_for = between;
  for (const ze_command_list_flags_t flags :
       {0U, unsigned{ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING},
        unsigned{ZE_COMMAND_LIST_FLAG_MAXIMIZE_THROUGHPUT}, unsigned{ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY},
        unsigned{ZE_COMMAND_LIST_FLAG_IN_ORDER}, unsigned{ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT}, 0x7U}) {
    write_pattern(first.get(), bytes, flags);
    const OwnedList list = create_list(context(), device(), flags);
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, second.get(), first.get(), bytes, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, third.get(), second.get(), bytes, between, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, last.get(), third.get(), bytes, nullptr, 1, &wait_for));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list));
    EXPECT_TRUE(same_bytes(first.get(), last.get(), bytes)) << "flags " << flags;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(between));
  }
}

TEST_F(ListFlags, given_an_in_order_list_when_nothing_stands_between_then_each_copy_sees_the_one_before) {
  const std::size_t bytes = by_board<std::size_t>(100'000, 3000);
  std::vector<OwnedMemory> chain;
  for (int link = 0; link < 6; ++link) {
    chain.push_back(memory(link % 2 == 0 ? MemoryKind::shared : MemoryKind::device, bytes));
  }
  const OwnedMemory last = memory(MemoryKind::host, bytes);
  write_pattern(chain.front().get(), bytes, 9);
  const OwnedList list = create_list(context(), device(), ZE_COMMAND_LIST_FLAG_IN_ORDER);
  for (std::size_t link = 1; link < chain.size(); ++link) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, chain[link].get(), chain[link - 1].get(),
                                                               bytes, nullptr, 0, nullptr));
  }
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, last.get(), chain.back().get(), bytes, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list));
  EXPECT_TRUE(same_bytes(chain.front().get(), last.get(), bytes));
}

TEST_F(ListFlags, given_lists_of_lengths_around_powers_of_two_when_executed_then_every_command_has_run) {
  const OwnedMemory from = memory(MemoryKind::host, 8192);
  const OwnedMemory to = memory(MemoryKind::host, 8192);
  write_pattern(from.get(), 8192, 4);
  for (const std::size_t commands :
       by_board<std::vector<std::size_t>>({1, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 4096}, {1, 33})) {
    for (const std::size_t offset : {std::size_t{1}, std::size_t{4064}, std::size_t{4095}}) {
      std::fill(to.bytes(), to.bytes() + 8192, static_cast<unsigned char>(0xee));
      const std::size_t piece = 4096 / std::max<std::size_t>(commands, 1) == 0 ? 1 : 4096 / commands;
      ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                  for (std::size_t at = 0; at < commands; ++at) {
                    const std::size_t byte = offset + at * piece;
                    EXPECT_EQ(ZE_RESULT_SUCCESS,
                              zeCommandListAppendMemoryCopy(list, to.bytes() + byte, from.bytes() + byte,
                                                            piece, nullptr, 0, nullptr));
                  }
                }));
      EXPECT_TRUE(same_bytes(from.bytes() + offset, to.bytes() + offset, piece * commands))
          << commands << " commands from offset " << offset;
      EXPECT_EQ(0xee, to.bytes()[offset - 1]);
      EXPECT_EQ(0xee, to.bytes()[offset + piece * commands]);
    }
  }
}

TEST_F(ListFlags,
       given_host_memory_that_the_board_fills_when_waited_for_then_the_host_sees_every_byte_at_once) {
  const OwnedMemory block = memory(MemoryKind::host, 65536);
  const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const unsigned rounds = by_board(1000U, 5U);
  for (unsigned round = 0; round < rounds; ++round) {
    const auto value = static_cast<unsigned char>(round * 7 + 1);
    const std::size_t bytes = by_board<std::size_t>(1 + (round * 977U) % 65536, 1 + (round * 977U) % 4096);
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryFill(list, block.get(), &value, 1, bytes, nullptr, 0, nullptr));
    for (std::size_t at = 0; at < bytes; ++at) {
      ASSERT_EQ(value, block.bytes()[at]) << "round " << round << ", byte " << at;
    }
  }
}

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

TEST_F(ListFlags, given_signals_every_millisecond_when_an_event_is_waited_for_then_the_time_out_is_kept) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent never = create_event(pool);

  struct sigaction action {};

  struct sigaction before {};

  action.sa_handler = [](int) {};
  ASSERT_EQ(0, ::sigaction(SIGALRM, &action, &before));
  const itimerval often{{0, 1000}, {0, 1000}};
  ASSERT_EQ(0, ::setitimer(ITIMER_REAL, &often, nullptr));
  const std::uint64_t begun = now_ns();
  const ze_result_t result = zeEventHostSynchronize(never, 100'000'000);
  const std::uint64_t passed = now_ns() - begun;
  const itimerval off{};
  ::setitimer(ITIMER_REAL, &off, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(ZE_RESULT_NOT_READY, result);
  EXPECT_GE(passed, 100'000'000U);
  EXPECT_LT(passed, 2'000'000'000U);
}

}  // namespace
}  // namespace datum::test
