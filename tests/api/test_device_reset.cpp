// The board is reset through the management interface: what was made before is lost, and the device is there.
#include <array>
#include <atomic>
#include <chrono>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include <level_zero/zes_api.h>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class DeviceReset : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesInit(0));
    std::uint32_t count = 0;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDriverGet(&count, nullptr));
    std::vector<zes_driver_handle_t> drivers(count);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDriverGet(&count, drivers.data()));
    count = 1;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceGet(drivers.back(), &count, &managed_));
  }

  void expect_a_new_context_to_work() {
    EXPECT_EQ(ZE_RESULT_SUCCESS, context_.destroy());
    context_ = create_context(driver());
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextGetStatus(context()));
    const Bytes bytes = pattern(by_board<std::size_t>(100'000, 3000), 8);
    const OwnedMemory block = memory(MemoryKind::device, bytes.size());
    upload(block.get(), bytes);
    EXPECT_TRUE(same_bytes(bytes, download(block.get(), bytes.size())));
  }

  zes_device_handle_t managed_ = nullptr;
};

TEST_F(DeviceReset, given_a_context_when_reset_without_force_then_it_is_in_use_and_works_on) {
  const Bytes bytes = pattern(64, 3);
  const OwnedMemory block = memory(MemoryKind::device, 64);
  upload(block.get(), bytes);
  EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zesDeviceReset(managed_, 0));
  EXPECT_TRUE(same_bytes(bytes, download(block.get(), 64)));
}

TEST_F(DeviceReset, given_work_that_waits_when_reset_by_force_then_it_ends_as_lost_and_a_new_context_works) {
  {
    const OwnedEventPool pool = create_event_pool(context(), 2);
    const OwnedEvent gate = create_event(pool, 0);
    const OwnedEvent done = create_event(pool, 1);
    const OwnedMemory from = memory(MemoryKind::host, 64);
    const OwnedMemory to = memory(MemoryKind::device, 64);
    const OwnedList list = create_list(context(), device());
    ze_event_handle_t awaited = gate;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 64, done, 1, &awaited));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ze_command_list_handle_t executed = list;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &executed, nullptr));
    ze_result_t waited = ZE_RESULT_SUCCESS;
    std::thread waiting([&] { waited = zeCommandQueueSynchronize(queue(), UINT64_MAX); });
    EXPECT_EQ(ZE_RESULT_SUCCESS, zesDeviceReset(managed_, 1)) << last_error_text();
    waiting.join();
    EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, waited);
    EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(done, patience_ns));
    EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeContextGetStatus(context()));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetStatus(device()));
    EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandQueueExecuteCommandLists(queue(), 1, &executed, nullptr));
    EXPECT_NE(std::string::npos, last_error_text().find("reset")) << last_error_text();
    EXPECT_EQ(ZE_RESULT_SUCCESS, queue_.destroy());
  }
  expect_a_new_context_to_work();
}

/// Submits one copy after the other, until something is refused.
class Submitter {
 public:
  Submitter(ze_context_handle_t context, ze_device_handle_t device, char* block)
      : queue_(create_queue(context, device)), list_(create_list(context, device)) {
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list_, block, block + 4096, 64, nullptr, 0, nullptr));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list_));
    thread_ = std::thread([this] { work(); });
  }

  ~Submitter() {
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  Submitter(const Submitter&) = delete;
  Submitter& operator=(const Submitter&) = delete;

  void wait_for_copies(int count) const {
    while (done_.load() < count && !ended_.load()) {
      std::this_thread::yield();
    }
  }

  void expect_lost() {
    thread_.join();
    EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, answer_) << sentence_;
  }

 private:
  void work() {
    ze_command_list_handle_t executed = list_;
    while (answer_ == ZE_RESULT_SUCCESS) {
      answer_ = zeCommandQueueExecuteCommandLists(queue_, 1, &executed, nullptr);
      // Now and then only, so that there are always more threads that want to run than processors.
      if (answer_ == ZE_RESULT_SUCCESS && ++done_ % 50 == 0) {
        answer_ = zeCommandQueueSynchronize(queue_, UINT64_MAX);
      }
    }
    sentence_ = last_error_text();
    ended_ = true;
  }

  OwnedQueue queue_;
  OwnedList list_;
  std::atomic<int> done_ = 0;
  std::atomic<bool> ended_ = false;
  ze_result_t answer_ = ZE_RESULT_SUCCESS;
  std::string sentence_;
  std::thread thread_;
};

