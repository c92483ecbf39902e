// What every append answers to a list, an event or a range that it cannot take.
#include <cstring>
#include <functional>
#include <vector>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

constexpr std::size_t list_block_bytes = 4096;

/// The arguments that nearly every append has; the others are good ones.
struct Target {
  ze_command_list_handle_t list = nullptr;
  ze_event_handle_t signal = nullptr;
  std::uint32_t wait_count = 0;
  ze_event_handle_t* waits = nullptr;
};

struct Append {
  const char* name;
  std::function<ze_result_t(const Target&)> make;
};

class ListArguments : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    block_ = memory(MemoryKind::host, list_block_bytes);
    list_ = create_list(context(), device());
    pool_ = create_event_pool(context(), 2,
                              ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    event_ = create_event(pool_);
  }

  void TearDown() override {
    EXPECT_EQ(ZE_RESULT_SUCCESS, event_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, pool_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, list_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, block_.free());
    ApiTest::TearDown();
  }

  [[nodiscard]] std::vector<Append> copies_and_fills() const;
  [[nodiscard]] std::vector<Append> others() const;

  [[nodiscard]] std::vector<Append> appends() const {
    std::vector<Append> all = copies_and_fills();
    const std::vector<Append> more = others();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// Nothing refused has been recorded, and the list can still be used.
  void expect_usable_and_empty() {
    const Bytes before(block_.bytes(), block_.bytes() + list_block_bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list_));
    EXPECT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list_));
    EXPECT_EQ(before, Bytes(block_.bytes(), block_.bytes() + list_block_bytes));
    EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(event_));
  }

  OwnedMemory block_;
  OwnedList list_;
  OwnedEventPool pool_;
  OwnedEvent event_;
};

std::vector<Append> ListArguments::copies_and_fills() const {
  unsigned char* to = block_.bytes();
  const unsigned char* from = block_.bytes() + list_block_bytes / 2;
  ze_context_handle_t of = context();
  static const unsigned char value = 7;
  static const ze_copy_region_t region{0, 0, 0, 8, 2, 0};
  return {
      {"zeCommandListAppendMemoryCopy",
       [=](const Target& on) {
         return zeCommandListAppendMemoryCopy(on.list, to, from, 64, on.signal, on.wait_count, on.waits);
       }},
      {"zeCommandListAppendMemoryCopyWithParameters",
       [=](const Target& on) {
         return zeCommandListAppendMemoryCopyWithParameters(on.list, to, from, 64, nullptr, on.signal,
                                                            on.wait_count, on.waits);
       }},
      {"zeCommandListAppendMemoryCopyFromContext",
       [=](const Target& on) {
         return zeCommandListAppendMemoryCopyFromContext(on.list, to, of, from, 64, on.signal, on.wait_count,
                                                         on.waits);
       }},
      {"zeCommandListAppendMemoryCopyRegion",
       [=](const Target& on) {
         return zeCommandListAppendMemoryCopyRegion(on.list, to, &region, 16, 0, from, &region, 16, 0,
                                                    on.signal, on.wait_count, on.waits);
       }},
      {"zeCommandListAppendMemoryFill",
       [=](const Target& on) {
         return zeCommandListAppendMemoryFill(on.list, to, &value, 1, 64, on.signal, on.wait_count, on.waits);
       }},
      {"zeCommandListAppendMemoryFillWithParameters",
       [=](const Target& on) {
         return zeCommandListAppendMemoryFillWithParameters(on.list, to, &value, 1, 64, nullptr, on.signal,
                                                            on.wait_count, on.waits);
       }},
  };
}

std::vector<Append> ListArguments::others() const {
  void* to = block_.get();
  ze_event_handle_t timed = event_;
  return {
      {"zeCommandListAppendBarrier",
       [](const Target& on) {
         return zeCommandListAppendBarrier(on.list, on.signal, on.wait_count, on.waits);
       }},
      {"zeCommandListAppendMemoryRangesBarrier",
       [to](const Target& on) {
         const std::size_t size = 64;
         const void* range = to;
         return zeCommandListAppendMemoryRangesBarrier(on.list, 1, &size, &range, on.signal, on.wait_count,
                                                       on.waits);
       }},
      {"zeCommandListAppendWriteGlobalTimestamp",
       [to](const Target& on) {
         return zeCommandListAppendWriteGlobalTimestamp(on.list, static_cast<std::uint64_t*>(to), on.signal,
                                                        on.wait_count, on.waits);
       }},
      {"zeCommandListAppendQueryKernelTimestamps",
       [to, timed](const Target& on) {
         ze_event_handle_t one = timed;
         return zeCommandListAppendQueryKernelTimestamps(on.list, 1, &one, to, nullptr, on.signal,
                                                         on.wait_count, on.waits);
       }},
      {"zeCommandListAppendHostFunction",
       [](const Target& on) {
         return zeCommandListAppendHostFunction(
             on.list, [](void*) {}, nullptr, nullptr, on.signal, on.wait_count, on.waits);
       }},
  };
}

