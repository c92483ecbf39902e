// zeVirtualMemMap and zeVirtualMemUnmap: what is found where, by boards, by the CPU and by queries.
#include <algorithm>
#include <cstring>

#include "tests/api/virtual_memory_test.hpp"
#include "tests/support/memory_probe.hpp"

namespace datum::test {
namespace {

class VirtualMapping : public VirtualTest {
 protected:
  [[nodiscard]] ze_memory_allocation_properties_t properties_of(const void* pointer,
                                                                ze_device_handle_t* of = nullptr) const {
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), pointer, &properties, of));
    return properties;
  }

  void expect_range(const void* pointer, const void* base, std::size_t bytes) const {
    void* found = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), pointer, &found, &size));
    EXPECT_EQ(base, found);
    EXPECT_EQ(bytes, size);
  }
};

TEST_F(VirtualMapping,
       given_three_objects_in_one_reservation_when_it_is_freed_then_they_are_unmapped_and_live_on) {
  OwnedPhysical objects[3];
  OwnedReservation range = reserve(3 * page);
  for (std::size_t index = 0; index < 3; ++index) {
    objects[index] = physical(page);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(index * page), page, objects[index]));
    upload(range.at(index * page), pattern(page, index));
  }
  for (std::size_t index = 0; index < 3; ++index) {
    EXPECT_TRUE(same_bytes(pattern(page, index), download(range.at(index * page), page)));
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, range.free()) << "with what is mapped in it";
  const OwnedReservation again = reserve(page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(again.at(), page, objects[1]));
  EXPECT_TRUE(same_bytes(pattern(page, 1), download(again.at(), page))) << "the object keeps its bytes";
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(again.at(), page));
  for (OwnedPhysical& object : objects) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, object.destroy());
  }
}

TEST_F(VirtualMapping, given_an_object_at_two_places_with_an_offset_then_both_show_the_same_bytes) {
  for (const ze_physical_mem_flags_t flags : {ze_physical_mem_flags_t{0}, in_host}) {
    const OwnedPhysical object = physical(4 * page, flags);
    const OwnedReservation part = reserve(2 * page);
    const OwnedReservation whole = reserve(4 * page);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(part.at(), 2 * page, object, 2 * page));
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(whole.at(), 4 * page, object));
    upload(whole.at(), pattern(4 * page, 1));
    upload(part.at(), pattern(2 * page, 2));
    EXPECT_TRUE(same_bytes(pattern(2 * page, 2), download(whole.at(2 * page), 2 * page)));
    const Bytes before = pattern(4 * page, 1);
    EXPECT_TRUE(same_bytes(before.data(), download(whole.at(), 2 * page).data(), 2 * page)) << "ahead of it";
  }
}

TEST_F(VirtualMapping, given_objects_side_by_side_then_one_copy_or_fill_goes_across_them) {
  const OwnedPhysical objects[] = {physical(page), physical(2 * page, in_host), physical(3 * page)};
  const OwnedReservation range = reserve(8 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(page), page, objects[0]));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(2 * page), 2 * page, objects[1]));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(4 * page), 2 * page, objects[2], page));
  const Bytes bytes = pattern(5 * page - 200, 6);
  upload(range.at(page + 100), bytes);
  EXPECT_TRUE(same_bytes(bytes, download(range.at(page + 100), bytes.size())));
  EXPECT_TRUE(same_bytes(bytes.data() + page - 100, range.at(2 * page), 2 * page)) << "the CPU sees its part";
  const std::uint32_t word = 0x12345678;
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              EXPECT_EQ(ZE_RESULT_SUCCESS,
                        zeCommandListAppendMemoryFill(list, range.at(page), &word, sizeof word, 5 * page,
                                                      nullptr, 0, nullptr));
            }));
  const Bytes filled = download(range.at(page), 5 * page);
  for (std::size_t at = 0; at < filled.size(); at += sizeof word) {
    ASSERT_EQ(0, std::memcmp(&word, filled.data() + at, sizeof word)) << at;
  }
}

