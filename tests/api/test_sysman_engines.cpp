// The management interface: how long the board's engines were at work.
#include <array>
#include <cstddef>

#include <level_zero/zes_api.h>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class SysmanEngines : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    if (under_validation()) {
      GTEST_SKIP() << "the validation layer does not know the handles of engine groups";
    }
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesInit(0));
    std::uint32_t count = 0;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDriverGet(&count, nullptr));
    std::vector<zes_driver_handle_t> drivers(count);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDriverGet(&count, drivers.data()));
    count = 1;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceGet(drivers.back(), &count, &managed_));
    count = 9;
    std::array<zes_engine_handle_t, 9> groups{};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEnumEngineGroups(managed_, &count, groups.data()));
    ASSERT_EQ(1U, count) << "the copy engines are counted together";
    engines_ = groups.front();
  }

  zes_engine_stats_t activity() const {
    zes_engine_stats_t stats{};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zesEngineGetActivity(engines_, &stats));
    return stats;
  }

  zes_device_handle_t managed_ = nullptr;
  zes_engine_handle_t engines_ = nullptr;
};

TEST_F(SysmanEngines, given_a_device_when_asked_for_engine_groups_then_it_is_all_copy_engines_together) {
  std::uint32_t count = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEnumEngineGroups(managed_, &count, nullptr));
  EXPECT_EQ(1U, count);
  zes_engine_properties_t properties{};
  properties.stype = ZES_STRUCTURE_TYPE_ENGINE_PROPERTIES;
  properties.onSubdevice = 1;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesEngineGetProperties(engines_, &properties));
  EXPECT_EQ(ZES_ENGINE_GROUP_COPY_ALL, properties.type);
  EXPECT_EQ(0, properties.onSubdevice);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesDeviceEnumEngineGroups(managed_, nullptr, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesEngineGetProperties(engines_, nullptr));
}

TEST_F(SysmanEngines, given_copies_when_activity_is_asked_for_then_it_grows_with_them_and_not_beyond_time) {
  constexpr std::size_t bytes = 256U << 10U;
  const OwnedMemory block = memory(MemoryKind::device, bytes);
  const zes_engine_stats_t before = activity();
  EXPECT_LE(before.activeTime, before.timestamp);
  upload(block.get(), pattern(bytes, 5));
  const zes_engine_stats_t after = activity();
  EXPECT_GT(after.activeTime, before.activeTime);
  EXPECT_GT(after.timestamp, before.timestamp);
}

TEST_F(SysmanEngines, given_a_queue_that_waits_for_an_event_when_activity_is_asked_for_then_it_stands_still) {
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent event = create_event(pool.get());
  const OwnedQueue queue = create_queue(context(), device());
  const OwnedList list = create_list(context(), device());
  ze_event_handle_t waited = event.get();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendWaitOnEvents(list.get(), 1, &waited));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list.get()));
  ze_command_list_handle_t handle = list.get();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue.get(), 1, &handle, nullptr));
  // The board looks at the event every millisecond, and may have something to finish at first.
  constexpr std::uint64_t span_us = 3000;
  constexpr std::uint64_t patience_us = patience_ns / 1000;
  const zes_engine_stats_t first = activity();
  zes_engine_stats_t before = first;
  zes_engine_stats_t after = first;
  while (after.timestamp - before.timestamp < span_us && after.timestamp - first.timestamp < patience_us) {
    after = activity();
    before = after.activeTime == before.activeTime ? before : after;
  }
  EXPECT_GE(after.timestamp - before.timestamp, span_us) << "it went on counting";
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(event.get()));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue.get(), patience_ns));
}

TEST_F(SysmanEngines,
       given_no_virtual_functions_when_asked_for_each_ones_activity_then_it_is_the_boards_own) {
  std::uint32_t count = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesEngineGetActivityExt(engines_, &count, nullptr));
  ASSERT_EQ(1U, count);
  const zes_engine_stats_t before = activity();
  count = 5;
  std::array<zes_engine_stats_t, 5> each{};
  each.back() = {7, 7};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesEngineGetActivityExt(engines_, &count, each.data()));
  EXPECT_EQ(1U, count);
  EXPECT_GE(each.front().timestamp, before.timestamp);
  EXPECT_GE(each.front().activeTime, before.activeTime);
  EXPECT_EQ(7U, each.back().timestamp) << "there is one entry, and no other is written";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesEngineGetActivityExt(engines_, nullptr, each.data()));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesEngineGetActivity(engines_, nullptr));
}

}  // namespace
}  // namespace datum::test
