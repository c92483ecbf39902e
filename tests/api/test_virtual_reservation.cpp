// zeVirtualMemReserve, zeVirtualMemFree, zeVirtualMemQueryPageSize.
#include <sys/mman.h>

#include "tests/api/virtual_memory_test.hpp"
#include "tests/support/memory_probe.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

class VirtualReservation : public VirtualTest {
 protected:
  static inline void* const untouched = reinterpret_cast<void*>(0xdead);

  /// Reserves, checks that a pointer is written exactly on success, frees.
  [[nodiscard]] ze_result_t attempt(std::size_t bytes, const void* wanted = nullptr) const {
    void* base = untouched;
    const ze_result_t result = zeVirtualMemReserve(context(), wanted, bytes, &base);
    if (result != ZE_RESULT_SUCCESS) {
      EXPECT_EQ(untouched, base) << "a failed call writes no pointer";
      return result;
    }
    EXPECT_NE(ZE_RESULT_SUCCESS, zeVirtualMemFree(context(), base, bytes + page)) << "not its size";
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemFree(context(), base, bytes));
    return result;
  }

  [[nodiscard]] std::uint64_t usable_bytes() const {
    ze_device_usablemem_size_ext_properties_t usable{};
    usable.stype = ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES;
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    properties.pNext = &usable;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
    return usable.currUsableMemSize;
  }
};

TEST_F(VirtualReservation, given_the_whole_life_of_a_mapping_then_every_step_of_it_succeeds) {
  std::size_t size = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemQueryPageSize(context(), device(), 10'000, &size));
  const std::size_t bytes = (10'000 + size - 1) / size * size;
  OwnedPhysical object = physical(bytes);
  OwnedReservation range = reserve(bytes);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), bytes, object, 0, none));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemSetAccessAttribute(context(), range.at(), bytes, read_write));
  const Bytes sent = pattern(bytes, 3);
  upload(range.at(), sent);
  EXPECT_TRUE(same_bytes(sent, download(range.at(), bytes)));
  EXPECT_EQ(read_write, access_at(range.at(), bytes));
  EXPECT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(), bytes));
  EXPECT_EQ(ZE_RESULT_SUCCESS, object.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, range.free());
}

TEST_F(VirtualReservation,
       given_any_size_when_the_page_size_is_asked_for_then_what_it_says_is_enough_everywhere) {
  for (const std::size_t bytes : {std::size_t{1}, page - 1, page, page + 1, std::size_t{65536},
                                  std::size_t{2097151}, std::size_t{2097152}, std::size_t{2097153}}) {
    std::size_t size = 0;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemQueryPageSize(context(), device(), bytes, &size));
    ASSERT_NE(0U, size);
    ASSERT_EQ(0U, size & (size - 1)) << "a power of two";
    const std::size_t whole = (bytes + size - 1) / size * size;
    for (const ze_physical_mem_flags_t flags : {ze_physical_mem_flags_t{0}, in_host}) {
      const OwnedPhysical object = physical(whole, flags);
      const OwnedReservation range = reserve(whole + size);
      EXPECT_EQ(0U, reinterpret_cast<std::uintptr_t>(range.at()) % size);
      EXPECT_EQ(ZE_RESULT_SUCCESS, map(range.at(size), whole, object)) << bytes;
    }
  }
  for (const std::size_t bytes : {std::size_t{1} << 40U, std::size_t{1} << 63U, SIZE_MAX}) {
    std::size_t size = 0;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemQueryPageSize(context(), device(), bytes, &size));
    EXPECT_NE(0U, size);
  }
  std::size_t size = 7;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, zeVirtualMemQueryPageSize(context(), device(), 0, &size));
  EXPECT_EQ(7U, size);
}

TEST_F(VirtualReservation, given_sizes_that_are_no_whole_pages_when_reserved_then_the_size_is_unsupported) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, std::size_t{7}, std::size_t{12},
                                  std::size_t{44}, page - 1, page + 1, SIZE_MAX}) {
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, attempt(bytes)) << bytes;
  }
}

TEST_F(VirtualReservation, given_absurd_sizes_when_reserved_then_it_works_or_says_why_and_costs_no_memory) {
  const std::uint64_t usable = usable_bytes();
  const std::size_t resident = resident_bytes();
  for (unsigned bit = 30; bit < 64; ++bit) {
    const ze_result_t result = attempt(std::size_t{1} << bit);
    EXPECT_TRUE(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ||
                result == ZE_RESULT_ERROR_UNSUPPORTED_SIZE)
        << "bit " << bit << ": " << result_text(result);
    if (bit > 47) {
      EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, result) << "bit " << bit;
    }
  }
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, attempt(SIZE_MAX - page + 1));
  if (!sanitized()) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, attempt(std::size_t{1} << 40U));
    EXPECT_LT(resident_bytes(), resident + (8U << 20U));
  }
  EXPECT_EQ(usable, usable_bytes());
}

TEST_F(VirtualReservation,
       given_a_page_in_the_middle_of_a_huge_reservation_when_mapped_then_only_it_costs_memory) {
  const std::size_t bytes = sanitized() ? std::size_t{1} << 30U : std::size_t{1} << 40U;
  const OwnedPhysical object = physical(page);
  OwnedReservation range = reserve(bytes);
  void* const middle = range.at(bytes / 2);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(middle, page, object));
  upload(middle, pattern(page, 4));
  EXPECT_TRUE(same_bytes(pattern(page, 4), download(middle, page)));
  EXPECT_EQ(ZE_RESULT_SUCCESS, range.free());
}

