// Physical memory objects that are shared: as descriptors, and through IPC handles.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>

#include "tests/api/external_memory_test.hpp"
#include "tests/api/scenarios.hpp"
#include "tests/api/virtual_memory_test.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

constexpr ze_physical_mem_flags_t places[] = {ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE,
                                              ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST};

ze_result_t create_raw(ze_context_handle_t context, ze_device_handle_t device, const void* next,
                       ze_physical_mem_flags_t place, ze_physical_mem_handle_t* handle,
                       std::size_t bytes = external_bytes) {
  ze_physical_mem_desc_t description{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, const_cast<void*>(next), place,
                                     bytes};
  return zePhysicalMemCreate(context, device, &description, handle);
}

class ExternalPhysical : public VirtualTest {
 protected:
  [[nodiscard]] OwnedPhysical exportable(ze_physical_mem_flags_t place) const {
    const ze_external_memory_export_desc_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                  opaque_fd};
    ze_physical_mem_handle_t handle = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, create_raw(context(), device(), &wanted, place, &handle))
        << last_error_text();
    return {context(), handle};
  }

  [[nodiscard]] ze_result_t import_object(ze_physical_mem_flags_t place, int fd, std::size_t bytes,
                                          OwnedPhysical& object) const {
    const ze_external_memory_import_fd_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr,
                                                opaque_fd, fd};
    ze_physical_mem_handle_t handle = nullptr;
    const ze_result_t result = create_raw(context(), device(), &wanted, place, &handle, bytes);
    object = OwnedPhysical(context(), handle);
    return result;
  }

  [[nodiscard]] int descriptor_of(ze_physical_mem_handle_t object) const {
    ze_external_memory_export_fd_t asked{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, opaque_fd, -1};
    ze_physical_mem_properties_t properties{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, &asked, 0, 0};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemGetProperties(context(), object, &properties))
        << last_error_text();
    EXPECT_EQ(external_bytes, properties.size);
    return asked.fd;
  }

  void expect_opens(const ze_ipc_mem_handle_t& handle, std::uint64_t seed) {
    void* opened = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), device(), handle, 0, &opened))
        << last_error_text();
    std::size_t size = 0;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), opened, nullptr, &size));
    EXPECT_EQ(external_bytes, size) << "the handle stands for the whole object";
    EXPECT_TRUE(same_bytes(pattern(external_bytes, seed), download(opened, external_bytes)));
    upload(opened, pattern(external_bytes, seed + 1));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), opened));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
  }
};

TEST_F(ExternalPhysical,
       given_an_object_made_for_export_then_its_descriptor_holds_its_pages_from_the_first_byte) {
  for (const ze_physical_mem_flags_t place : places) {
    const OwnedPhysical object = exportable(place);
    const OwnedReservation range = reserve(external_bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), external_bytes, object));
    const int fd = descriptor_of(object);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(fd, descriptor_of(object)) << "it is the driver's, and one";
    upload(range.at(), pattern(external_bytes, 1));
    const FileView view(fd, external_bytes);
    ASSERT_TRUE(view.valid());
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 1), view.content())) << place;
    write_pattern(view.at(), external_bytes, 2);
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 2), download(range.at(), external_bytes))) << place;
    ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(), external_bytes));
  }
}

