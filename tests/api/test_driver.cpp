// What the driver says about itself.
#include <algorithm>
#include <cstring>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class Driver : public ApiTest {};

TEST_F(Driver, given_the_driver_when_asked_for_its_api_then_it_is_1_17) {
  ze_api_version_t version{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGetApiVersion(driver(), &version));
  EXPECT_EQ(1U, ZE_MAJOR_VERSION(version));
  EXPECT_EQ(17U, ZE_MINOR_VERSION(version));
}

TEST_F(Driver, given_the_driver_when_asked_for_properties_then_they_are_the_same_every_time) {
  ze_driver_properties_t first{ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES, nullptr, {}, 0};
  ze_driver_properties_t second = first;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGetProperties(driver(), &first));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGetProperties(driver(), &second));
  EXPECT_NE(0U, first.driverVersion);
  EXPECT_EQ(first.driverVersion, second.driverVersion);
  EXPECT_EQ(0, std::memcmp(&first.uuid, &second.uuid, sizeof first.uuid));
  EXPECT_EQ(ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES, first.stype);
  EXPECT_EQ(nullptr, first.pNext);
}

TEST_F(Driver, given_an_unknown_structure_behind_the_properties_when_asked_then_it_is_left_alone) {
  struct Unknown {
    ze_structure_type_t stype;
    void* next;
    std::uint64_t words[4];
  };

  Unknown unknown{static_cast<ze_structure_type_t>(0x7f00), nullptr, {1, 2, 3, 4}};
  ze_driver_properties_t properties{ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES, &unknown, {}, 0};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGetProperties(driver(), &properties));
  EXPECT_NE(0U, properties.driverVersion);
  EXPECT_EQ(&unknown, properties.pNext);
  EXPECT_EQ(0x7f00, static_cast<int>(unknown.stype));
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(i + 1, unknown.words[i]);
  }
}

TEST_F(Driver, given_the_driver_when_asked_for_extensions_then_the_count_idiom_holds_and_no_name_repeats) {
  std::uint32_t count = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGetExtensionProperties(driver(), &count, nullptr));
  ASSERT_GT(count, 0U);
  std::vector<ze_driver_extension_properties_t> extensions(count + 1);
  extensions[count].version = 0xabcd;
  std::uint32_t larger = count + 1;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGetExtensionProperties(driver(), &larger, extensions.data()));
  EXPECT_EQ(count, larger);
  EXPECT_EQ(0xabcdU, extensions[count].version);
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) {
    names.emplace_back(extensions[i].name);
    EXPECT_FALSE(names.back().empty());
    EXPECT_GE(extensions[i].version, 0x10000U) << names.back();
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names.end(), std::adjacent_find(names.begin(), names.end()));

  std::uint32_t one = 1;
  ze_driver_extension_properties_t only{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGetExtensionProperties(driver(), &one, &only));
  EXPECT_EQ(1U, one);
  EXPECT_STREQ(extensions[0].name, only.name);
}

TEST_F(Driver, given_ipc_properties_when_asked_then_no_kind_is_claimed_whose_functions_are_missing) {
  ze_driver_ipc_properties_t properties{ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES, nullptr, 0xffffffffU};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGetIpcProperties(driver(), &properties));
  EXPECT_EQ(0U, properties.flags & ~ze_ipc_property_flags_t{7});
  EXPECT_NE(0U, properties.flags & ZE_IPC_PROPERTY_FLAG_EVENT_POOL);
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  ze_ipc_mem_handle_t handle{};
  const ze_result_t exported = zeMemGetIpcHandle(context(), block.get(), &handle);
  const bool claimed = (properties.flags & ZE_IPC_PROPERTY_FLAG_MEMORY) != 0;
  EXPECT_EQ(claimed ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, exported);
}

TEST_F(
    Driver,
    given_an_extension_function_that_does_not_exist_when_asked_for_then_it_is_refused_and_nothing_written) {
  void* address = reinterpret_cast<void*>(0x1234);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeDriverGetExtensionFunctionAddress(driver(), "zeNoSuchFunction", &address));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeDriverGetExtensionFunctionAddress(driver(), nullptr, &address));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeDriverGetExtensionFunctionAddress(driver(), "zeNoSuchFunction", nullptr));
  EXPECT_EQ(reinterpret_cast<void*>(0x1234), address);
}

TEST_F(Driver, given_null_outputs_when_asked_then_the_null_pointer_is_named) {
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDriverGetApiVersion(driver(), nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDriverGetProperties(driver(), nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDriverGetIpcProperties(driver(), nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDriverGetExtensionProperties(driver(), nullptr, nullptr));
}

}  // namespace
}  // namespace datum::test
