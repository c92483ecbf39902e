// Two drivers in one process: each keeps to its own objects and its own boards.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class TwoDrivers : public ApiTest {
 protected:
  void SetUp() override {
    if (mode() != Mode::two_drivers) {
      GTEST_SKIP() << "needs two drivers in the process";
    }
    ApiTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    other_driver_ = session().drivers.front();
    std::uint32_t count = 1;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGet(other_driver_, &count, &other_device_));
    other_context_ = create_context(other_driver_);
  }

  void TearDown() override {
    EXPECT_EQ(ZE_RESULT_SUCCESS, other_context_.destroy());
    ApiTest::TearDown();
  }

  ze_driver_handle_t other_driver_ = nullptr;
  ze_device_handle_t other_device_ = nullptr;
  OwnedContext other_context_;
};

TEST_F(TwoDrivers, given_two_drivers_when_listed_then_they_and_their_devices_are_different) {
  EXPECT_NE(driver(), other_driver_);
  EXPECT_NE(device(), other_device_);
}

TEST_F(TwoDrivers, given_both_drivers_when_both_copy_then_each_keeps_its_own_bytes) {
  const OwnedMemory mine = memory(MemoryKind::device, 4096);
  const OwnedMemory others = allocate(MemoryKind::device, other_context_, other_device_, 4096);
  const OwnedMemory others_host = allocate(MemoryKind::host, other_context_, other_device_, 8192);
  EXPECT_NE(mine.get(), others.get());
  upload(mine.get(), pattern(4096, 1));
  write_pattern(others_host.get(), 4096, 2);
  const OwnedQueue others_queue = create_queue(other_context_, other_device_);
  const OwnedList list = create_list(other_context_, other_device_, ZE_COMMAND_LIST_FLAG_IN_ORDER);
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, others.get(), others_host.get(), 4096, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, others_host.bytes() + 4096, others.get(),
                                                             4096, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(others_queue, 1, &handle, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(others_queue, patience_ns));
  EXPECT_TRUE(same_bytes(pattern(4096, 2).data(), others_host.bytes() + 4096, 4096));
  EXPECT_TRUE(same_bytes(pattern(4096, 1), download(mine.get(), 4096)));
}

TEST_F(TwoDrivers, given_the_other_drivers_memory_when_asked_or_freed_then_it_is_unknown_here) {
  OwnedMemory others = allocate(MemoryKind::device, other_context_, other_device_, 4096);
  ze_memory_allocation_properties_t found{};
  found.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), others.get(), &found, nullptr));
  EXPECT_EQ(ZE_MEMORY_TYPE_UNKNOWN, found.type);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context(), others.get()));
  EXPECT_EQ(ZE_RESULT_SUCCESS, others.free());
}

TEST_F(TwoDrivers, given_the_other_drivers_device_when_used_in_this_ones_context_then_it_is_refused) {
  const ze_device_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            zeMemAllocDevice(context(), &description, 64, 0, other_device_, &pointer));
}

TEST_F(TwoDrivers,
       given_memory_that_one_driver_exports_when_the_other_opens_it_then_both_see_the_same_bytes) {
  const OwnedMemory mine = memory(MemoryKind::device, 4096);
  upload(mine.get(), pattern(4096, 1));
  ze_ipc_mem_handle_t handle{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), mine.get(), &handle)) << last_error_text();
  void* opened = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(other_context_, other_device_, handle, 0, &opened));
  EXPECT_NE(mine.get(), opened);
  {
    const OwnedMemory others_host = allocate(MemoryKind::host, other_context_, other_device_, 8192);
    const OwnedList others_list =
        create_immediate_list(other_context_, other_device_, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(others_list, others_host.get(), opened, 4096,
                                                               nullptr, 0, nullptr));
    EXPECT_TRUE(same_bytes(pattern(4096, 1).data(), others_host.get(), 4096));
    write_pattern(others_host.bytes() + 4096, 4096, 2);
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(others_list, opened, others_host.bytes() + 4096, 4096, nullptr, 0,
                                            nullptr));
  }
  EXPECT_TRUE(same_bytes(pattern(4096, 2), download(mine.get(), 4096)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(other_context_, opened)) << "it was opened";
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(other_context_, opened));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
}

}  // namespace
}  // namespace datum::test