TEST_F(DeviceReset, given_threads_that_submit_when_reset_at_any_moment_then_their_work_is_done_or_lost) {
  EXPECT_EQ(ZE_RESULT_SUCCESS, queue_.destroy());
  const int resets = by_board(60, 4);
  for (int round = 0; round < resets; ++round) {
    context_ = create_context(driver());
    const OwnedMemory block = memory(MemoryKind::device, 8192);
    {
      std::list<Submitter> submitters;
      for (int count = 0; count < 4; ++count) {
        submitters.emplace_back(context(), device(), static_cast<char*>(block.get()));
      }
      submitters.back().wait_for_copies(1 + round * 13 % 200);
      EXPECT_EQ(ZE_RESULT_SUCCESS, zesDeviceReset(managed_, 1)) << last_error_text();
      for (Submitter& each : submitters) {
        each.expect_lost();
      }
    }
    ASSERT_FALSE(HasFailure()) << "reset " << round;
  }
  expect_a_new_context_to_work();
}

TEST_F(DeviceReset, given_waits_for_what_nobody_will_do_when_reset_then_they_end_as_lost_within_a_moment) {
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const OwnedEvent unsignalled = create_event(pool, 0);
  const OwnedFence unsubmitted = create_fence(queue());
  std::array<ze_result_t, 3> answers{};
  std::vector<std::thread> waiting;
  waiting.emplace_back([&] { answers[0] = zeEventHostSynchronize(unsignalled, UINT64_MAX); });
  waiting.emplace_back([&] { answers[1] = zeEventHostSynchronize(unsignalled, patience_ns); });
  waiting.emplace_back([&] { answers[2] = zeFenceHostSynchronize(unsubmitted, UINT64_MAX); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(ZE_RESULT_SUCCESS, zesDeviceReset(managed_, 1)) << last_error_text();
  for (std::thread& each : waiting) {
    each.join();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::nanoseconds(patience_ns / 2));
  for (const ze_result_t answer : answers) {
    EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, answer);
  }
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeEventQueryStatus(unsignalled));
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeFenceQueryStatus(unsubmitted));
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandQueueSynchronize(queue(), UINT64_MAX));
}

TEST_F(DeviceReset, given_a_context_that_a_reset_has_taken_when_used_then_everything_but_its_end_is_lost) {
  const OwnedEventPool pool = create_event_pool(context(), 2);
  const OwnedEvent event = create_event(pool, 0);
  const OwnedList list = create_list(context(), device());
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  const OwnedFence fence = create_fence(queue());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceReset(managed_, 1)) << last_error_text();

  void* pointer = nullptr;
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host, MemoryKind::shared}) {
    EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, allocate_raw(kind, context(), device(), 4096, 0, &pointer));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeVirtualMemReserve(context(), nullptr, 4096, &pointer));
  ze_ipc_mem_handle_t handle{};
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeMemGetIpcHandle(context(), block.get(), &handle));
  const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, 1};
  ze_event_pool_handle_t no_pool = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeEventPoolCreate(context(), &pool_desc, 0, nullptr, &no_pool));
  const ze_event_desc_t event_desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 1, 0, 0};
  ze_event_handle_t no_event = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeEventCreate(pool, &event_desc, &no_event));
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSignal(event));
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostReset(event));
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeFenceReset(fence));
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListClose(list));
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListReset(list));
  ze_command_list_desc_t list_desc{};
  list_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
  ze_command_list_handle_t no_list = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListCreate(context(), device(), &list_desc, &no_list));
  EXPECT_NE(std::string::npos, last_error_text().find("reset")) << last_error_text();
}

TEST_F(DeviceReset, given_no_context_when_reset_then_no_force_is_needed) {
  ASSERT_EQ(ZE_RESULT_SUCCESS, context_.destroy());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceReset(managed_, 0)) << last_error_text();
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetStatus(device()));
  expect_a_new_context_to_work();
}

TEST_F(DeviceReset, given_each_type_of_reset_when_asked_for_then_what_cannot_be_done_is_refused) {
  zes_reset_properties_t wish{};
  wish.stype = ZES_STRUCTURE_TYPE_RESET_PROPERTIES;
  wish.force = 1;
  wish.resetType = ZES_RESET_TYPE_COLD;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zesDeviceResetExt(managed_, &wish));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextGetStatus(context())) << "nothing was reset";
  wish.resetType = static_cast<zes_reset_type_t>(3);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, zesDeviceResetExt(managed_, &wish));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesDeviceResetExt(managed_, nullptr));
  for (const zes_reset_type_t type : {ZES_RESET_TYPE_WARM, ZES_RESET_TYPE_FLR}) {
    wish.resetType = type;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zesDeviceResetExt(managed_, &wish)) << last_error_text();
    EXPECT_EQ(ZE_RESULT_ERROR_DEVICE_LOST, zeContextGetStatus(context()));
    expect_a_new_context_to_work();
    EXPECT_EQ(ZE_RESULT_SUCCESS, queue_.destroy());
  }
}

}  // namespace
}  // namespace datum::test
