// Allocations that are exported as descriptors, and descriptors that become allocations.
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sys/stat.h>
#include <vector>

#include "tests/api/external_memory_test.hpp"
#include "tests/api/scenarios.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/page.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

class ExternalMemory : public ExternalTest {
 protected:
  /// A memory file of somebody else's.
  [[nodiscard]] static int memory_file(std::size_t bytes, int seals) {
    const int fd = ::memfd_create("theirs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(0, ::ftruncate(fd, static_cast<off_t>(bytes)));
    EXPECT_EQ(0, ::fcntl(fd, F_ADD_SEALS, seals));
    return fd;
  }

  void expect_refused(MemoryKind kind, int fd, std::size_t bytes, const char* what) const {
    int untouched = 0;
    void* pointer = &untouched;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import_raw(kind, context(), device(), fd, bytes, &pointer))
        << what << ", " << name_of(kind);
    EXPECT_EQ(&untouched, pointer) << what;
  }
};

TEST_F(ExternalMemory, given_each_type_when_claimed_then_a_round_trip_works_and_else_it_is_refused) {
  ze_device_external_memory_properties_t found{
      ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES, nullptr, 0, 0, 0, 0};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetExternalMemoryProperties(device(), &found));
  EXPECT_EQ(opaque_fd, found.memoryAllocationExportTypes & ~dma_buf) << "a simulated board shares by files";
  EXPECT_EQ(found.memoryAllocationExportTypes, found.memoryAllocationImportTypes);
  for (const MemoryKind kind : kinds) {
    for (ze_external_memory_type_flags_t type = 1; type <= 0x80; type *= 2) {
      const ze_external_memory_export_desc_t to_export{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                       type};
      void* pointer = nullptr;
      const bool claimed = (found.memoryAllocationExportTypes & type) != 0;
      const ze_result_t expected = claimed ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
      EXPECT_EQ(expected, allocate_with(kind, context(), device(), &to_export, page_bytes, &pointer)) << type;
      const OwnedMemory made(context(), pointer);
      const int fd = claimed ? descriptor_of(made.get(), type) : -1;
      pointer = nullptr;
      EXPECT_EQ(expected, import_raw(kind, context(), device(), fd, page_bytes, &pointer, type)) << type;
      const OwnedMemory taken(context(), pointer);
    }
  }
}

TEST_F(ExternalMemory, given_memory_made_for_export_then_the_descriptors_first_byte_is_the_memorys) {
  for (const MemoryKind kind : kinds) {
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{5000}, by_board<std::size_t>(3 << 20, 9000)}) {
      const OwnedMemory block = exportable(kind, bytes);
      upload(block.get(), pattern(bytes, 1));
      const int fd = descriptor_of(block.get());
      ASSERT_GE(fd, 0);
      EXPECT_GE(::lseek(fd, 0, SEEK_END), static_cast<off_t>(bytes));
      EXPECT_NE(0, ::fcntl(fd, F_GETFD) & FD_CLOEXEC) << "programs that are started do not get it unasked";
      const FileView view(fd, bytes);
      ASSERT_TRUE(view.valid());
      EXPECT_TRUE(same_bytes(pattern(bytes, 1), view.content())) << name_of(kind);
      write_pattern(view.at(), bytes, 2);
      EXPECT_TRUE(same_bytes(pattern(bytes, 2), download(block.get(), bytes))) << name_of(kind);
    }
  }
}

TEST_F(ExternalMemory, given_no_type_named_then_it_is_the_opaque_descriptor) {
  for (const MemoryKind kind : kinds) {
    const OwnedMemory block = exportable(kind, page_bytes, 0);
    const int fd = descriptor_of(block.get(), 0);
    EXPECT_EQ(fd, descriptor_of(block.get()));
    const OwnedMemory taken = imported(kind, fd, page_bytes, 0);
    upload(taken.get(), pattern(page_bytes, 1));
    EXPECT_TRUE(same_bytes(pattern(page_bytes, 1), download(block.get(), page_bytes)));
  }
}

TEST_F(ExternalMemory,
       given_a_type_that_was_not_asked_for_when_queried_then_it_is_invalid_and_nothing_is_written) {
  const OwnedMemory block = exportable(MemoryKind::device, page_bytes);
  for (ze_external_memory_type_flags_t type = 2; type <= 0x80; type *= 2) {
    ze_external_memory_export_fd_t asked{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, type, -1};
    ze_memory_allocation_properties_t properties{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, &asked,
                                                 ZE_MEMORY_TYPE_UNKNOWN, 0, 0};
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeMemGetAllocProperties(context(), block.get(), &properties, nullptr));
    EXPECT_EQ(-1, asked.fd);
    EXPECT_EQ(ZE_MEMORY_TYPE_UNKNOWN, properties.type);
  }
}