TEST_F(VirtualMapping, given_a_part_unmapped_across_two_objects_then_the_rest_stays_and_the_hole_is_refused) {
  const OwnedPhysical objects[] = {physical(3 * page), physical(3 * page)};
  const OwnedMemory block = memory(MemoryKind::host, 6 * page);
  const OwnedReservation range = reserve(6 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 3 * page, objects[0]));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(3 * page), 3 * page, objects[1]));
  const Bytes bytes = pattern(6 * page, 5);
  upload(range.at(), bytes);
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(2 * page), 2 * page));
  std::size_t alike = 0;
  EXPECT_EQ(none, access_at(range.at(2 * page), 4 * page, &alike));
  EXPECT_EQ(2 * page, alike);
  EXPECT_TRUE(same_bytes(bytes.data(), download(range.at(), 2 * page).data(), 2 * page));
  EXPECT_TRUE(same_bytes(bytes.data() + 4 * page, download(range.at(4 * page), 2 * page).data(), 2 * page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code_apart(block.get(), range.at(), 6 * page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code_apart(range.at(page), block.get(), page + 1));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, unmap(range.at(page), 2 * page)) << "not all of it is mapped";
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(2 * page), page, objects[0], 2 * page));
  EXPECT_TRUE(same_bytes(bytes.data(), download(range.at(), 3 * page).data(), 3 * page)) << "mapped again";
}

TEST_F(VirtualMapping, given_a_page_in_the_middle_of_a_large_one_when_unmapped_then_its_neighbours_stay) {
  constexpr std::size_t large = 2U << 20U;
  const OwnedPhysical object = physical(2 * large);
  const OwnedReservation range = reserve(2 * large);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 2 * large, object));
  const std::size_t hole = large / 2;
  upload(range.at(hole - page), pattern(3 * page, 1));
  upload(range.at(2 * large - page), pattern(page, 2));
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(hole), page));
  EXPECT_TRUE(same_bytes(pattern(3 * page, 1).data(), download(range.at(hole - page), page).data(), page));
  EXPECT_TRUE(
      same_bytes(pattern(3 * page, 1).data() + 2 * page, download(range.at(hole + page), page).data(), page));
  EXPECT_TRUE(same_bytes(pattern(page, 2), download(range.at(2 * large - page), page)));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(hole), page, object, hole));
  EXPECT_TRUE(same_bytes(pattern(3 * page, 1), download(range.at(hole - page), 3 * page)));
}

TEST_F(VirtualMapping,
       given_what_cannot_be_mapped_or_unmapped_when_tried_then_the_code_says_why_and_nothing_changes) {
  const OwnedContext other = create_context(driver());
  const OwnedPhysical object = physical(2 * page);
  const OwnedPhysical second = physical(2 * page);
  const OwnedReservation range = reserve(4 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(page), 2 * page, object));
  upload(range.at(page), pattern(2 * page, 8));
  const auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;
  EXPECT_EQ(invalid, map(range.at(2 * page), 2 * page, second)) << "one page is mapped already";
  EXPECT_EQ(invalid, map(range.at(), 2 * page, second)) << "one page is mapped already";
  EXPECT_EQ(invalid, map(range.at(3 * page), 2 * page, second)) << "beyond the reservation";
  EXPECT_EQ(invalid, map(range.at(3 * page), page, second, 2 * page)) << "beyond the object";
  EXPECT_EQ(invalid, map(range.at(3 * page), page, second, SIZE_MAX - page + 1)) << "beyond all";
  EXPECT_EQ(invalid, map(reinterpret_cast<void*>(page), page, second)) << "nothing is reserved there";
  EXPECT_EQ(invalid, zeVirtualMemMap(other, range.at(3 * page), page, second, 0, read_write))
      << "other context";
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, map(range.at(3 * page) + 1, page, second));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, map(range.at(3 * page), page, second, 1));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, map(range.at(3 * page), page + 1, second));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, map(range.at(3 * page), 0, second));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION,
            map(range.at(3 * page), page, second, 0, static_cast<ze_memory_access_attribute_t>(3)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, map(nullptr, page, second));
  EXPECT_EQ(invalid, unmap(range.at(), page)) << "nothing is mapped there";
  EXPECT_EQ(invalid, unmap(range.at(), 4 * page)) << "not all of it is mapped";
  EXPECT_EQ(invalid, unmap(range.at(2 * page), 3 * page)) << "beyond the reservation";
  EXPECT_EQ(invalid, zeVirtualMemUnmap(other, range.at(page), page)) << "other context";
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, unmap(range.at(page) + 8, page));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, unmap(range.at(page), 0));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, unmap(range.at(page), 100));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, unmap(nullptr, page));
  EXPECT_TRUE(same_bytes(pattern(2 * page, 8), download(range.at(page), 2 * page)));
  expect_range(range.at(page), range.at(page), 2 * page);
}