TEST_F(ExternalPhysical,
       given_a_descriptor_when_imported_then_both_objects_are_the_same_pages_wherever_mapped) {
  for (const ze_physical_mem_flags_t place : places) {
    OwnedPhysical object = exportable(place);
    const int fd = ::fcntl(descriptor_of(object), F_DUPFD_CLOEXEC, 0);
    OwnedPhysical taken;
    ASSERT_EQ(ZE_RESULT_SUCCESS, import_object(place, fd, external_bytes, taken)) << last_error_text();
    EXPECT_EQ(0, ::close(fd)) << "the descriptor stays the application's";
    const OwnedReservation range = reserve(external_bytes);
    const OwnedReservation other = reserve(external_bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), external_bytes, object));
    // The second page first, so that offsets count.
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(other.at(0), page, taken, page));
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(other.at(page), page, taken, 0));
    upload(range.at(), pattern(external_bytes, 1));
    Bytes expected = pattern(external_bytes, 1);
    std::rotate(expected.begin(), expected.begin() + page, expected.end());
    EXPECT_TRUE(same_bytes(expected, download(other.at(), external_bytes))) << place;
    if (place == in_host) {
      EXPECT_TRUE(same_bytes(expected.data(), other.at(), external_bytes)) << "the CPU maps it too";
    }
    upload(other.at(), pattern(external_bytes, 2));
    ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(), external_bytes));
    ASSERT_EQ(ZE_RESULT_SUCCESS, object.destroy());
    const OwnedPhysical next = physical(external_bytes, place);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), external_bytes, next));
    upload(range.at(), Bytes(external_bytes, 0x5a));
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 2), download(other.at(), external_bytes)))
        << "the importer keeps its bytes, and never sees the next owner's";
    ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(), external_bytes));
    ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(other.at(), external_bytes));
    EXPECT_EQ(ZE_RESULT_SUCCESS, taken.destroy());
  }
}

TEST_F(ExternalPhysical, given_another_program_when_it_imports_and_maps_then_both_use_the_same_pages) {
  for (const ze_physical_mem_flags_t place : places) {
    const OwnedPhysical object = exportable(place);
    const OwnedReservation range = reserve(external_bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), external_bytes, object));
    upload(range.at(), pattern(external_bytes, 1));
    const int inherited = ::fcntl(descriptor_of(object), F_DUPFD, 200);
    const ChildOutcome child = run_scenario_in_child(
        "external_physical_import",
        {{external_fd_variable, std::to_string(inherited)}, {external_kind_variable, std::to_string(place)}},
        std::chrono::seconds(60));
    EXPECT_EQ(0, ::close(inherited));
    EXPECT_TRUE(child.succeeded()) << place << ": " << child.describe();
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 2), download(range.at(), external_bytes)));
    ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(), external_bytes));
  }
}

TEST_F(ExternalPhysical, given_descriptors_that_do_not_fit_when_imported_then_they_are_invalid) {
  const OwnedPhysical on_device = exportable(places[0]);
  const OwnedPhysical on_host = exportable(places[1]);
  OwnedPhysical nothing;
  const std::size_t before = open_descriptors();
  for (const ze_physical_mem_flags_t place : places) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_object(place, -1, external_bytes, nothing));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              import_object(place, descriptor_of(place == in_host ? on_host : on_device), 2 * external_bytes,
                            nothing));
    EXPECT_EQ(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        import_object(place, descriptor_of(place == in_host ? on_device : on_host), external_bytes, nothing));
  }
  EXPECT_EQ(before, open_descriptors());
}

TEST_F(ExternalPhysical, given_types_that_are_not_claimed_when_created_then_they_are_unsupported) {
  const OwnedPhysical source = exportable(places[0]);
  ze_device_external_memory_properties_t found{
      ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES, nullptr, 0, 0, 0, 0};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetExternalMemoryProperties(device(), &found));
  ze_physical_mem_handle_t handle = nullptr;
  for (const ze_physical_mem_flags_t place : places) {
    for (ze_external_memory_type_flags_t type = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF; type <= 0x80;
         type *= 2) {
      if ((found.memoryAllocationExportTypes & type) != 0) {
        continue;
      }
      const ze_external_memory_export_desc_t to_export{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                       type};
      const ze_external_memory_import_fd_t to_import{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr,
                                                     type, descriptor_of(source)};
      EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                create_raw(context(), device(), &to_export, place, &handle));
      EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                create_raw(context(), device(), &to_import, place, &handle));
    }
    const ze_external_memory_import_win32_handle_t of_windows{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32,
                                                              nullptr, 0, nullptr, nullptr};
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
              create_raw(context(), device(), &of_windows, place, &handle));
  }
  EXPECT_EQ(nullptr, handle);
}

