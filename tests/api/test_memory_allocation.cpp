// zeMemAllocDevice, zeMemAllocHost, zeMemAllocShared: every size, alignment, flag and descriptor.
#include <set>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class MemoryAllocation : public ApiTest {
 protected:
  static inline void* const untouched = reinterpret_cast<void*>(0xdead);

  /// Allocates, checks that a pointer is written exactly on success, frees. The answer of the call.
  [[nodiscard]] ze_result_t attempt(MemoryKind kind, std::size_t bytes, std::size_t alignment = 0) {
    void* pointer = untouched;
    const ze_result_t result = allocate_raw(kind, context(), device(), bytes, alignment, &pointer);
    return judge(result, pointer, alignment);
  }

  [[nodiscard]] ze_result_t attempt_device(const ze_device_mem_alloc_desc_t& description,
                                           std::size_t bytes = 64) {
    void* pointer = untouched;
    const ze_result_t result = zeMemAllocDevice(context(), &description, bytes, 0, device(), &pointer);
    return judge(result, pointer, 0);
  }

  [[nodiscard]] ze_result_t attempt_host(const ze_host_mem_alloc_desc_t& description,
                                         std::size_t bytes = 64) {
    void* pointer = untouched;
    const ze_result_t result = zeMemAllocHost(context(), &description, bytes, 0, &pointer);
    return judge(result, pointer, 0);
  }

  [[nodiscard]] ze_result_t attempt_shared(const ze_device_mem_alloc_desc_t& on_device,
                                           const ze_host_mem_alloc_desc_t& on_host) {
    void* pointer = untouched;
    const ze_result_t result = zeMemAllocShared(context(), &on_device, &on_host, 64, 0, device(), &pointer);
    return judge(result, pointer, 0);
  }

 private:
  ze_result_t judge(ze_result_t result, void* pointer, std::size_t alignment) {
    if (result != ZE_RESULT_SUCCESS) {
      EXPECT_EQ(untouched, pointer) << "a failed call writes no pointer";
      return result;
    }
    EXPECT_NE(nullptr, pointer);
    EXPECT_EQ(0U, reinterpret_cast<std::uintptr_t>(pointer) % std::max<std::size_t>(alignment, 1));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemFree(context(), pointer));
    return result;
  }
};

constexpr ze_device_mem_alloc_desc_t device_description(ze_device_mem_alloc_flags_t flags = 0,
                                                        std::uint32_t ordinal = 0,
                                                        const void* next = nullptr) {
  return {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, next, flags, ordinal};
}

constexpr ze_host_mem_alloc_desc_t host_description(ze_host_mem_alloc_flags_t flags = 0,
                                                    const void* next = nullptr) {
  return {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, next, flags};
}

TEST_F(MemoryAllocation, given_no_bytes_when_allocated_then_the_size_is_unsupported_and_neighbours_live_on) {
  OwnedMemory neighbour = memory(MemoryKind::device, 64);
  for (const MemoryKind kind : all_memory_kinds) {
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, attempt(kind, 0)) << name_of(kind);
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, neighbour.free());
}

TEST_F(MemoryAllocation, given_odd_sizes_when_allocated_then_exactly_that_size_is_recorded) {
  for (const MemoryKind kind : all_memory_kinds) {
    for (const std::size_t bytes : {1U, 2U, 3U, 63U, 64U, 65U, 4095U, 4096U, 4097U, 65537U, 131071U}) {
      const OwnedMemory block = memory(kind, bytes);
      ASSERT_NE(nullptr, block.get());
      void* base = nullptr;
      std::size_t size = 0;
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), block.get(), &base, &size));
      EXPECT_EQ(block.get(), base) << name_of(kind);
      EXPECT_EQ(bytes, size) << name_of(kind);
    }
  }
}

