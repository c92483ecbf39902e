// Memory that goes out and comes in as dma-bufs, on machines whose kernel makes them.
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>

#include "tests/api/external_memory_test.hpp"
#include "tests/support/page.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

class ExternalDmaBuf : public ExternalTest {
 protected:
  void SetUp() override {
    ExternalTest::SetUp();
    ze_device_external_memory_properties_t found{
        ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES, nullptr, 0, 0, 0, 0};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetExternalMemoryProperties(device(), &found));
    if ((found.memoryAllocationExportTypes & dma_buf) == 0) {
      // Set where the machine is known to have /dev/udmabuf: there nothing is skipped.
      ASSERT_EQ("", environment("DATUM_TEST_NEEDS_DMA_BUFS"));
      GTEST_SKIP() << "this machine makes no dma-bufs (/dev/udmabuf)";
    }
  }
};

TEST_F(ExternalDmaBuf, given_memory_made_for_it_then_the_dma_bufs_bytes_are_the_memorys) {
  for (const MemoryKind kind : kinds) {
    const OwnedMemory block = exportable(kind, external_bytes, dma_buf);
    upload(block.get(), pattern(external_bytes, 1));
    const int fd = descriptor_of(block.get(), dma_buf);
    EXPECT_EQ(fd, descriptor_of(block.get(), dma_buf)) << "the same each time";
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    char target[64]{};
    ASSERT_GT(::readlink(link.c_str(), target, sizeof target - 1), 0);
    EXPECT_NE(nullptr, std::strstr(target, "dmabuf")) << target;
    const FileView view(fd, external_bytes);
    ASSERT_TRUE(view.valid());
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 1), view.content())) << name_of(kind);
    write_pattern(view.at(), external_bytes, 2);
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 2), download(block.get(), external_bytes)));
  }
}

TEST_F(ExternalDmaBuf, given_a_dma_buf_when_imported_as_either_kind_then_board_and_cpu_use_its_bytes) {
  for (const MemoryKind source : kinds) {
    const OwnedMemory block = exportable(source, external_bytes, dma_buf);
    upload(block.get(), pattern(external_bytes, 1));
    for (const MemoryKind kind : kinds) {
      const int fd = ::fcntl(descriptor_of(block.get(), dma_buf), F_DUPFD_CLOEXEC, 0);
      OwnedMemory taken = imported(kind, fd, external_bytes, dma_buf);
      EXPECT_EQ(0, ::close(fd)) << "the descriptor stays the application's";
      EXPECT_TRUE(same_bytes(pattern(external_bytes, 1), download(taken.get(), external_bytes)));
      upload(taken.get(), pattern(external_bytes, 2));
      EXPECT_TRUE(same_bytes(pattern(external_bytes, 2), download(block.get(), external_bytes)));
      if (host_accessible(kind)) {
        EXPECT_TRUE(same_bytes(pattern(external_bytes, 2).data(), taken.get(), external_bytes));
      }
      upload(block.get(), pattern(external_bytes, 1));
      EXPECT_EQ(ZE_RESULT_SUCCESS, taken.free());
    }
  }
}

TEST_F(ExternalDmaBuf, given_memory_freed_while_its_dma_buf_is_held_then_the_holder_keeps_the_bytes) {
  for (const MemoryKind kind : kinds) {
    OwnedMemory block = exportable(kind, external_bytes, dma_buf);
    upload(block.get(), pattern(external_bytes, 1));
    const int fd = descriptor_of(block.get(), dma_buf);
    const FileView view(fd, external_bytes);
    ASSERT_EQ(ZE_RESULT_SUCCESS, block.free());
    EXPECT_EQ(-1, ::fcntl(fd, F_GETFD)) << "it was the driver's";
    const OwnedMemory next = memory(kind, external_bytes);
    upload(next.get(), Bytes(external_bytes, 0x5a));
    EXPECT_TRUE(same_bytes(pattern(external_bytes, 1), view.content())) << name_of(kind);
  }
}

