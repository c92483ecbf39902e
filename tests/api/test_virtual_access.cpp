// zeVirtualMemSetAccessAttribute, zeVirtualMemGetAccessAttribute, and what boards and the CPU may do by them.
#include "tests/api/virtual_memory_test.hpp"
#include "tests/support/memory_probe.hpp"

namespace datum::test {
namespace {

class VirtualAccess : public VirtualTest {
 protected:
  [[nodiscard]] ze_result_t set(const void* at, std::size_t bytes,
                                ze_memory_access_attribute_t access) const {
    return zeVirtualMemSetAccessAttribute(context(), at, bytes, access);
  }
};

TEST_F(VirtualAccess, given_a_reservation_without_mappings_then_access_is_none_and_is_whatever_it_is_set_to) {
  const OwnedReservation range = reserve(4 * page);
  std::size_t alike = 0;
  EXPECT_EQ(none, access_at(range.at(), 4 * page, &alike));
  EXPECT_EQ(4 * page, alike);
  for (const auto access : {read_write, read_only, none}) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(), 4 * page, access));
    EXPECT_EQ(access, access_at(range.at(), 4 * page, &alike));
    EXPECT_EQ(4 * page, alike);
    EXPECT_FALSE(host_can_read(range.at())) << "nothing is mapped";
  }
}

TEST_F(VirtualAccess, given_pages_of_different_access_then_the_length_ends_where_access_or_question_ends) {
  const OwnedPhysical object = physical(6 * page);
  const OwnedReservation range = reserve(8 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(page), 6 * page, object));
  ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(3 * page), 2 * page, read_only));
  const auto expect_run = [&](std::size_t first, std::size_t pages, ze_memory_access_attribute_t access,
                              std::size_t alike_pages) {
    std::size_t alike = 0;
    EXPECT_EQ(access, access_at(range.at(first * page), pages * page, &alike)) << first;
    EXPECT_EQ(alike_pages * page, alike) << first;
  };
  expect_run(0, 8, none, 1);
  expect_run(1, 7, read_write, 2);
  expect_run(2, 1, read_write, 1);
  expect_run(3, 5, read_only, 2);
  expect_run(3, 1, read_only, 1);
  expect_run(5, 3, read_write, 2);
  expect_run(7, 1, none, 1);
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(2 * page), 3 * page));
  expect_run(2, 6, none, 3);
  ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(), 8 * page, read_write));
  expect_run(0, 8, read_write, 8);
}

TEST_F(VirtualAccess,
       given_a_read_only_page_when_the_board_writes_then_the_command_fails_and_nothing_is_written) {
  for (const ze_physical_mem_flags_t flags : {ze_physical_mem_flags_t{0}, in_host}) {
    const OwnedPhysical object = physical(2 * page, flags);
    const OwnedMemory block = memory(MemoryKind::host, page);
    write_pattern(block.get(), page, 2);
    const OwnedReservation range = reserve(2 * page);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 2 * page, object));
    upload(range.at(), pattern(2 * page, 1));
    ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(page), page, read_only));
    EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, copy_code_apart(range.at(page), block.get(), page));
    EXPECT_TRUE(same_bytes(pattern(2 * page, 1), download(range.at(), 2 * page))) << "it reads, unchanged";
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetStatus(device()));
    upload(range.at(), pattern(page, 3));
    ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(page), page, read_write));
    upload(range.at(page), pattern(page, 4));
    EXPECT_TRUE(same_bytes(pattern(page, 4), download(range.at(page), page))) << "writable again";
  }
}

TEST_F(VirtualAccess, given_an_object_mapped_read_only_and_writable_then_each_place_has_its_own_access) {
  const OwnedPhysical object = physical(page);
  const OwnedMemory block = memory(MemoryKind::host, page);
  const OwnedReservation range = reserve(2 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), page, object, 0, read_only));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(page), page, object));
  upload(range.at(page), pattern(page, 5));
  EXPECT_TRUE(same_bytes(pattern(page, 5), download(range.at(), page)));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, copy_code_apart(range.at(), block.get(), page));
}

TEST_F(VirtualAccess, given_a_page_without_access_when_the_board_reads_or_writes_then_the_command_fails) {
  for (const ze_physical_mem_flags_t flags : {ze_physical_mem_flags_t{0}, in_host}) {
    const OwnedPhysical object = physical(3 * page, flags);
    const OwnedMemory block = memory(MemoryKind::host, page);
    const OwnedReservation range = reserve(3 * page);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 3 * page, object));
    upload(range.at(), pattern(3 * page, 1));
    ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(page), page, none));
    EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, copy_code_apart(block.get(), range.at(page), page));
    EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, copy_code_apart(range.at(page), block.get(), page));
    ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(page), page, read_only));
    EXPECT_TRUE(same_bytes(pattern(3 * page, 1), download(range.at(), 3 * page)));
  }
}

