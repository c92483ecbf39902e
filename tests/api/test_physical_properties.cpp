// zePhysicalMemGetProperties, and the sentences of refused calls on virtual memory.
#include <set>

#include "tests/api/virtual_memory_test.hpp"

namespace datum::test {
namespace {

class PhysicalProperties : public VirtualTest {};

TEST_F(PhysicalProperties,
       given_objects_when_asked_then_each_has_its_size_and_an_identifier_that_never_repeats) {
  std::set<std::uint64_t> seen;
  for (std::size_t round = 1; round <= 6; ++round) {
    const OwnedPhysical object = physical(round * page, round % 2 == 0 ? in_host : 0);
    ze_physical_mem_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemGetProperties(context(), object, &properties));
    EXPECT_EQ(round * page, properties.size);
    EXPECT_TRUE(seen.insert(properties.id).second);
    EXPECT_EQ(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, properties.stype);
    EXPECT_EQ(nullptr, properties.pNext);
  }
}

TEST_F(PhysicalProperties, given_wrong_arguments_when_asked_then_the_code_names_them_and_nothing_is_written) {
  const OwnedContext other = create_context(driver());
  const OwnedPhysical object = physical(page);
  ze_external_memory_export_fd_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr,
                                        ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD, -1};
  ze_physical_mem_properties_t properties{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, nullptr, 5, 6};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zePhysicalMemGetProperties(context(), object, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zePhysicalMemGetProperties(other, object, &properties));
  properties.pNext = &wanted;
  for (ze_external_memory_type_flags_t type = 1; type <= 0x80; type *= 2) {
    wanted.flags = type;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zePhysicalMemGetProperties(context(), object, &properties));
    EXPECT_EQ(-1, wanted.fd);
  }
  ze_external_memory_export_win32_handle_t windows{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32, nullptr,
                                                   ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32, nullptr};
  properties.pNext = &windows;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zePhysicalMemGetProperties(context(), object, &properties));
  EXPECT_EQ(5U, properties.id);
  EXPECT_EQ(6U, properties.size);
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zePhysicalMemGetProperties(nullptr, object, &properties));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zePhysicalMemGetProperties(context(), nullptr, &properties));
}

TEST_F(PhysicalProperties, given_refused_calls_then_the_sentence_has_size_and_limit_and_what_to_do) {
  const auto expect_in_text = [](const std::string& part) {
    EXPECT_NE(std::string::npos, last_error_text().find(part)) << last_error_text();
  };
  ze_physical_mem_desc_t wanted{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, std::size_t{1} << 60U};
  ze_physical_mem_handle_t handle = nullptr;
  ASSERT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, zePhysicalMemCreate(context(), device(), &wanted, &handle));
  expect_in_text("1152921504606846976 bytes");
  OwnedPhysical object = physical(2 * page);
  const OwnedReservation range = reserve(2 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 2 * page, object));
  ASSERT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, map(range.at(page), page, object));
  expect_in_text("mapped already");
  ASSERT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, object.destroy());
  expect_in_text("8192 bytes");
  ASSERT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeVirtualMemFree(context(), range.at(), page));
  expect_in_text("8192 bytes");
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(), 2 * page));
}

}  // namespace
}  // namespace datum::test