TEST_F(VirtualReservation,
       given_the_addresses_behind_a_reservation_when_wanted_then_they_are_had_and_one_copy_spans_both) {
  const OwnedPhysical object = physical(4 * page);
  const OwnedReservation first = reserve(2 * page);
  const OwnedReservation second = reserve(2 * page, first.at(2 * page));
  ASSERT_EQ(first.at(2 * page), second.at());
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(first.at(), 2 * page, object));
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(second.at(), 2 * page, object, 2 * page));
  upload(first.at(), pattern(4 * page, 9));
  EXPECT_TRUE(same_bytes(pattern(4 * page, 9), download(first.at(), 4 * page)));
  EXPECT_EQ(ZE_RESULT_SUCCESS,
            zeVirtualMemSetAccessAttribute(context(), first.at(page), 2 * page, read_only));
  EXPECT_EQ(ZE_RESULT_SUCCESS, unmap(first.at(page), 2 * page));
}

TEST_F(VirtualReservation, given_wanted_addresses_that_are_taken_then_others_are_given) {
  const OwnedReservation first = reserve(4 * page);
  const OwnedReservation second = reserve(page, first.at(page));
  EXPECT_NE(first.at(page), second.at());
  const OwnedMemory block = memory(MemoryKind::device, page);
  const OwnedReservation third = reserve(page, block.get());
  EXPECT_NE(block.bytes(), third.at());
  int local = 0;
  const auto mine = reinterpret_cast<std::uintptr_t>(&local) / page * page;
  const OwnedReservation fourth = reserve(page, reinterpret_cast<void*>(mine));
  EXPECT_NE(mine, reinterpret_cast<std::uintptr_t>(fourth.at()));
}

TEST_F(VirtualReservation, given_wanted_addresses_that_nobody_has_then_they_are_had_wherever_they_are) {
  void* hole = ::mmap(nullptr, 64 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, hole);
  ASSERT_EQ(0, ::munmap(hole, 64 * page));
  const OwnedPhysical object = physical(page, in_host);
  OwnedReservation range = reserve(16 * page, hole);
  EXPECT_EQ(hole, range.at());
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(page), page, object));
  write_pattern(range.at(page), page, 2);
  EXPECT_TRUE(same_bytes(pattern(page, 2), download(range.at(page), page)));
  ASSERT_EQ(ZE_RESULT_SUCCESS, range.free());
  EXPECT_FALSE(host_can_read(static_cast<unsigned char*>(hole) + page));
}

TEST_F(VirtualReservation, given_a_wanted_address_inside_a_page_when_reserved_then_the_argument_is_invalid) {
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, attempt(page, reinterpret_cast<void*>(0x7000'0000'0001)));
}

TEST_F(VirtualReservation, given_a_reservation_when_freed_wrongly_then_it_stays_and_the_code_names_why) {
  const OwnedContext other = create_context(driver());
  OwnedReservation range = reserve(4 * page);
  const auto free_code = [&](ze_context_handle_t in, std::size_t offset, std::size_t bytes) {
    return zeVirtualMemFree(in, range.at(offset), bytes);
  };
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, free_code(context(), 0, 3 * page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, free_code(context(), 0, 5 * page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, free_code(context(), page, 3 * page)) << "not its base";
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, free_code(context(), 0, 0));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, free_code(context(), 0, 4 * page - 1));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, free_code(context(), 1, 4 * page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, free_code(other, 0, 4 * page)) << "of another context";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context(), range.at())) << "no allocation";
  EXPECT_EQ(none, access_at(range.at(), 4 * page));
  void* const base = range.at();
  EXPECT_EQ(ZE_RESULT_SUCCESS, range.free());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeVirtualMemFree(context(), base, 4 * page)) << "twice";
}

TEST_F(VirtualReservation, given_null_arguments_when_called_then_the_code_names_them) {
  void* base = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeVirtualMemReserve(context(), nullptr, page, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeVirtualMemFree(context(), nullptr, page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeVirtualMemQueryPageSize(context(), device(), page, nullptr));
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeVirtualMemReserve(nullptr, nullptr, page, &base));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeVirtualMemFree(nullptr, &base, page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeVirtualMemQueryPageSize(nullptr, device(), page, &size));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeVirtualMemQueryPageSize(context(), nullptr, page, &size));
}

TEST_F(VirtualReservation, given_addresses_where_nothing_is_mapped_then_they_are_no_memory_to_anybody) {
  const OwnedReservation range = reserve(4 * page);
  EXPECT_FALSE(host_can_read(range.at()));
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  properties.type = ZE_MEMORY_TYPE_SHARED;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), range.at(), &properties, nullptr));
  EXPECT_EQ(ZE_MEMORY_TYPE_UNKNOWN, properties.type);
  EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, zeMemGetAddressRange(context(), range.at(), nullptr, nullptr));
  const OwnedMemory block = memory(MemoryKind::host, page);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code_apart(range.at(), block.get(), page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code_apart(block.get(), range.at(), page));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeContextMakeMemoryResident(context(), device(), range.at(), page));
}

}  // namespace
}  // namespace datum::test
