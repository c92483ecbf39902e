// What tests of external memory share: making, importing and asking, with descriptors watched.
#pragma once

#include <cstddef>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/api_session.hpp"

namespace datum::test {

inline constexpr ze_external_memory_type_flags_t opaque_fd = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
inline constexpr ze_external_memory_type_flags_t dma_buf = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;

/// Device or host memory with a structure behind its descriptor.
inline ze_result_t allocate_with(MemoryKind kind, ze_context_handle_t context, ze_device_handle_t device,
                                 const void* next, std::size_t bytes, void** pointer) {
  if (kind == MemoryKind::host) {
    const ze_host_mem_alloc_desc_t host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, next, 0};
    return zeMemAllocHost(context, &host, bytes, 0, pointer);
  }
  const ze_device_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, next, 0,
                                               kind == MemoryKind::onchip ? 1U : 0U};
  return zeMemAllocDevice(context, &description, bytes, 0, device, pointer);
}

inline ze_result_t import_raw(MemoryKind kind, ze_context_handle_t context, ze_device_handle_t device, int fd,
                              std::size_t bytes, void** pointer,
                              ze_external_memory_type_flags_t type = opaque_fd) {
  const ze_external_memory_import_fd_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr, type, fd};
  return allocate_with(kind, context, device, &wanted, bytes, pointer);
}

class ExternalTest : public ApiTest {
 protected:
  static constexpr MemoryKind kinds[] = {MemoryKind::device, MemoryKind::host};

  [[nodiscard]] OwnedMemory exportable(MemoryKind kind, std::size_t bytes,
                                       ze_external_memory_type_flags_t type = opaque_fd) const {
    const ze_external_memory_export_desc_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                  type};
    void* pointer = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, allocate_with(kind, context(), device(), &wanted, bytes, &pointer))
        << last_error_text();
    return {context(), pointer};
  }

  [[nodiscard]] OwnedMemory imported(MemoryKind kind, int fd, std::size_t bytes,
                                     ze_external_memory_type_flags_t type = opaque_fd) const {
    void* pointer = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, import_raw(kind, context(), device(), fd, bytes, &pointer, type))
        << last_error_text();
    return {context(), pointer};
  }

  /// -1 unless the query gave one.
  [[nodiscard]] int descriptor_of(const void* pointer,
                                  ze_external_memory_type_flags_t type = opaque_fd) const {
    ze_external_memory_export_fd_t asked{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, type, -1};
    ze_memory_allocation_properties_t properties{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, &asked,
                                                 ZE_MEMORY_TYPE_UNKNOWN, 0, 0};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), pointer, &properties, nullptr))
        << last_error_text();
    return asked.fd;
  }
};

/// A view of a descriptor's first bytes, for the CPU.
class FileView {
 public:
  FileView(int fd, std::size_t bytes)
      : at_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)), bytes_(bytes) {}

  ~FileView() {
    if (valid()) {
      ::munmap(at_, bytes_);
    }
  }

  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  [[nodiscard]] bool valid() const { return at_ != MAP_FAILED; }

  [[nodiscard]] unsigned char* at() const { return static_cast<unsigned char*>(at_); }

  [[nodiscard]] Bytes content() const { return {at(), at() + bytes_}; }

 private:
  void* at_;
  std::size_t bytes_;
};

/// Child programs get the descriptor by inheritance, and its number and kind by name.
inline constexpr const char* external_fd_variable = "DATUM_TEST_EXTERNAL_FD";
inline constexpr const char* external_kind_variable = "DATUM_TEST_EXTERNAL_KIND";
inline constexpr std::size_t external_bytes = 8192;

}  // namespace datum::test
