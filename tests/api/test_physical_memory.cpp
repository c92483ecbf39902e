// zePhysicalMemCreate, zePhysicalMemDestroy.
#include "tests/api/virtual_memory_test.hpp"

namespace datum::test {
namespace {

class PhysicalMemory : public VirtualTest {
 protected:
  static inline const ze_physical_mem_handle_t untouched = reinterpret_cast<ze_physical_mem_handle_t>(0xdead);

  static constexpr ze_physical_mem_desc_t description(std::size_t bytes, ze_physical_mem_flags_t flags = 0,
                                                      const void* next = nullptr) {
    return {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, next, flags, bytes};
  }

  /// Creates, checks that a handle is written exactly on success, destroys.
  [[nodiscard]] ze_result_t attempt(ze_physical_mem_desc_t wanted) const {
    ze_physical_mem_handle_t handle = untouched;
    const ze_result_t result = zePhysicalMemCreate(context(), device(), &wanted, &handle);
    if (result != ZE_RESULT_SUCCESS) {
      EXPECT_EQ(untouched, handle) << "a failed call writes no handle";
      return result;
    }
    EXPECT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemDestroy(context(), handle));
    return result;
  }
};

TEST_F(PhysicalMemory, given_flags_when_created_then_the_defined_ones_are_taken_and_others_refused) {
  for (const ze_physical_mem_flags_t flags : {0U, 1U, 2U}) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, attempt(description(page, flags))) << flags;
  }
  for (const ze_physical_mem_flags_t flags : {3U, 4U, 0x80000000U, 0xffffffffU}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, attempt(description(page, flags))) << flags;
  }
}

TEST_F(PhysicalMemory, given_sizes_that_are_no_whole_pages_when_created_then_the_size_is_unsupported) {
  for (const ze_physical_mem_flags_t flags : {0U, 2U}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, std::size_t{7}, std::size_t{12},
                                    std::size_t{44}, page - 1, page + 1, SIZE_MAX}) {
      EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, attempt(description(bytes, flags))) << bytes;
    }
  }
}

TEST_F(PhysicalMemory,
       given_more_than_there_is_when_created_then_the_memory_that_lacks_is_named_and_all_goes_on) {
  for (const unsigned bit : {45U, 46U, 47U, 60U, 63U}) {
    EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, attempt(description(std::size_t{1} << bit))) << bit;
    EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, attempt(description(std::size_t{1} << bit, in_host)))
        << bit;
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt(description(page)));
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt(description(page, in_host)));
}

TEST_F(PhysicalMemory, given_wrong_descriptors_when_created_then_the_code_names_what_is_wrong) {
  ze_physical_mem_handle_t handle = nullptr;
  ze_physical_mem_desc_t right = description(page);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zePhysicalMemCreate(context(), device(), nullptr, &handle));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zePhysicalMemCreate(context(), device(), &right, nullptr));
  ze_physical_mem_desc_t wrong = right;
  wrong.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, attempt(wrong));
  const ze_external_memory_import_win32_handle_t windows{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32,
                                                         nullptr, ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32,
                                                         nullptr, nullptr};
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, attempt(description(page, 0, &windows)));
  const ze_ipc_mem_handle_type_ext_desc_t plain{ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, nullptr,
                                                ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT};
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt(description(page, 0, &plain)));
  const ze_ipc_mem_handle_type_ext_desc_t fabric{ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, nullptr,
                                                 ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE};
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, attempt(description(page, 0, &fabric)));
  for (const auto type :
       {ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32, ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32_KMT,
        ZE_EXTERNAL_MEMORY_TYPE_FLAG_D3D11_TEXTURE, ZE_EXTERNAL_MEMORY_TYPE_FLAG_D3D11_TEXTURE_KMT,
        ZE_EXTERNAL_MEMORY_TYPE_FLAG_D3D12_HEAP, ZE_EXTERNAL_MEMORY_TYPE_FLAG_D3D12_RESOURCE}) {
    const ze_external_memory_export_desc_t exported{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                    static_cast<ze_external_memory_type_flags_t>(type)};
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, attempt(description(page, 0, &exported))) << type;
    const ze_external_memory_import_fd_t imported{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr,
                                                  static_cast<ze_external_memory_type_flags_t>(type), 0};
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, attempt(description(page, 0, &imported))) << type;
  }
  const ze_base_desc_t unknown{static_cast<ze_structure_type_t>(0x7ffffff0), nullptr};
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt(description(page, 0, &unknown)));
}