TEST_F(VirtualMapping, given_host_memory_at_several_places_then_the_cpu_reads_and_writes_through_each) {
  const OwnedPhysical object = physical(3 * page, in_host);
  OwnedReservation places[3];
  for (std::size_t index = 0; index < 3; ++index) {
    places[index] = reserve(3 * page);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(places[index].at(), 3 * page, object));
  }
  EXPECT_TRUE(same_bytes(Bytes(3 * page, 0).data(), places[0].at(), 3 * page)) << "fresh memory is empty";
  for (std::size_t writer = 0; writer < 3; ++writer) {
    write_pattern(places[writer].at(), 3 * page, writer);
    for (const OwnedReservation& reader : places) {
      EXPECT_TRUE(same_bytes(pattern(3 * page, writer).data(), reader.at(), 3 * page));
      EXPECT_TRUE(host_can_read(reader.at(page))) << "system calls take it";
    }
    EXPECT_TRUE(same_bytes(pattern(3 * page, writer), download(places[(writer + 1) % 3].at(), 3 * page)));
  }
  upload(places[2].at(page), pattern(page, 77));
  EXPECT_TRUE(same_bytes(pattern(page, 77).data(), places[0].at(page), page)) << "the board's write";
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(places[0].at(page), page));
  EXPECT_FALSE(host_can_read(places[0].at(page)));
  EXPECT_TRUE(host_can_read(places[0].at(2 * page)));
  EXPECT_TRUE(host_can_read(places[1].at(page)));
}

TEST_F(VirtualMapping, given_device_memory_that_is_mapped_when_the_cpu_touches_it_then_it_faults) {
  const OwnedPhysical object = physical(page);
  const OwnedReservation range = reserve(page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), page, object));
  EXPECT_FALSE(host_can_read(range.at()));
  EXPECT_FALSE(host_can_write(range.at()));
}

TEST_F(VirtualMapping, given_an_address_that_changes_its_object_then_the_board_finds_the_new_one_each_time) {
  const OwnedPhysical objects[] = {physical(page), physical(page, in_host), physical(page)};
  const OwnedReservation range = reserve(page);
  for (std::size_t round = 0; round < 6; ++round) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), page, objects[round % 3]));
    if (round >= 3) {
      EXPECT_TRUE(same_bytes(pattern(page, round % 3), download(range.at(), page))) << round;
    }
    upload(range.at(), pattern(page, round % 3));
    ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(), page));
  }
}

TEST_F(VirtualMapping, given_mappings_when_asked_about_then_kind_device_and_range_are_those_of_each_mapping) {
  const OwnedPhysical on_device = physical(4 * page);
  const OwnedPhysical on_host = physical(page, in_host);
  const OwnedReservation range = reserve(8 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), 4 * page, on_device));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(4 * page), page, on_host));
  ze_device_handle_t of = nullptr;
  const auto device_properties = properties_of(range.at(page + 5), &of);
  EXPECT_EQ(ZE_MEMORY_TYPE_DEVICE, device_properties.type);
  EXPECT_EQ(device(), of);
  EXPECT_EQ(page, device_properties.pageSize);
  const auto host_properties = properties_of(range.at(4 * page), &of);
  EXPECT_EQ(ZE_MEMORY_TYPE_HOST, host_properties.type);
  EXPECT_EQ(nullptr, of);
  EXPECT_NE(device_properties.id, host_properties.id);
  EXPECT_EQ(device_properties.id, properties_of(range.at(3 * page)).id);
  expect_range(range.at(4 * page - 1), range.at(), 4 * page);
  expect_range(range.at(4 * page), range.at(4 * page), page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemSetAccessAttribute(context(), range.at(page), page, read_only));
  expect_range(range.at(), range.at(), 4 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(page), page));
  expect_range(range.at(3 * page), range.at(2 * page), 2 * page);
  EXPECT_EQ(ZE_MEMORY_TYPE_UNKNOWN, properties_of(range.at(page)).type);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(page), page, on_device, page));
  EXPECT_NE(device_properties.id, properties_of(range.at(page)).id) << "identifiers never repeat";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context(), range.at())) << "no allocation";
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextMakeMemoryResident(context(), device(), range.at(2 * page), page));
}