TEST_F(MemoryAllocation, given_alignments_that_are_powers_of_two_when_allocated_then_the_pointer_has_them) {
  for (const MemoryKind kind : all_memory_kinds) {
    for (std::size_t alignment = 1; alignment <= (1U << 21U); alignment *= 2) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, attempt(kind, 100, alignment))
          << name_of(kind) << ", alignment " << alignment;
    }
  }
}

TEST_F(MemoryAllocation, given_ever_larger_alignments_when_allocated_then_from_one_on_all_are_unsupported) {
  for (const MemoryKind kind : all_memory_kinds) {
    bool refused = false;
    for (unsigned bit = 21; bit < 64; ++bit) {
      const ze_result_t result = attempt(kind, 100, std::size_t{1} << bit);
      if (result != ZE_RESULT_SUCCESS) {
        EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, result) << name_of(kind) << ", bit " << bit;
        refused = true;
      } else {
        EXPECT_FALSE(refused) << name_of(kind) << ": larger than one that was refused, bit " << bit;
      }
    }
    EXPECT_TRUE(refused) << name_of(kind) << ": an alignment of 2^63 cannot be honoured";
  }
}

TEST_F(MemoryAllocation,
       given_alignments_that_are_not_powers_of_two_when_allocated_then_they_are_unsupported) {
  for (const MemoryKind kind : all_memory_kinds) {
    for (const std::size_t alignment : {std::size_t{3}, std::size_t{5}, std::size_t{24}, std::size_t{4095},
                                        std::size_t{65537}, SIZE_MAX, SIZE_MAX - 1}) {
      EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, attempt(kind, 64, alignment))
          << name_of(kind) << ", " << alignment;
    }
  }
}

TEST_F(MemoryAllocation, given_both_size_and_alignment_wrong_when_allocated_then_the_size_is_named) {
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, attempt(MemoryKind::device, 0, 3));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, attempt(MemoryKind::host, 0, 3));
}

TEST_F(MemoryAllocation,
       given_device_flags_when_allocated_then_the_defined_ones_are_taken_and_others_refused) {
  for (ze_device_mem_alloc_flags_t flags = 0; flags <= 7; ++flags) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, attempt_device(device_description(flags))) << "flags " << flags;
    EXPECT_EQ(ZE_RESULT_SUCCESS, attempt_shared(device_description(flags), host_description()))
        << "flags " << flags;
  }
  for (const ze_device_mem_alloc_flags_t flags : {0x8U, 0x10U, 0x80000000U, 0xffffffffU}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, attempt_device(device_description(flags)))
        << "flags " << flags;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION,
              attempt_shared(device_description(flags), host_description()));
  }
}

TEST_F(MemoryAllocation, given_host_flags_when_allocated_then_the_defined_ones_are_taken_and_others_refused) {
  for (ze_host_mem_alloc_flags_t flags = 0; flags <= 0x1f; ++flags) {
    const bool contradiction = (flags & ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED) != 0 &&
                               (flags & ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY) != 0;
    const ze_result_t expected = contradiction ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
    EXPECT_EQ(expected, attempt_host(host_description(flags))) << "flags " << flags;
  }
  for (const ze_host_mem_alloc_flags_t flags : {0x20U, 0x40U, 0x80000000U, 0xffffffffU}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, attempt_host(host_description(flags)))
        << "flags " << flags;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION,
              attempt_shared(device_description(), host_description(flags)));
  }
}

TEST_F(MemoryAllocation, given_ordinals_when_allocated_then_only_those_of_the_two_memories_are_taken) {
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt_device(device_description(0, 0)));
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt_device(device_description(0, 1)));
  for (const std::uint32_t ordinal : {2U, 3U, 0x80000000U, UINT32_MAX}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, attempt_device(device_description(0, ordinal)))
        << "ordinal " << ordinal;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              attempt_shared(device_description(0, ordinal), host_description()));
  }
}

