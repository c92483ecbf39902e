// What tests of virtual memory share: owners of reservations and physical memory, and copies that the board
// is to refuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tests/support/api_session.hpp"

namespace datum::test {

inline constexpr std::size_t page = 4096;

/// Owner of one reservation.
class OwnedReservation {
 public:
  OwnedReservation() = default;

  OwnedReservation(ze_context_handle_t context, void* base, std::size_t bytes)
      : context_(context), base_(base), bytes_(bytes) {}

  OwnedReservation(OwnedReservation&& other) noexcept
      : context_(other.context_), base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_) {}

  OwnedReservation& operator=(OwnedReservation&& other) noexcept {
    if (this != &other) {
      free();
      context_ = other.context_;
      base_ = std::exchange(other.base_, nullptr);
      bytes_ = other.bytes_;
    }
    return *this;
  }

  ~OwnedReservation() { free(); }

  [[nodiscard]] unsigned char* at(std::size_t offset = 0) const {
    return static_cast<unsigned char*>(base_) + offset;
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// What zeVirtualMemFree answered; SUCCESS for an empty owner.
  ze_result_t free() {
    void* base = std::exchange(base_, nullptr);
    return base != nullptr ? zeVirtualMemFree(context_, base, bytes_) : ZE_RESULT_SUCCESS;
  }

 private:
  ze_context_handle_t context_ = nullptr;
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Owner of one physical memory object.
class OwnedPhysical {
 public:
  OwnedPhysical() = default;

  OwnedPhysical(ze_context_handle_t context, ze_physical_mem_handle_t handle)
      : context_(context), handle_(handle) {}

  OwnedPhysical(OwnedPhysical&& other) noexcept
      : context_(other.context_), handle_(std::exchange(other.handle_, nullptr)) {}

  OwnedPhysical& operator=(OwnedPhysical&& other) noexcept {
    if (this != &other) {
      destroy();
      context_ = other.context_;
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }

  ~OwnedPhysical() { destroy(); }

  operator ze_physical_mem_handle_t() const {
    return handle_;
  }  // NOLINT(google-explicit-constructor): stands for the handle in calls

  [[nodiscard]] ze_physical_mem_handle_t release() { return std::exchange(handle_, nullptr); }

  /// What zePhysicalMemDestroy answered; the owner keeps the handle when it was refused.
  ze_result_t destroy() {
    const ze_result_t result =
        handle_ != nullptr ? zePhysicalMemDestroy(context_, handle_) : ZE_RESULT_SUCCESS;
    if (result == ZE_RESULT_SUCCESS) {
      handle_ = nullptr;
    }
    return result;
  }

 private:
  ze_context_handle_t context_ = nullptr;
  ze_physical_mem_handle_t handle_ = nullptr;
};

/// Declare reservations after the objects that are mapped in them: they go first.
class VirtualTest : public ApiTest {
 protected:
  static constexpr ze_physical_mem_flags_t in_host = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;
  static constexpr ze_memory_access_attribute_t none = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
  static constexpr ze_memory_access_attribute_t read_write = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
  static constexpr ze_memory_access_attribute_t read_only = ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;

  [[nodiscard]] OwnedReservation reserve(std::size_t bytes, const void* wanted = nullptr) const {
    void* base = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemReserve(context(), wanted, bytes, &base)) << last_error_text();
    return {context(), base, bytes};
  }

  [[nodiscard]] OwnedPhysical physical(std::size_t bytes, ze_physical_mem_flags_t flags = 0) const {
    ze_physical_mem_desc_t description{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, flags, bytes};
    ze_physical_mem_handle_t handle = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemCreate(context(), device(), &description, &handle))
        << last_error_text();
    return {context(), handle};
  }

  [[nodiscard]] ze_result_t map(const void* at, std::size_t bytes, ze_physical_mem_handle_t object,
                                std::size_t offset = 0,
                                ze_memory_access_attribute_t access = read_write) const {
    return zeVirtualMemMap(context(), at, bytes, object, offset, access);
  }

  [[nodiscard]] ze_result_t unmap(const void* at, std::size_t bytes) const {
    return zeVirtualMemUnmap(context(), at, bytes);
  }

  /// Access at `at`; of how many bytes of `bytes` goes to `alike`.
  [[nodiscard]] ze_memory_access_attribute_t access_at(const void* at, std::size_t bytes = page,
                                                       std::size_t* alike = nullptr) const {
    auto access = static_cast<ze_memory_access_attribute_t>(99);
    std::size_t length = 0;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemGetAccessAttribute(context(), at, bytes, &access, &length));
    if (alike != nullptr) {
      *alike = length;
    }
    return access;
  }

  /// One copy on a queue of its own, which is lost if the board refuses it.
  [[nodiscard]] ze_result_t copy_code_apart(void* to, const void* from, std::size_t bytes) const {
    const OwnedQueue apart = create_queue(context(), device());
    const OwnedList list = create_list(context(), device());
    ze_result_t result = zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr);
    EXPECT_EQ(ZE_RESULT_SUCCESS, result) << "memory is judged when the command is executed";
    if (result == ZE_RESULT_SUCCESS) {
      result = zeCommandListClose(list);
    }
    ze_command_list_handle_t handle = list;
    if (result == ZE_RESULT_SUCCESS) {
      result = zeCommandQueueExecuteCommandLists(apart, 1, &handle, nullptr);
    }
    return result == ZE_RESULT_SUCCESS ? zeCommandQueueSynchronize(apart, patience_ns) : result;
  }
};

}  // namespace datum::test