TEST_F(VirtualMapping, given_physical_memory_that_another_context_had_then_none_of_its_bytes_are_seen) {
  constexpr std::size_t bytes = 16 * page;
  {
    const OwnedContext other = create_context(driver());
    ze_physical_mem_desc_t description{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, bytes};
    ze_physical_mem_handle_t secret = nullptr;
    void* at = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemCreate(other, device(), &description, &secret));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemReserve(other, nullptr, bytes, &at));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemMap(other, at, bytes, secret, 0, read_write));
    const OwnedQueue on = create_queue(other, device());
    const OwnedList list = create_list(other, device());
    const unsigned char byte = 0xa5;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryFill(list, at, &byte, 1, bytes, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ze_command_list_handle_t handle = list;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(on, 1, &handle, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(on, patience_ns));
  }  // the context takes object and reservation with it
  const OwnedPhysical object = physical(bytes);
  const OwnedReservation range = reserve(bytes);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), bytes, object));
  const Bytes seen = download(range.at(), bytes);
  EXPECT_EQ(0, std::count(seen.begin(), seen.end(), 0xa5));
}

TEST_F(VirtualMapping, given_a_region_copy_whose_rows_lie_in_different_objects_then_every_row_arrives) {
  const OwnedPhysical objects[] = {physical(page), physical(page)};
  const OwnedReservation range = reserve(2 * page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), page, objects[0]));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(page), page, objects[1]));
  const OwnedMemory block = memory(MemoryKind::host, 8 * 64);
  write_pattern(block.get(), 8 * 64, 1);
  const ze_copy_region_t source{0, 0, 0, 64, 8, 1};
  const ze_copy_region_t target{16, 0, 0, 64, 8, 1};
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              EXPECT_EQ(ZE_RESULT_SUCCESS,
                        zeCommandListAppendMemoryCopyRegion(list, range.at(), &target, 1024, 0, block.get(),
                                                            &source, 64, 0, nullptr, 0, nullptr));
            }));
  for (std::size_t row = 0; row < 8; ++row) {
    EXPECT_TRUE(same_bytes(block.bytes() + row * 64, download(range.at(16 + row * 1024), 64).data(), 64))
        << row;
  }
}

TEST_F(VirtualMapping,
       given_the_kernel_has_no_more_mappings_for_the_process_then_it_says_so_and_unmapping_helps) {
  if (on_rtl() || sanitized()) {
    GTEST_SKIP() << "a matter of the host alone, and of too many mappings for a sanitizer";
  }
  constexpr std::size_t most = std::size_t{1} << 17U;
  const OwnedPhysical object = physical(page, in_host);
  OwnedReservation range = reserve(2 * most * page);
  std::size_t count = 0;
  ze_result_t result = ZE_RESULT_SUCCESS;
  while (count < most && result == ZE_RESULT_SUCCESS) {
    result = map(range.at(2 * count * page), page, object);
    count += result == ZE_RESULT_SUCCESS ? 1 : 0;
  }
  if (result != ZE_RESULT_SUCCESS) {
    EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, result);
    EXPECT_EQ(none, access_at(range.at(2 * count * page)));
    EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, map(range.at(2 * count * page), page, object)) << "again";
    EXPECT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(0), page));
    EXPECT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(2 * page), page));
    EXPECT_EQ(ZE_RESULT_SUCCESS, map(range.at(2 * count * page), page, object));
  }
  range.at(4 * page)[7] = 99;
  EXPECT_EQ(99, range.at(2 * (count - 1) * page)[7]) << "all show the same page";
  EXPECT_EQ(ZE_RESULT_SUCCESS, range.free());
}

}  // namespace
}  // namespace datum::test