TEST_F(MemoryAllocation, given_descriptors_of_another_type_when_allocated_then_they_are_invalid) {
  ze_device_mem_alloc_desc_t wrong_device = device_description();
  wrong_device.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  ze_host_mem_alloc_desc_t wrong_host = host_description();
  wrong_host.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, attempt_device(wrong_device));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, attempt_host(wrong_host));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, attempt_shared(wrong_device, host_description()));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, attempt_shared(device_description(), wrong_host));
}

TEST_F(MemoryAllocation, given_null_arguments_when_allocated_then_each_is_named) {
  const ze_device_mem_alloc_desc_t on_device = device_description();
  const ze_host_mem_alloc_desc_t on_host = host_description();
  void* pointer = untouched;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemAllocDevice(context(), nullptr, 64, 0, device(), &pointer));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemAllocDevice(context(), &on_device, 64, 0, device(), nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeMemAllocHost(context(), nullptr, 64, 0, &pointer));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeMemAllocHost(context(), &on_host, 64, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemAllocShared(context(), nullptr, &on_host, 64, 0, device(), &pointer));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemAllocShared(context(), &on_device, nullptr, 64, 0, device(), &pointer));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemAllocShared(context(), &on_device, &on_host, 64, 0, device(), nullptr));
  EXPECT_EQ(untouched, pointer);
}

TEST_F(MemoryAllocation, given_unknown_extensions_when_allocated_then_they_are_ignored) {
  const ze_base_desc_t unknown{static_cast<ze_structure_type_t>(0x7f00), nullptr};
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt_device(device_description(0, 0, &unknown)));
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt_host(host_description(0, &unknown)));
  EXPECT_EQ(ZE_RESULT_SUCCESS,
            attempt_shared(device_description(0, 0, &unknown), host_description(0, &unknown)));
}

TEST_F(MemoryAllocation, given_extensions_in_a_circle_when_allocated_then_the_call_returns) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer walks the chain itself";
  }
  ze_base_desc_t first{static_cast<ze_structure_type_t>(0x7f00), nullptr};
  ze_base_desc_t second{static_cast<ze_structure_type_t>(0x7f01), &first};
  first.pNext = &second;
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt_device(device_description(0, 0, &first)));
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt_host(host_description(0, &first)));
  EXPECT_EQ(ZE_RESULT_SUCCESS,
            attempt_shared(device_description(0, 0, &first), host_description(0, &second)));
}

TEST_F(MemoryAllocation, given_a_known_extension_behind_an_unknown_one_when_allocated_then_it_is_honoured) {
  const ze_external_memory_export_desc_t unsupported{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                     ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32};
  const ze_base_desc_t unknown{static_cast<ze_structure_type_t>(0x7f00), &unsupported};
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, attempt_device(device_description(0, 0, &unknown)));
}

TEST_F(MemoryAllocation, given_many_allocations_when_alive_then_none_overlaps_another) {
  std::set<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
  std::vector<OwnedMemory> blocks;
  Random random(test_seed());
  for (int i = 0; i < 150; ++i) {
    const MemoryKind kind = all_memory_kinds[random.below(5)];
    const std::size_t bytes = random.between(1, kind == MemoryKind::onchip ? 4096 : 20'000);
    blocks.push_back(memory(kind, bytes));
    const auto first = reinterpret_cast<std::uintptr_t>(blocks.back().get());
    const auto after = ranges.lower_bound({first, 0});
    EXPECT_TRUE(after == ranges.end() || first + bytes <= after->first);
    EXPECT_TRUE(after == ranges.begin() || std::prev(after)->second <= first);
    ranges.insert({first, first + bytes});
  }
}

TEST_F(MemoryAllocation, given_allocation_and_release_again_and_again_then_no_id_ever_repeats) {
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 500; ++i) {
    const OwnedMemory block = memory(all_memory_kinds[i % 5], 64);
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), block.get(), &properties, nullptr));
    EXPECT_TRUE(ids.insert(properties.id).second) << "id " << properties.id << " came twice";
  }
}

}  // namespace
}  // namespace datum::test