TEST_F(PhysicalMemory, given_no_device_when_host_memory_is_created_then_it_works_and_device_memory_does_not) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  ze_physical_mem_handle_t handle = nullptr;
  ze_physical_mem_desc_t wanted = description(page, in_host);
  const ze_result_t without = zePhysicalMemCreate(context(), nullptr, &wanted, &handle);
  EXPECT_EQ(under_validation() ? ZE_RESULT_ERROR_INVALID_NULL_HANDLE : ZE_RESULT_SUCCESS, without);
  if (without == ZE_RESULT_SUCCESS) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemDestroy(context(), handle));
  }
  wanted = description(page);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zePhysicalMemCreate(context(), nullptr, &wanted, &handle));
}

TEST_F(PhysicalMemory, given_an_object_that_is_mapped_when_destroyed_then_it_is_in_use_and_keeps_its_bytes) {
  for (const ze_physical_mem_flags_t flags : {ze_physical_mem_flags_t{0}, in_host}) {
    OwnedPhysical object = physical(2 * page, flags);
    const OwnedReservation range = reserve(4 * page);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 2 * page, object));
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(3 * page), page, object, page, none));
    upload(range.at(), pattern(2 * page, 1));
    EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, object.destroy());
    EXPECT_TRUE(same_bytes(pattern(2 * page, 1), download(range.at(), 2 * page)));
    ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(), 2 * page));
    EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, object.destroy()) << "the page without access counts";
    ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(3 * page), page));
    EXPECT_EQ(ZE_RESULT_SUCCESS, object.destroy());
  }
}

TEST_F(PhysicalMemory, given_handles_that_are_none_when_used_then_they_are_refused) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  const OwnedReservation range = reserve(page);
  const auto as_object = [](const void* handle) {
    return static_cast<ze_physical_mem_handle_t>(const_cast<void*>(handle));
  };
  for (const void* bad : {static_cast<const void*>(nullptr), static_cast<const void*>(context())}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zePhysicalMemDestroy(context(), as_object(bad)));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, map(range.at(), page, as_object(bad)));
  }
  const OwnedPhysical object = physical(page);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zePhysicalMemDestroy(nullptr, object));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            zeVirtualMemMap(nullptr, range.at(), page, object, 0, read_write));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeVirtualMemUnmap(nullptr, range.at(), page));
}

TEST_F(PhysicalMemory, given_a_destroyed_object_when_its_handle_is_used_then_it_is_refused) {
  DATUM_NEEDS_SURVIVABLE_STALE_HANDLES();
  const OwnedReservation range = reserve(page);
  OwnedPhysical object = physical(page);
  const ze_physical_mem_handle_t stale = object;
  ASSERT_EQ(ZE_RESULT_SUCCESS, object.destroy());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zePhysicalMemDestroy(context(), stale));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, map(range.at(), page, stale));
}

TEST_F(PhysicalMemory, given_an_object_of_another_context_when_destroyed_here_then_the_argument_is_invalid) {
  const OwnedContext other = create_context(driver());
  OwnedPhysical object = physical(page);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zePhysicalMemDestroy(other, object));
  EXPECT_EQ(ZE_RESULT_SUCCESS, object.destroy());
}

TEST_F(PhysicalMemory, given_objects_and_mappings_left_when_the_context_is_destroyed_then_all_of_it_goes) {
  OwnedContext other = create_context(driver());
  ze_physical_mem_handle_t handles[2]{};
  void* at = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemReserve(other, nullptr, 8 * page, &at));
  for (const ze_physical_mem_flags_t flags : {0U, 1U}) {
    ze_physical_mem_desc_t wanted = description(2 * page, flags == 0 ? 0 : in_host);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemCreate(other, device(), &wanted, &handles[flags]));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemMap(other, static_cast<char*>(at) + flags * 4 * page, 2 * page,
                                                 handles[flags], 0, read_write));
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, other.destroy());
  const OwnedReservation again = reserve(8 * page, at);
  EXPECT_EQ(at, again.at()) << "the addresses are free";
  if (stale_handles_are_survivable()) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, map(again.at(), page, handles[0]));
  }
}

TEST_F(PhysicalMemory,
       given_the_device_is_filled_with_objects_then_the_last_is_refused_and_freeing_one_helps) {
  ze_device_usablemem_size_ext_properties_t usable{};
  usable.stype = ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES;
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  properties.pNext = &usable;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
  const std::size_t half = usable.currUsableMemSize / 2 / page * page;
  OwnedPhysical first = physical(half);
  const OwnedPhysical second = physical(half - 64 * page);
  EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, attempt(description(half)));
  EXPECT_EQ(ZE_RESULT_SUCCESS, first.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt(description(half)));
}

}  // namespace
}  // namespace datum::test