TEST_F(ExternalMemory, given_the_descriptor_asked_for_again_then_it_is_the_same_and_goes_with_the_memory) {
  for (const MemoryKind kind : kinds) {
    { const OwnedMemory first = exportable(kind, page_bytes); }  // what the first export starts is there
    const std::size_t before = open_descriptors();
    OwnedMemory block = exportable(kind, page_bytes);
    const int fd = descriptor_of(block.get());
    EXPECT_EQ(fd, descriptor_of(block.get()));
    ze_ipc_mem_handle_t handle{};
    std::memcpy(handle.data, &fd, sizeof fd);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle)) << "the text allows it";
    EXPECT_EQ(fd, descriptor_of(block.get()));
    ASSERT_EQ(ZE_RESULT_SUCCESS, block.free());
    EXPECT_EQ(-1, ::fcntl(fd, F_GETFD));
    EXPECT_LE(open_descriptors(), before) << name_of(kind);
  }
}

TEST_F(ExternalMemory,
       given_an_application_that_closes_the_descriptor_then_it_gets_another_and_no_number_is_lost) {
  for (const MemoryKind kind : kinds) {
    OwnedMemory block = exportable(kind, page_bytes);
    upload(block.get(), pattern(page_bytes, 1));
    const int closed = descriptor_of(block.get());
    ASSERT_EQ(0, ::close(closed));
    const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // takes the number, most likely
    const int fd = descriptor_of(block.get());
    ASSERT_GE(fd, 0);
    EXPECT_NE(other, fd);
    {
      const OwnedMemory taken = imported(kind, fd, page_bytes);
      EXPECT_TRUE(same_bytes(pattern(page_bytes, 1), download(taken.get(), page_bytes)));
    }
    ze_ipc_mem_handle_t handle{};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), block.get(), &handle));
    int in_handle = -1;
    std::memcpy(&in_handle, handle.data, sizeof in_handle);
    EXPECT_EQ(fd, in_handle);
    ASSERT_EQ(0, ::close(fd));
    EXPECT_EQ(ZE_RESULT_SUCCESS, block.free());
    EXPECT_EQ(0, ::close(other)) << "a descriptor of the application's own was closed";
  }
}

TEST_F(ExternalMemory, given_an_odd_size_then_all_of_it_is_there_and_behind_it_are_zeroes) {
  for (const MemoryKind kind : kinds) {
    {
      const OwnedMemory dirty = memory(kind, 2 * page_bytes);
      upload(dirty.get(), Bytes(2 * page_bytes, 0xee));
    }
    const OwnedMemory block = exportable(kind, 5000);
    upload(block.get(), pattern(5000, 1));
    const int fd = descriptor_of(block.get());
    const OwnedMemory same = imported(kind, fd, 5000);
    const OwnedMemory whole = imported(kind, fd, 2 * page_bytes);
    EXPECT_TRUE(same_bytes(pattern(5000, 1), download(same.get(), 5000))) << name_of(kind);
    Bytes expected = pattern(5000, 1);
    expected.resize(2 * page_bytes, 0);
    EXPECT_TRUE(same_bytes(expected, download(whole.get(), 2 * page_bytes))) << name_of(kind);
  }
}

TEST_F(ExternalMemory, given_an_import_then_it_is_an_allocation_of_its_kind_that_shares_the_bytes) {
  for (const MemoryKind kind : kinds) {
    const OwnedMemory block = exportable(kind, external_bytes);
    upload(block.get(), pattern(external_bytes, 1));
    const int fd = ::fcntl(descriptor_of(block.get()), F_DUPFD_CLOEXEC, 0);
    OwnedMemory taken = imported(kind, fd, external_bytes);
    EXPECT_EQ(0, ::close(fd)) << "the descriptor stays the application's";
    EXPECT_NE(block.get(), taken.get());
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 1), download(taken.get(), external_bytes)));
    upload(taken.get(), pattern(external_bytes, 2));
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 2), download(block.get(), external_bytes)));
    ze_memory_allocation_properties_t properties{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, nullptr,
                                                 ZE_MEMORY_TYPE_UNKNOWN, 0, 0};
    ze_device_handle_t owner = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), taken.get(), &properties, &owner));
    EXPECT_EQ(type_of(kind), properties.type);
    EXPECT_EQ(kind == MemoryKind::device ? device() : nullptr, owner);
    std::size_t size = 0;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), taken.get(), nullptr, &size));
    EXPECT_EQ(external_bytes, size);
    ze_ipc_mem_handle_t handle{};
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetIpcHandle(context(), taken.get(), &handle));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemCloseIpcHandle(context(), taken.get()));
    EXPECT_EQ(ZE_RESULT_SUCCESS, taken.free());
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 2), download(block.get(), external_bytes)));
  }
}