TEST_F(ListArguments, given_no_list_when_anything_is_appended_then_the_null_handle_is_named) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  for (const Append& append : appends()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, append.make({})) << append.name;
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            zeCommandListAppendMemoryPrefetch(nullptr, block_.get(), 64));
  EXPECT_EQ(
      ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
      zeCommandListAppendMemAdvise(nullptr, device(), block_.get(), 64, ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            zeCommandListAppendMemAdvise(list_, nullptr, block_.get(), 64, ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            zeCommandListAppendMemoryCopyFromContext(list_, block_.get(), nullptr, block_.get(), 64, nullptr,
                                                     0, nullptr));
}

TEST_F(ListArguments,
       given_events_of_another_context_when_anything_is_appended_then_they_do_not_synchronise) {
  const OwnedContext other = create_context(driver());
  OwnedEventPool foreign_pool = create_event_pool(other, 1);
  OwnedEvent foreign = create_event(foreign_pool);
  ze_event_handle_t wait_for[] = {event_, foreign};
  for (const Append& append : appends()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, append.make({list_, foreign, 0, nullptr}))
        << append.name << " signals it";
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, append.make({list_, event_, 2, wait_for}))
        << append.name << " waits for it";
  }
  ze_event_handle_t queried = foreign;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
            zeCommandListAppendQueryKernelTimestamps(list_, 1, &queried, block_.get(), nullptr, nullptr, 0,
                                                     nullptr));
  expect_usable_and_empty();
}

TEST_F(ListArguments,
       given_a_number_of_events_without_events_when_anything_is_appended_then_the_size_is_wrong) {
  if (!null_arrays_reach_the_driver()) {
    GTEST_SKIP() << "the loader makes an array of its own";
  }
  for (const Append& append : appends()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, append.make({list_, nullptr, 1, nullptr})) << append.name;
  }
  expect_usable_and_empty();
}

TEST_F(ListArguments, given_a_closed_list_when_anything_is_appended_then_it_is_an_invalid_argument) {
  const OwnedList closed = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(closed));
  for (const Append& append : appends()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, append.make({closed, event_, 0, nullptr})) << append.name;
  }
  ze_event_handle_t one = event_;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendSignalEvent(closed, event_));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendWaitOnEvents(closed, 1, &one));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendEventReset(closed, event_));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendMemoryPrefetch(closed, block_.get(), 64));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendMemAdvise(closed, device(), block_.get(), 64,
                                                                           ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
  EXPECT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(closed));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(event_));
}

TEST_F(ListArguments, given_null_pointers_when_appended_then_each_is_named) {
  const unsigned char value = 7;
  void* to = block_.get();
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeCommandListAppendMemoryPrefetch(list_, nullptr, 64));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemAdvise(list_, device(), nullptr, 64, ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryCopyFromContext(list_, nullptr, context(), to, 64, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryCopyFromContext(list_, to, context(), nullptr, 64, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryFillWithParameters(list_, nullptr, &value, 1, 64, nullptr, nullptr, 0,
                                                        nullptr));
  EXPECT_EQ(
      ZE_RESULT_ERROR_INVALID_NULL_POINTER,
      zeCommandListAppendMemoryFillWithParameters(list_, to, nullptr, 1, 64, nullptr, nullptr, 0, nullptr));
  ze_event_handle_t one = event_;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendQueryKernelTimestamps(list_, 1, &one, nullptr, nullptr, nullptr, 0, nullptr));
  if (null_arrays_reach_the_driver()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
              zeCommandListAppendQueryKernelTimestamps(list_, 1, nullptr, to, nullptr, nullptr, 0, nullptr));
  }
  expect_usable_and_empty();
}