TEST_F(ExternalDmaBuf, given_both_types_asked_for_then_each_has_a_descriptor_of_the_same_bytes) {
  const OwnedMemory block = exportable(MemoryKind::device, page_bytes, opaque_fd | dma_buf);
  upload(block.get(), pattern(page_bytes, 1));
  const FileView file(descriptor_of(block.get(), opaque_fd), page_bytes);
  const FileView buffer(descriptor_of(block.get(), dma_buf), page_bytes);
  ASSERT_TRUE(file.valid() && buffer.valid());
  EXPECT_TRUE(same_bytes(pattern(page_bytes, 1), file.content()));
  EXPECT_TRUE(same_bytes(pattern(page_bytes, 1), buffer.content()));
}

TEST_F(ExternalDmaBuf, given_a_physical_object_made_for_it_then_another_is_made_of_its_dma_buf) {
  for (const ze_physical_mem_flags_t place : {ze_physical_mem_flags_t{0}, ze_physical_mem_flags_t{2}}) {
    const ze_external_memory_export_desc_t to_export{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                     dma_buf};
    ze_physical_mem_desc_t wanted{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, &to_export, place, page_bytes};
    ze_physical_mem_handle_t made = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemCreate(context(), device(), &wanted, &made));
    ze_external_memory_export_fd_t asked{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, dma_buf, -1};
    ze_physical_mem_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES;
    properties.pNext = &asked;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemGetProperties(context(), made, &properties));
    const ze_external_memory_import_fd_t to_import{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr,
                                                   dma_buf, asked.fd};
    wanted.pNext = &to_import;
    ze_physical_mem_handle_t taken = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemCreate(context(), device(), &wanted, &taken));
    void* base = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemReserve(context(), nullptr, 2 * page_bytes, &base));
    auto* const first = static_cast<unsigned char*>(base);
    for (const auto& [at, object] : {std::pair{first, made}, std::pair{first + page_bytes, taken}}) {
      ASSERT_EQ(ZE_RESULT_SUCCESS,
                zeVirtualMemMap(context(), at, page_bytes, object, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    }
    upload(first, pattern(page_bytes, 1));
    EXPECT_TRUE(same_bytes(pattern(page_bytes, 1), download(first + page_bytes, page_bytes))) << place;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemUnmap(context(), base, 2 * page_bytes));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemFree(context(), base, 2 * page_bytes));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemDestroy(context(), taken));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemDestroy(context(), made));
  }
}

TEST_F(ExternalDmaBuf, given_descriptors_that_do_not_fit_then_they_are_invalid_and_stay_open) {
  const OwnedMemory file = exportable(MemoryKind::host, page_bytes);
  const OwnedMemory buffer = exportable(MemoryKind::host, page_bytes, dma_buf);
  const int file_fd = descriptor_of(file.get());
  const int buffer_fd = descriptor_of(buffer.get(), dma_buf);
  const std::size_t before = open_descriptors();
  for (const MemoryKind kind : kinds) {
    void* pointer = nullptr;
    for (const int fd : {-1, file_fd}) {
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                import_raw(kind, context(), device(), fd, page_bytes, &pointer, dma_buf));
    }
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              import_raw(kind, context(), device(), buffer_fd, page_bytes, &pointer, opaque_fd));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              import_raw(kind, context(), device(), buffer_fd, page_bytes + 1, &pointer, dma_buf))
        << "too small";
    EXPECT_EQ(nullptr, pointer);
  }
  EXPECT_EQ(before, open_descriptors());
  EXPECT_NE(-1, ::fcntl(buffer_fd, F_GETFD));
  ze_ipc_mem_handle_t handle{};
  std::memcpy(handle.data, &buffer_fd, sizeof buffer_fd);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle)) << "the text allows it";
  EXPECT_EQ(buffer_fd, descriptor_of(buffer.get(), dma_buf)) << "and it stays the driver's";
}

}  // namespace
}  // namespace datum::test
