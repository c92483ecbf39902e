// zeMemGetAllocProperties and zeMemGetAddressRange on pointers of every sort.
#include <cstdlib>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class MemoryQuery : public ApiTest {
 protected:
  [[nodiscard]] ze_memory_allocation_properties_t properties(const void* pointer,
                                                             ze_device_handle_t* owner = nullptr) const {
    ze_memory_allocation_properties_t found{};
    found.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    found.type = ZE_MEMORY_TYPE_FORCE_UINT32;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), pointer, &found, owner));
    return found;
  }
};

TEST_F(MemoryQuery, given_each_kind_of_memory_when_asked_then_type_device_and_page_size_are_right) {
  for (const MemoryKind kind : all_memory_kinds) {
    const OwnedMemory block = memory(kind, 10000);
    ze_device_handle_t owner = reinterpret_cast<ze_device_handle_t>(0x1234);
    const auto found = properties(block.get(), &owner);
    EXPECT_EQ(type_of(kind), found.type) << name_of(kind);
    EXPECT_NE(0U, found.id) << name_of(kind);
    const bool owned = kind != MemoryKind::host && kind != MemoryKind::shared_without_device;
    EXPECT_EQ(owned ? device() : nullptr, owner) << name_of(kind);
    EXPECT_GE(found.pageSize, 4096U) << name_of(kind);
    EXPECT_EQ(0U, found.pageSize & (found.pageSize - 1)) << name_of(kind);
  }
}

TEST_F(MemoryQuery, given_pointers_into_the_middle_when_asked_then_they_are_the_same_allocation) {
  for (const MemoryKind kind : all_memory_kinds) {
    const std::size_t size = kind == MemoryKind::onchip ? 65'537 : (1U << 20U) + 1;
    const OwnedMemory block = memory(kind, size);
    const auto base_properties = properties(block.get());
    for (const std::size_t offset : {std::size_t{1}, std::size_t{4095}, std::size_t{4096}, size - 1}) {
      const auto found = properties(block.bytes() + offset);
      EXPECT_EQ(base_properties.id, found.id) << name_of(kind) << " + " << offset;
      EXPECT_EQ(base_properties.type, found.type) << name_of(kind) << " + " << offset;
      void* base = nullptr;
      std::size_t found_size = 0;
      EXPECT_EQ(ZE_RESULT_SUCCESS,
                zeMemGetAddressRange(context(), block.bytes() + offset, &base, &found_size));
      EXPECT_EQ(block.get(), base);
      EXPECT_EQ(size, found_size);
    }
  }
}

TEST_F(MemoryQuery, given_the_bytes_beside_an_allocation_when_asked_then_they_are_not_it) {
  for (const MemoryKind kind : all_memory_kinds) {
    const OwnedMemory block = memory(kind, 8192);
    for (const unsigned char* beside : {block.bytes() - 1, block.bytes() + 8192}) {
      void* base = nullptr;
      std::size_t size = 0;
      const ze_result_t result = zeMemGetAddressRange(context(), beside, &base, &size);
      if (result == ZE_RESULT_SUCCESS) {
        EXPECT_NE(block.get(), base) << name_of(kind);
      } else {
        EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, result) << name_of(kind);
      }
    }
  }
}

TEST_F(MemoryQuery, given_optional_outputs_left_out_when_asked_then_the_others_are_written) {
  const OwnedMemory block = memory(MemoryKind::device, 100);
  void* base = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), block.get(), &base, nullptr));
  EXPECT_EQ(block.get(), base);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), block.get(), nullptr, &size));
  EXPECT_EQ(100U, size);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), block.get(), nullptr, nullptr));
}

TEST_F(MemoryQuery,
       given_pointers_that_are_not_ours_when_asked_then_their_type_is_unknown_and_no_range_is_found) {
  int on_stack = 0;
  void* ordinary = std::malloc(64);
  OwnedMemory freed = memory(MemoryKind::shared, 64);
  void* stale = freed.get();
  ASSERT_EQ(ZE_RESULT_SUCCESS, freed.free());
  static const int constant = 7;
  for (const void* foreign :
       {static_cast<const void*>(&on_stack), static_cast<const void*>(ordinary),
        static_cast<const void*>(stale), static_cast<const void*>(&constant),
        reinterpret_cast<const void*>(0x8), reinterpret_cast<const void*>(0xffff800000000000ULL),
        reinterpret_cast<const void*>(UINTPTR_MAX)}) {
    EXPECT_EQ(ZE_MEMORY_TYPE_UNKNOWN, properties(foreign).type) << foreign;
    void* base = reinterpret_cast<void*>(0x77);
    std::size_t size = 77;
    EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, zeMemGetAddressRange(context(), foreign, &base, &size))
        << foreign;
    EXPECT_EQ(reinterpret_cast<void*>(0x77), base);
    EXPECT_EQ(77U, size);
  }
  std::free(ordinary);
}

TEST_F(MemoryQuery, given_memory_of_another_context_when_asked_then_it_is_unknown_here) {
  const OwnedContext other = create_context(driver());
  const OwnedMemory block = allocate(MemoryKind::device, other, device(), 64);
  EXPECT_EQ(ZE_MEMORY_TYPE_UNKNOWN, properties(block.get()).type);
  EXPECT_EQ(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND,
            zeMemGetAddressRange(context(), block.get(), nullptr, nullptr));
}

TEST_F(MemoryQuery, given_null_arguments_when_asked_then_they_are_named) {
  const OwnedMemory block = memory(MemoryKind::device, 64);
  ze_memory_allocation_properties_t found{};
  found.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemGetAllocProperties(context(), nullptr, &found, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemGetAllocProperties(context(), block.get(), nullptr, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeMemGetAddressRange(context(), nullptr, nullptr, nullptr));
}

TEST_F(
    MemoryQuery,
    given_an_export_query_of_memory_without_export_when_asked_then_it_is_invalid_and_no_descriptor_appears) {
  const OwnedMemory block = memory(MemoryKind::device, 64);
  ze_external_memory_export_fd_t exported{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr,
                                          ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD, -1};
  ze_memory_allocation_properties_t found{};
  found.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  found.pNext = &exported;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemGetAllocProperties(context(), block.get(), &found, nullptr));
  EXPECT_EQ(-1, exported.fd);
}

TEST_F(MemoryQuery, given_an_unknown_structure_in_the_chain_when_asked_then_it_is_left_alone) {
  const OwnedMemory block = memory(MemoryKind::host, 64);

  struct Unknown {
    ze_structure_type_t stype;
    void* next;
    std::uint64_t word;
  };

  Unknown unknown{static_cast<ze_structure_type_t>(0x7f00), nullptr, 0x5555};
  ze_memory_allocation_properties_t found{};
  found.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  found.pNext = &unknown;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), block.get(), &found, nullptr));
  EXPECT_EQ(ZE_MEMORY_TYPE_HOST, found.type);
  EXPECT_EQ(0x5555U, unknown.word);
}

}  // namespace
}  // namespace datum::test