TEST_F(ListArguments, given_ranges_that_leave_an_allocation_when_appended_then_they_are_invalid_arguments) {
  const unsigned char value = 7;
  void* to = block_.get();
  void* last = block_.bytes() + list_block_bytes - 4;
  const void* range = last;
  const std::size_t size = 64;
  ze_event_handle_t one = event_;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendMemoryPrefetch(list_, last, 64));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListAppendMemAdvise(list_, device(), last, 64, ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListAppendMemoryRangesBarrier(list_, 1, &size, &range, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListAppendMemoryCopyWithParameters(list_, to, last, 64, nullptr, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListAppendMemoryCopyFromContext(list_, to, context(), last, 64, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendMemoryFillWithParameters(
                                                  list_, last, &value, 1, 64, nullptr, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListAppendQueryKernelTimestamps(list_, 1, &one, last, nullptr, nullptr, 0, nullptr));
  auto* odd = reinterpret_cast<std::uint64_t*>(block_.bytes() + 4);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListAppendWriteGlobalTimestamp(list_, odd, nullptr, 0, nullptr));
  expect_usable_and_empty();
}

TEST_F(ListArguments, given_a_fill_that_is_not_aligned_to_its_pattern_when_appended_then_it_is_unsupported) {
  const std::uint32_t word = 0x01020304;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
            zeCommandListAppendMemoryFillWithParameters(list_, block_.bytes() + 2, &word, sizeof word, 64,
                                                        nullptr, nullptr, 0, nullptr));
  expect_usable_and_empty();
}

TEST_F(ListArguments, given_hints_about_memory_when_executed_then_each_is_taken_and_the_bytes_stay) {
  const OwnedMemory shared = memory(MemoryKind::shared, list_block_bytes);
  write_pattern(shared.get(), list_block_bytes, 11);
  const Bytes before = pattern(list_block_bytes, 11);
  ASSERT_EQ(
      ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
        for (const ze_memory_advice_t advice :
             {ZE_MEMORY_ADVICE_SET_READ_MOSTLY, ZE_MEMORY_ADVICE_CLEAR_READ_MOSTLY,
              ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION, ZE_MEMORY_ADVICE_CLEAR_PREFERRED_LOCATION,
              ZE_MEMORY_ADVICE_SET_NON_ATOMIC_MOSTLY, ZE_MEMORY_ADVICE_CLEAR_NON_ATOMIC_MOSTLY,
              ZE_MEMORY_ADVICE_BIAS_CACHED, ZE_MEMORY_ADVICE_BIAS_UNCACHED,
              ZE_MEMORY_ADVICE_SET_SYSTEM_MEMORY_PREFERRED_LOCATION,
              ZE_MEMORY_ADVICE_CLEAR_SYSTEM_MEMORY_PREFERRED_LOCATION}) {
          EXPECT_EQ(ZE_RESULT_SUCCESS,
                    zeCommandListAppendMemAdvise(list, device(), shared.get(), list_block_bytes, advice))
              << "advice " << advice;
        }
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryPrefetch(list, shared.get(), list_block_bytes));
      }));
  EXPECT_EQ(before, Bytes(shared.bytes(), shared.bytes() + list_block_bytes));
  EXPECT_EQ(
      ZE_RESULT_ERROR_INVALID_ENUMERATION,
      zeCommandListAppendMemAdvise(list_, device(), shared.get(), 64, static_cast<ze_memory_advice_t>(99)));
}

TEST_F(ListArguments, given_events_with_times_when_a_list_queries_them_then_they_are_those_the_host_is_told) {
  const OwnedEvent second = create_event(pool_, 1);
  const std::size_t offsets[] = {2048, 512};
  ze_event_handle_t both[] = {event_, second};
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              for (ze_event_handle_t event : both) {
                EXPECT_EQ(ZE_RESULT_SUCCESS,
                          zeCommandListAppendMemoryCopy(list, block_.get(), block_.bytes() + 64, 64, event, 0,
                                                        nullptr));
              }
            }));
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendQueryKernelTimestamps(
                                               list, 2, both, block_.get(), offsets, nullptr, 0, nullptr));
            }));
  for (std::size_t index = 0; index < 2; ++index) {
    ze_kernel_timestamp_result_t told{};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventQueryKernelTimestamp(both[index], &told));
    ze_kernel_timestamp_result_t written{};
    std::memcpy(&written, block_.bytes() + offsets[index], sizeof written);
    EXPECT_NE(0U, written.global.kernelStart);
    EXPECT_EQ(told.global.kernelStart, written.global.kernelStart) << "event " << index;
    EXPECT_EQ(told.global.kernelEnd, written.global.kernelEnd) << "event " << index;
    EXPECT_EQ(told.context.kernelStart, written.context.kernelStart) << "event " << index;
    EXPECT_EQ(told.context.kernelEnd, written.context.kernelEnd) << "event " << index;
  }
}

TEST_F(ListArguments, given_a_list_of_another_kind_when_used_then_it_is_an_invalid_argument) {
  const OwnedList immediate = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ze_command_queue_flags_t flags = 0x55;
  ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListImmediateGetFlags(list_, &flags));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListImmediateGetPriority(list_, &priority));
  EXPECT_EQ(0x55U, flags);
  EXPECT_EQ(ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW, priority);
  const OwnedList closed = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(closed));
  ze_command_list_handle_t regular = closed;
  ze_command_list_handle_t open = list_;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListImmediateAppendCommandListsWithParameters(
                                                  immediate, 1, &open, nullptr, nullptr, 0, nullptr))
      << "not closed";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListImmediateAppendCommandListsWithParameters(
                                                  list_, 1, &regular, nullptr, nullptr, 0, nullptr))
      << "not immediate";
  const ze_mutable_commands_exp_desc_t nothing{ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, nullptr, 0};
  ze_event_handle_t one = event_;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListUpdateMutableCommandsExp(closed, &nothing))
      << "not mutable";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListUpdateMutableCommandWaitEventsExp(closed, 1, 1, &one))
      << "no such command";
  expect_usable_and_empty();
}

}  // namespace
}  // namespace datum::test
