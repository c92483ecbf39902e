// zeDriverGetLastErrorDescription: a sentence with the value that was wrong and the limit.
#include <cstdio>
#include <thread>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class ErrorText : public ApiTest {
 protected:
  [[nodiscard]] std::string last_error() const {
    const char* text = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDriverGetLastErrorDescription(driver(), &text));
    EXPECT_NE(nullptr, text);
    return text != nullptr ? text : "";
  }

  /// The text names each of these.
  static void expect_in(const std::string& text, std::initializer_list<const char*> parts) {
    EXPECT_GE(text.size(), 10U) << text;
    for (const char* part : parts) {
      EXPECT_NE(std::string::npos, text.find(part)) << "'" << part << "' is not in: " << text;
    }
  }
};

TEST_F(ErrorText, given_an_alignment_that_is_no_power_of_two_when_refused_then_the_text_names_it) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer answers before the driver";
  }
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
            allocate_raw(MemoryKind::device, context(), device(), 64, 24, &pointer));
  expect_in(last_error(), {"24", "power of two"});
}

TEST_F(ErrorText, given_a_size_above_the_maximum_when_refused_then_the_text_names_size_and_maximum) {
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
  void* pointer = nullptr;
  const auto bytes = static_cast<std::size_t>(properties.maxMemAllocSize) + 1;
  ASSERT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
            allocate_raw(MemoryKind::device, context(), device(), bytes, 0, &pointer));
  expect_in(last_error(),
            {std::to_string(bytes).c_str(), std::to_string(properties.maxMemAllocSize).c_str()});
}

TEST_F(ErrorText, given_ordinary_memory_that_is_not_there_when_copied_then_the_text_names_what_was_given) {
  const OwnedMemory block = memory(MemoryKind::device, 64);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, block.get(), reinterpret_cast<void*>(8), 3,
                                                             nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandQueueExecuteCommandLists(queue(), 1, &handle, nullptr));
  expect_in(last_error(), {"3 bytes at 0x8"});
}

TEST_F(ErrorText, given_memory_that_is_full_when_refused_then_the_text_names_what_was_asked_for) {
  std::vector<OwnedMemory> blocks;
  void* pointer = nullptr;
  while (allocate_raw(MemoryKind::onchip, context(), device(), 4096, 0, &pointer) == ZE_RESULT_SUCCESS) {
    blocks.emplace_back(context(), pointer);
  }
  ASSERT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
            allocate_raw(MemoryKind::onchip, context(), device(), 12'288, 0, &pointer));
  expect_in(last_error(), {"12288"});
}

TEST_F(ErrorText, given_a_pointer_that_is_no_allocation_when_freed_then_the_text_names_it) {
  ASSERT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context(), reinterpret_cast<void*>(0x12345678)));
  expect_in(last_error(), {"12345678"});
}

TEST_F(ErrorText, given_a_bad_pattern_when_refused_then_the_text_names_its_size) {
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  const Bytes value(64, 1);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_ERROR_INVALID_SIZE,
            zeCommandListAppendMemoryFill(list, block.get(), value.data(), 12, 48, nullptr, 0, nullptr));
  expect_in(last_error(), {"12"});
}

TEST_F(ErrorText, given_work_that_the_board_refused_when_waited_for_then_the_text_says_why_and_where) {
  const ze_host_mem_alloc_desc_t read_only{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr,
                                           ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY};
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(context(), &read_only, 4096, 0, &pointer));
  const OwnedMemory guarded(context(), pointer);
  const OwnedMemory source = memory(MemoryKind::device, 4096);
  const OwnedQueue victim = create_queue(context(), device());
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, guarded.get(), source.get(), 64, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(victim, 1, &handle, nullptr));
  ASSERT_EQ(ZE_RESULT_ERROR_UNKNOWN, zeCommandQueueSynchronize(victim, patience_ns));
  char address[32];
  std::snprintf(address, sizeof address, "%zx", reinterpret_cast<std::size_t>(pointer));
  expect_in(last_error(), {address, "write"});
}

TEST_F(ErrorText, given_errors_in_two_threads_when_asked_then_each_thread_gets_its_own) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer answers before the driver";
  }
  void* pointer = nullptr;
  ASSERT_NE(ZE_RESULT_SUCCESS, allocate_raw(MemoryKind::device, context(), device(), 64, 24, &pointer));
  std::thread other([&] {
    EXPECT_NE(ZE_RESULT_SUCCESS, zeMemFree(context(), reinterpret_cast<void*>(0x12345678)));
    expect_in(last_error(), {"12345678"});
  });
  other.join();
  expect_in(last_error(), {"24"});
}

TEST_F(ErrorText, given_a_null_place_for_the_text_when_asked_then_it_is_named) {
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDriverGetLastErrorDescription(driver(), nullptr));
}

}  // namespace
}  // namespace datum::test