TEST_F(ExternalMemory, given_another_program_when_it_imports_then_both_read_and_write_the_same_bytes) {
  for (const MemoryKind kind : kinds) {
    const OwnedMemory block = exportable(kind, external_bytes);
    upload(block.get(), pattern(external_bytes, 1));
    const int inherited = ::fcntl(descriptor_of(block.get()), F_DUPFD, 200);
    const ChildOutcome child = run_scenario_in_child(
        "external_import",
        {{external_fd_variable, std::to_string(inherited)}, {external_kind_variable, name_of(kind)}},
        std::chrono::seconds(60));
    EXPECT_EQ(0, ::close(inherited));
    EXPECT_TRUE(child.succeeded()) << name_of(kind) << ": " << child.describe();
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 2), download(block.get(), external_bytes)));
  }
}

TEST_F(ExternalMemory, given_memory_freed_while_its_descriptor_is_held_then_the_holder_keeps_the_old_bytes) {
  for (const MemoryKind kind : kinds) {
    OwnedMemory block = exportable(kind, external_bytes);
    upload(block.get(), pattern(external_bytes, 1));
    const int fd = descriptor_of(block.get());
    const FileView view(fd, external_bytes);
    OwnedMemory taken = imported(kind, fd, external_bytes);
    ASSERT_TRUE(view.valid());
    ASSERT_EQ(ZE_RESULT_SUCCESS, block.free());
    std::vector<OwnedMemory> next;
    for (int index = 0; index < 20; ++index) {
      next.push_back(memory(kind, external_bytes));
      upload(next.back().get(), Bytes(external_bytes, 0x5a));
    }
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 1), view.content())) << name_of(kind);
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 1), download(taken.get(), external_bytes)));
    write_pattern(view.at(), external_bytes, 3);
    for (const OwnedMemory& other : next) {
      EXPECT_TRUE(same_bytes(Bytes(external_bytes, 0x5a), download(other.get(), external_bytes)));
    }
  }
}

TEST_F(ExternalMemory, given_descriptors_that_are_none_of_ours_when_imported_then_they_are_invalid) {
  const OwnedMemory on_device = exportable(MemoryKind::device, page_bytes);
  const OwnedMemory on_host = exportable(MemoryKind::host, page_bytes);
  const int device_fd = descriptor_of(on_device.get());
  const int host_fd = descriptor_of(on_host.get());
  int ends[2]{};
  ASSERT_EQ(0, ::pipe2(ends, O_CLOEXEC));
  const int directory = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const int shrinkable = memory_file(4 * page_bytes, F_SEAL_GROW);
  const int read_only = memory_file(4 * page_bytes, F_SEAL_SHRINK | F_SEAL_WRITE);
  const int small = memory_file(page_bytes, F_SEAL_SHRINK);
  const std::size_t before = open_descriptors();
  for (const MemoryKind kind : kinds) {
    expect_refused(kind, -1, page_bytes, "no descriptor");
    expect_refused(kind, 987'654, page_bytes, "not open");
    expect_refused(kind, ends[0], page_bytes, "a pipe");
    expect_refused(kind, directory, page_bytes, "a directory");
    expect_refused(kind, file, page_bytes, "a program");
    expect_refused(kind, shrinkable, page_bytes, "a file that may be cut short");
    expect_refused(kind, read_only, page_bytes, "a file that may not be written");
    expect_refused(kind, small, page_bytes + 1, "a file that is too small");
  }
  expect_refused(MemoryKind::device, device_fd, page_bytes + 1, "too small");
  expect_refused(MemoryKind::host, host_fd, page_bytes + 1, "too small");
  expect_refused(MemoryKind::device, host_fd, page_bytes, "host memory as the device's");
  expect_refused(MemoryKind::host, device_fd, page_bytes, "device memory as the host's");
  expect_refused(MemoryKind::device, small, page_bytes, "a file of nobody's device");
  EXPECT_EQ(before, open_descriptors());
  for (const int fd : {ends[0], ends[1], directory, file, shrinkable, read_only, small}) {
    EXPECT_EQ(0, ::close(fd)) << "refusing closed it";
  }
}

TEST_F(ExternalMemory, given_a_sealed_memory_file_of_somebody_elses_then_it_may_be_host_memory) {
  const int fd = memory_file(3 * page_bytes, F_SEAL_SHRINK);
  const FileView view(fd, 3 * page_bytes);
  ASSERT_TRUE(view.valid());
  write_pattern(view.at(), 3 * page_bytes, 1);
  OwnedMemory taken = imported(MemoryKind::host, fd, 2 * page_bytes);
  EXPECT_EQ(0, ::close(fd));
  EXPECT_TRUE(same_bytes(pattern(3 * page_bytes, 1).data(), taken.get(), 2 * page_bytes));
  upload(taken.get(), pattern(2 * page_bytes, 2));
  EXPECT_TRUE(same_bytes(pattern(2 * page_bytes, 2).data(), view.at(), 2 * page_bytes));
  EXPECT_EQ(ZE_RESULT_SUCCESS, taken.free());
}

TEST_F(ExternalMemory, given_wishes_that_cannot_be_had_then_the_code_says_so_and_nothing_is_made) {
  ze_external_memory_export_desc_t to_export{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                             opaque_fd};
  const OwnedMemory source = exportable(MemoryKind::device, page_bytes);
  ze_external_memory_import_fd_t to_import{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr, opaque_fd,
                                           descriptor_of(source.get())};
  const std::size_t before = open_descriptors();
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
            allocate_with(MemoryKind::onchip, context(), device(), &to_export, page_bytes, &pointer));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
            allocate_with(MemoryKind::onchip, context(), device(), &to_import, page_bytes, &pointer));
  const ze_external_memory_import_win32_handle_t of_windows{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32,
                                                            nullptr, 0, nullptr, nullptr};
  for (const MemoryKind kind : kinds) {
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
              allocate_with(kind, context(), device(), &of_windows, page_bytes, &pointer));
    to_export.flags = opaque_fd | ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32;
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
              allocate_with(kind, context(), device(), &to_export, page_bytes, &pointer));
    to_export.flags = opaque_fd;
    to_import.pNext = &to_export;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              allocate_with(kind, context(), device(), &to_import, page_bytes, &pointer))
        << "imported memory is exported by who made it";
  }
  EXPECT_EQ(nullptr, pointer);
  EXPECT_EQ(before, open_descriptors());
}