TEST_F(VirtualAccess, given_host_memory_when_access_changes_then_the_cpu_may_do_what_the_board_may) {
  const OwnedPhysical object = physical(3 * page, in_host);
  const OwnedReservation range = reserve(4 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 3 * page, object));
  write_pattern(range.at(), 3 * page, 1);
  ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(page), 3 * page, read_only)) << "also over what is not mapped";
  EXPECT_TRUE(host_can_write(range.at()));
  EXPECT_FALSE(host_can_write(range.at(page)));
  EXPECT_TRUE(host_can_read(range.at(page)));
  EXPECT_FALSE(host_can_read(range.at(3 * page)));
  ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(page), page, none));
  EXPECT_FALSE(host_can_read(range.at(page)));
  EXPECT_FALSE(host_can_write(range.at(2 * page)));
  ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(), 3 * page, read_write));
  EXPECT_TRUE(same_bytes(pattern(3 * page, 1).data(), range.at(), 3 * page));
}

TEST_F(VirtualAccess, given_memory_mapped_without_access_when_it_is_given_access_then_it_is_the_objects) {
  const OwnedPhysical object = physical(2 * page, in_host);
  const OwnedReservation range = reserve(2 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 2 * page, object, 0, none));
  EXPECT_FALSE(host_can_read(range.at()));
  ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(), 2 * page, read_write));
  write_pattern(range.at(), 2 * page, 3);
  EXPECT_TRUE(same_bytes(pattern(2 * page, 3), download(range.at(), 2 * page)));
}

TEST_F(VirtualAccess, given_one_page_of_a_large_one_when_its_access_changes_then_the_others_keep_theirs) {
  constexpr std::size_t large = 2U << 20U;
  const OwnedPhysical object = physical(large);
  const OwnedMemory block = memory(MemoryKind::host, page);
  const OwnedReservation range = reserve(large);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), large, object));
  upload(range.at(large / 2), pattern(2 * page, 1));
  ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(large / 2), page, read_only));
  EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, copy_code_apart(range.at(large / 2), block.get(), page));
  upload(range.at(large / 2 + page), pattern(page, 2));
  upload(range.at(large / 2 - page), pattern(page, 3));
  EXPECT_TRUE(same_bytes(pattern(2 * page, 1).data(), download(range.at(large / 2), page).data(), page));
  EXPECT_TRUE(same_bytes(pattern(page, 2), download(range.at(large / 2 + page), page)));
  ASSERT_EQ(ZE_RESULT_SUCCESS, set(range.at(), large, read_write));
  upload(range.at(large / 2), pattern(page, 4));
  EXPECT_TRUE(same_bytes(pattern(page, 4), download(range.at(large / 2), page)));
}

TEST_F(VirtualAccess, given_the_device_when_asked_then_it_says_that_read_only_pages_are_enforced) {
  ze_device_readonly_memory_ext_properties_t capability{};
  capability.stype = ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES;
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  properties.pNext = &capability;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
  EXPECT_EQ(ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED, capability.readonlyCapability);
}

TEST_F(VirtualAccess, given_wrong_arguments_when_access_is_set_or_asked_then_the_code_names_them) {
  const OwnedContext other = create_context(driver());
  const OwnedReservation range = reserve(2 * page);
  auto access = read_only;
  std::size_t alike = 77;
  const auto get = [&](const void* at, std::size_t bytes) {
    return zeVirtualMemGetAccessAttribute(context(), at, bytes, &access, &alike);
  };
  for (const auto& call :
       {std::function<ze_result_t(const void*, std::size_t)>(get),
        std::function<ze_result_t(const void*, std::size_t)>(
            [&](const void*at, std::size_t bytes) { return set(at, bytes, read_write); })}) {
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, call(range.at() + 1, page));
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, call(range.at(), 0));
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, call(range.at(), page - 1));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, call(range.at(page), 2 * page)) << "leaves the reservation";
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, call(reinterpret_cast<void*>(page), page));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, call(range.at(), SIZE_MAX - page + 1));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, call(nullptr, page));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeVirtualMemSetAccessAttribute(other, range.at(), page, read_write));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION,
            set(range.at(), page, static_cast<ze_memory_access_attribute_t>(3)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeVirtualMemGetAccessAttribute(context(), range.at(), page, nullptr, &alike));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeVirtualMemGetAccessAttribute(context(), range.at(), page, &access, nullptr));
  EXPECT_EQ(read_only, access) << "a failed question writes nothing";
  EXPECT_EQ(77U, alike);
  EXPECT_EQ(none, access_at(range.at(), 2 * page));
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            zeVirtualMemSetAccessAttribute(nullptr, range.at(), page, read_write));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            zeVirtualMemGetAccessAttribute(nullptr, range.at(), page, &access, &alike));
}

}  // namespace
}  // namespace datum::test