TEST_F(ExternalPhysical, given_an_object_destroyed_then_its_descriptor_is_closed) {
  { const OwnedPhysical first = exportable(places[0]); }
  for (const ze_physical_mem_flags_t place : places) {
    const std::size_t before = open_descriptors();
    OwnedPhysical object = exportable(place);
    const int fd = descriptor_of(object);
    ASSERT_EQ(ZE_RESULT_SUCCESS, object.destroy());
    EXPECT_EQ(-1, ::fcntl(fd, F_GETFD));
    EXPECT_EQ(before, open_descriptors());
  }
}

TEST_F(ExternalPhysical, given_a_physical_handle_as_pointer_then_the_ipc_handle_is_the_objects) {
  if (mode() == Mode::wrapped) {
    GTEST_SKIP() << "the loader does not translate a handle that is passed as a pointer";
  }
  for (const ze_physical_mem_flags_t place : places) {
    const OwnedPhysical object = physical(external_bytes, place);
    const OwnedReservation range = reserve(external_bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), external_bytes, object));
    upload(range.at(), pattern(external_bytes, 1));
    const auto* as_pointer = reinterpret_cast<const void*>(static_cast<ze_physical_mem_handle_t>(object));
    ze_ipc_mem_handle_t handle{};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), as_pointer, &handle)) << last_error_text();
    expect_opens(handle, 1);
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 2), download(range.at(), external_bytes))) << place;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandleWithProperties(context(), as_pointer, nullptr, &handle));
    expect_opens(handle, 2);
    const OwnedContext other = create_context(driver());
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetIpcHandle(other, as_pointer, &handle));
    ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(), external_bytes));
  }
}

TEST_F(ExternalPhysical, given_a_mapped_address_then_the_ipc_handle_is_of_the_object_behind_it) {
  for (const ze_physical_mem_flags_t place : places) {
    const OwnedPhysical object = physical(external_bytes, place);
    const OwnedReservation range = reserve(2 * external_bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), external_bytes, object));
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(external_bytes), page, object, page));
    upload(range.at(), pattern(external_bytes, 1));
    ze_ipc_mem_handle_t handle{};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), range.at(), &handle)) << last_error_text();
    expect_opens(handle, 1);
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 2), download(range.at(), external_bytes))) << place;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeMemGetIpcHandleWithProperties(context(), range.at(external_bytes), nullptr, &handle));
    expect_opens(handle, 2);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetIpcHandle(context(), range.at(page), &handle))
        << "no mapping begins there";
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeMemGetIpcHandle(context(), range.at(external_bytes + page), &handle))
        << "nothing is mapped there";
    ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(), external_bytes + page));
  }
}

}  // namespace

/// Imports the descriptor in the environment as physical memory, finds pattern 1 in it and leaves pattern 2.
int scenario_external_physical_import() {
  const int fd = std::stoi(std::getenv(external_fd_variable));
  const auto place = static_cast<ze_physical_mem_flags_t>(std::stoul(std::getenv(external_kind_variable)));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  const OwnedMemory staging = allocate(MemoryKind::host, context, device, external_bytes);
  const OwnedList list = create_immediate_list(context, device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const ze_external_memory_import_fd_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr, opaque_fd,
                                              fd};
  ze_physical_mem_handle_t object = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, create_raw(context, device, &wanted, place, &object));
  SCENARIO_REQUIRE(::close(fd) == 0);
  const OwnedPhysical owner(context, object);
  void* base = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeVirtualMemReserve(context, nullptr, external_bytes, &base));
  const OwnedReservation range(context, base, external_bytes);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeVirtualMemMap(context, base, external_bytes, object, 0,
                                                     ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
  const auto copy = [&](void* to, const void* from) {
    return zeCommandListAppendMemoryCopy(list, to, from, external_bytes, nullptr, 0, nullptr);
  };
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, copy(staging.get(), base));
  const Bytes expected = pattern(external_bytes, 1);
  SCENARIO_REQUIRE(std::memcmp(staging.get(), expected.data(), external_bytes) == 0);
  write_pattern(staging.get(), external_bytes, 2);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, copy(base, staging.get()));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeVirtualMemUnmap(context, base, external_bytes));
  return 0;
}

}  // namespace datum::test
