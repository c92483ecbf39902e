// What tests of IPC handles of mapped ranges share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <datum/ze_ipc_phys_mem_handle_range.h>

#include "tests/api/virtual_memory_test.hpp"

namespace datum::test {

inline constexpr std::size_t range_bytes = 7 * page;

inline ze_result_t get_range(ze_context_handle_t context, const void* base, std::size_t bytes,
                             ze_ipc_mem_handle_t& handle, const void* next = nullptr) {
  ze_ipc_phys_mem_handle_range_ext_desc_t range{ZE_STRUCTURE_TYPE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_DESC, next,
                                                bytes};
  return zeMemGetIpcHandleWithProperties(context, base, &range, &handle);
}

inline std::int32_t descriptor_of(const ze_ipc_mem_handle_t& handle) {
  std::int32_t fd = -1;
  std::memcpy(&fd, handle.data, sizeof fd);
  return fd;
}

inline ze_ipc_mem_handle_t only_descriptor(std::int32_t fd) {
  ze_ipc_mem_handle_t handle{};
  std::memcpy(handle.data, &fd, sizeof fd);
  return handle;
}

/// Two neighbouring reservations to which parts of four objects are mapped, one of them twice.
struct Row {
  std::vector<OwnedPhysical> objects;
  OwnedReservation first;
  OwnedReservation second;
};

class RangeTest : public VirtualTest {
 protected:
  enum class Place { device, host, both };
  static constexpr Place places[] = {Place::device, Place::host, Place::both};

  /// Pages of the row, in order: 2 of an object of 4 from its second on, 1 of another, the last of the first,
  /// and in the second reservation 2 of a third and 1 of a fourth.
  [[nodiscard]] Row make_row(Place place) const {
    Row row;
    for (std::size_t index = 0; index < 4; ++index) {
      const bool host = place == Place::host || (place == Place::both && index % 2 != 0);
      row.objects.push_back(physical(4 * page, host ? in_host : 0));
    }
    row.first = reserve(4 * page);
    row.second = reserve(3 * page, row.first.at(4 * page));
    EXPECT_EQ(row.first.at(4 * page), row.second.at()) << "the addresses behind a reservation are given";
    EXPECT_EQ(ZE_RESULT_SUCCESS, map(row.first.at(), 2 * page, row.objects[0], page));
    EXPECT_EQ(ZE_RESULT_SUCCESS, map(row.first.at(2 * page), page, row.objects[1], 2 * page));
    EXPECT_EQ(ZE_RESULT_SUCCESS, map(row.first.at(3 * page), page, row.objects[0], 3 * page));
    EXPECT_EQ(ZE_RESULT_SUCCESS, map(row.second.at(), 2 * page, row.objects[2]));
    EXPECT_EQ(ZE_RESULT_SUCCESS, map(row.second.at(2 * page), page, row.objects[3], page, read_only));
    return row;
  }

  [[nodiscard]] ze_ipc_mem_handle_t get(const void* base, std::size_t bytes) const {
    ze_ipc_mem_handle_t handle{};
    EXPECT_EQ(ZE_RESULT_SUCCESS, get_range(context(), base, bytes, handle)) << last_error_text();
    return handle;
  }

  [[nodiscard]] unsigned char* open(const ze_ipc_mem_handle_t& handle) const {
    void* pointer = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), device(), handle, 0, &pointer))
        << last_error_text();
    return static_cast<unsigned char*>(pointer);
  }

  void close(const void* pointer) const {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), pointer)) << last_error_text();
  }

  void put(const ze_ipc_mem_handle_t& handle) const {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle)) << last_error_text();
  }

  /// Fills the row through the objects, the last page too, which is read-only in it.
  void fill(const Row& row, const Bytes& content) {
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              zeVirtualMemSetAccessAttribute(context(), row.second.at(2 * page), page, read_write));
    upload(row.first.at(), content);
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              zeVirtualMemSetAccessAttribute(context(), row.second.at(2 * page), page, read_only));
  }
};

}  // namespace datum::test