TEST_F(ExternalMemory, given_a_context_destroyed_with_exports_and_imports_alive_then_no_descriptor_is_left) {
  { const OwnedMemory first = exportable(MemoryKind::device, page_bytes); }
  const std::size_t before = open_descriptors();
  OwnedContext other = create_context(driver());
  for (const MemoryKind kind : kinds) {
    const ze_external_memory_export_desc_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                  opaque_fd};
    void* pointer = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, allocate_with(kind, other, device(), &wanted, page_bytes, &pointer));
    ze_external_memory_export_fd_t asked{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, opaque_fd, -1};
    ze_memory_allocation_properties_t properties{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, &asked,
                                                 ZE_MEMORY_TYPE_UNKNOWN, 0, 0};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(other, pointer, &properties, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, import_raw(kind, other, device(), asked.fd, page_bytes, &pointer));
  }
  if (!under_validation()) {  // its lifetime checker wants everything freed first
    ASSERT_EQ(ZE_RESULT_SUCCESS, other.destroy());
    EXPECT_LE(open_descriptors(), before + 4) << "the driver keeps a little memory at hand, in files";
  }
}

}  // namespace

/// Imports the descriptor in the environment, finds pattern 1 in it and leaves pattern 2.
int scenario_external_import() {
  const int fd = std::stoi(std::getenv(external_fd_variable));
  const MemoryKind kind = std::getenv(external_kind_variable) == std::string(name_of(MemoryKind::host))
                              ? MemoryKind::host
                              : MemoryKind::device;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  const OwnedMemory staging = allocate(MemoryKind::host, context, device, external_bytes);
  const OwnedList list = create_immediate_list(context, device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  void* pointer = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, import_raw(kind, context, device, fd, external_bytes, &pointer));
  SCENARIO_REQUIRE(::close(fd) == 0);
  OwnedMemory taken(context, pointer);
  const auto copy = [&](void* to, const void* from) {
    return zeCommandListAppendMemoryCopy(list, to, from, external_bytes, nullptr, 0, nullptr);
  };
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, copy(staging.get(), pointer));
  const Bytes expected = pattern(external_bytes, 1);
  SCENARIO_REQUIRE(std::memcmp(staging.get(), expected.data(), external_bytes) == 0);
  write_pattern(staging.get(), external_bytes, 2);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, copy(pointer, staging.get()));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, taken.free());
  return 0;
}

}  // namespace datum::test
