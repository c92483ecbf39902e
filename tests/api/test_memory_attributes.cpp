// Atomic attributes, residency, barriers, caches and the default context.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

using Attributes = ze_memory_atomic_attr_exp_flags_t;

class MemoryAttributes : public ApiTest {
 protected:
  [[nodiscard]] Attributes attributes(const void* pointer, std::size_t bytes) const {
    Attributes found = 0x80;
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              zeMemGetAtomicAccessAttributeExp(context(), device(), pointer, bytes, &found));
    return found;
  }

  [[nodiscard]] ze_result_t set(const void* pointer, std::size_t bytes, Attributes flags) const {
    return zeMemSetAtomicAccessAttributeExp(context(), device(), pointer, bytes, flags);
  }
};

TEST_F(MemoryAttributes,
       given_shared_memory_when_atomics_are_ruled_out_then_each_page_remembers_the_last_word) {
  for (const MemoryKind kind : {MemoryKind::shared, MemoryKind::shared_without_device}) {
    const OwnedMemory block = memory(kind, 4 * 4096);
    EXPECT_EQ(0U, attributes(block.get(), 4 * 4096)) << "the default";
    EXPECT_EQ(ZE_RESULT_SUCCESS, set(block.get(), 4 * 4096, ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS));
    EXPECT_EQ(ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS, attributes(block.bytes() + 5000, 100));
    const Attributes two =
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_DEVICE_ATOMICS | ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_HOST_ATOMICS;
    EXPECT_EQ(ZE_RESULT_SUCCESS, set(block.bytes() + 4096 + 1, 1, two));
    EXPECT_EQ(two, attributes(block.bytes() + 4096, 4096)) << "whole pages";
    EXPECT_EQ(ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS, attributes(block.bytes() + 8192, 8192));
    EXPECT_EQ(ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS, attributes(block.get(), 4096));
    Attributes untouched = 0x80;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeMemGetAtomicAccessAttributeExp(context(), device(), block.get(), 8192, &untouched))
        << "two answers";
    EXPECT_EQ(0x80U, untouched);
    EXPECT_EQ(ZE_RESULT_SUCCESS, set(block.get(), 4096, ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_SYSTEM_ATOMICS));
    EXPECT_EQ(ZE_RESULT_SUCCESS, set(block.get(), 4096, ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_HOST_ATOMICS));
    EXPECT_EQ(ZE_RESULT_SUCCESS, set(block.get(), 4096, ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_DEVICE_ATOMICS));
    EXPECT_EQ(ZE_RESULT_SUCCESS, set(block.get(), 4 * 4096, 0));
    EXPECT_EQ(0U, attributes(block.get(), 4 * 4096));
  }
}

TEST_F(MemoryAttributes, given_memory_at_an_address_used_before_when_asked_then_it_has_no_old_attributes) {
  void* first = nullptr;
  {
    const OwnedMemory block = memory(MemoryKind::shared, 4096);
    first = block.get();
    EXPECT_EQ(ZE_RESULT_SUCCESS, set(first, 4096, ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_SYSTEM_ATOMICS));
  }
  for (int round = 0; round < 8; ++round) {
    const OwnedMemory block = memory(MemoryKind::shared, 4096);
    EXPECT_EQ(0U, attributes(block.get(), 4096)) << (block.get() == first);
  }
}

TEST_F(MemoryAttributes, given_what_the_board_cannot_do_when_asked_for_then_it_is_an_invalid_argument) {
  const OwnedMemory block = memory(MemoryKind::shared, 4096);
  for (const Attributes positive :
       {ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_HOST_ATOMICS, ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_DEVICE_ATOMICS,
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, set(block.get(), 4096, positive));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, set(block.get(), 4096, 0x80));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, set(block.get(), 0, 0)) << "no bytes";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, set(block.bytes() + 1, 4096, 0)) << "leaves the allocation";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, set(nullptr, 4096, 0));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeMemGetAtomicAccessAttributeExp(context(), device(), block.get(), 4096, nullptr));
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    const OwnedMemory other = memory(kind, 4096);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, set(other.get(), 4096, 0)) << name_of(kind);
  }
  EXPECT_EQ(0U, attributes(block.get(), 4096));
}

TEST_F(MemoryAttributes, given_null_handles_when_called_then_each_is_named) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  const OwnedMemory block = memory(MemoryKind::shared, 4096);
  Attributes found = 0;
  std::size_t pitch = 0;
  std::uint32_t count = 0;
  constexpr ze_result_t expected = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  EXPECT_EQ(expected, zeMemSetAtomicAccessAttributeExp(nullptr, device(), block.get(), 4096, 0));
  EXPECT_EQ(expected, zeMemGetAtomicAccessAttributeExp(nullptr, device(), block.get(), 4096, &found));
  EXPECT_EQ(expected, zeMemGetAtomicAccessAttributeExp(context(), nullptr, block.get(), 4096, &found));
  EXPECT_EQ(expected, zeMemGetPitchFor2dImage(nullptr, device(), 4, 4, 4, &pitch));
  EXPECT_EQ(expected, zeMemGetPitchFor2dImage(context(), nullptr, 4, 4, 4, &pitch));
  EXPECT_EQ(expected, zeDeviceReserveCacheExt(nullptr, 0, 0));
  EXPECT_EQ(expected, zeDeviceSetCacheAdviceExt(nullptr, block.get(), 1, ZE_CACHE_EXT_REGION_NON_RESERVED));
  EXPECT_EQ(expected, zeDeviceGetVectorWidthPropertiesExt(nullptr, &count, nullptr));
  EXPECT_EQ(expected, zeContextMakeMemoryResident(context(), nullptr, block.get(), 4));
  EXPECT_EQ(expected, zeContextEvictMemory(nullptr, device(), block.get(), 4));
  EXPECT_EQ(expected, zeContextSystemBarrier(nullptr, device()));
  EXPECT_EQ(expected, zeContextSystemBarrier(context(), nullptr));
  const ze_memory_free_ext_desc_t at_once{ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, nullptr, 0};
  EXPECT_EQ(expected, zeMemFreeExt(nullptr, &at_once, block.get()));
}

TEST_F(MemoryAttributes, given_no_device_when_attributes_are_set_then_they_hold_for_every_device) {
  if (!bad_handles_are_survivable() || under_validation()) {
    GTEST_SKIP() << "the loader or the layer refuses a null device";
  }
  const OwnedMemory block = memory(MemoryKind::shared_without_device, 4096);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemSetAtomicAccessAttributeExp(context(), nullptr, block.get(), 4096,
                                                                ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS));
  EXPECT_EQ(ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS, attributes(block.get(), 4096));
}

TEST_F(MemoryAttributes, given_a_default_context_when_asked_for_then_it_is_one_that_works_and_stays) {
  if (mode() == Mode::wrapped || under_validation()) {
    GTEST_SKIP()
        << "the loader does not wrap, and the layer does not know, the context that this function returns";
  }
  const ze_context_handle_t first = zeDriverGetDefaultContext(driver());
  ASSERT_NE(nullptr, first) << last_error_text();
  EXPECT_EQ(first, zeDriverGetDefaultContext(driver()));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextGetStatus(first));
  for (const ze_device_handle_t one : session().devices) {
    const OwnedMemory block = allocate(MemoryKind::device, first, one, 100);
    EXPECT_NE(nullptr, block.get()) << "every device is in it";
  }
  EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeContextDestroy(first)) << "it is the driver's";
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextGetStatus(first));
}

TEST_F(MemoryAttributes, given_caches_that_are_not_there_when_reserved_then_the_feature_is_unsupported) {
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  std::uint32_t count = 9;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCacheProperties(device(), &count, nullptr));
  EXPECT_EQ(0U, count);
  ze_device_cache_line_size_ext_t line{ZE_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT, nullptr, 77};
  ze_cache_reservation_ext_desc_t reservation{ZE_STRUCTURE_TYPE_CACHE_RESERVATION_EXT_DESC, &line, 77};
  ze_device_cache_properties_t cache{};
  cache.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES;
  cache.pNext = &reservation;
  cache.cacheSize = 77;
  count = 1;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCacheProperties(device(), &count, &cache));
  EXPECT_EQ(0U, count);
  EXPECT_EQ(77U, cache.cacheSize) << "there is none to be described";
  EXPECT_EQ(77U, reservation.maxCacheReservationSize);
  EXPECT_EQ(77U, line.cacheLineSize);
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeDeviceReserveCacheExt(device(), 0, 4096));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeDeviceSetCacheAdviceExt(device(), block.get(), 1, ZE_CACHE_EXT_REGION_RESERVED));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeDeviceSetCacheAdviceExt(device(), nullptr, 1, ZE_CACHE_EXT_REGION_RESERVED));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION,
            zeDeviceSetCacheAdviceExt(device(), block.get(), 1, static_cast<ze_cache_ext_region_t>(3)));
  count = 9;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetVectorWidthPropertiesExt(device(), &count, nullptr));
  EXPECT_EQ(0U, count) << "no kernels, no vectors";
}

TEST_F(MemoryAttributes, given_a_2d_image_when_asked_for_its_pitch_then_rows_begin_at_whole_beats_and_fit) {
  for (const unsigned element : {1U, 2U, 3U, 4U, 8U, 16U}) {
    for (const std::size_t width :
         {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{1000}, std::size_t{65537}}) {
      std::size_t pitch = 0;
      ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetPitchFor2dImage(context(), device(), width, 7, element, &pitch));
      EXPECT_GE(pitch, width * element);
      EXPECT_LT(pitch, width * element + 64);
      EXPECT_EQ(0U, pitch % 64);
    }
  }
  std::size_t pitch = 5;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetPitchFor2dImage(context(), device(), 0, 7, 4, &pitch));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetPitchFor2dImage(context(), device(), 7, 0, 4, &pitch));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetPitchFor2dImage(context(), device(), 7, 7, 0, &pitch));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetPitchFor2dImage(context(), device(), 7, 7, 17, &pitch));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemGetPitchFor2dImage(context(), device(), SIZE_MAX, 7, 16, &pitch));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemGetPitchFor2dImage(context(), device(), 1000, SIZE_MAX, 4, &pitch));
  EXPECT_EQ(5U, pitch);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemGetPitchFor2dImage(context(), device(), 7, 7, 4, nullptr));
}

TEST_F(MemoryAttributes, given_an_image_with_its_pitch_when_copied_by_rows_then_every_pixel_arrives) {
  constexpr std::uint32_t width = 100;
  constexpr std::uint32_t height = 9;
  std::size_t pitch = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetPitchFor2dImage(context(), device(), width, height, 4, &pitch));
  const OwnedMemory image = memory(MemoryKind::device, pitch * height);
  const OwnedMemory packed = memory(MemoryKind::shared, width * 4 * height);
  const Bytes pixels = pattern(width * 4 * height, 3);
  std::copy(pixels.begin(), pixels.end(), packed.bytes());
  const ze_copy_region_t region{0, 0, 0, width * 4, height, 1};
  const auto row = static_cast<std::uint32_t>(pitch);
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              EXPECT_EQ(ZE_RESULT_SUCCESS,
                        zeCommandListAppendMemoryCopyRegion(list, image.get(), &region, row, 0, packed.get(),
                                                            &region, width * 4, 0, nullptr, 0, nullptr));
            }));
  const Bytes found = download(image.get(), pitch * height);
  for (std::uint32_t y = 0; y < height; ++y) {
    EXPECT_TRUE(same_bytes(pixels.data() + y * width * 4, found.data() + y * pitch, width * 4)) << y;
  }
}

class Residency : public ApiTest {};

TEST_F(Residency, given_memory_of_each_kind_when_made_resident_and_evicted_then_it_keeps_its_bytes) {
  for (const MemoryKind kind : all_memory_kinds) {
    const OwnedMemory block = memory(kind, 9000);
    upload(block.get(), pattern(9000, 4));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextMakeMemoryResident(context(), device(), block.get(), 9000));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextMakeMemoryResident(context(), device(), block.get(), 9000))
        << "again";
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              zeContextMakeMemoryResident(context(), device(), block.bytes() + 5000, 4000));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextEvictMemory(context(), device(), block.get(), 9000));
    EXPECT_TRUE(same_bytes(pattern(9000, 4), download(block.get(), 9000))) << name_of(kind);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextEvictMemory(context(), device(), block.get(), 9000)) << "again";
  }
}

TEST_F(Residency, given_resident_memory_when_freed_without_eviction_then_the_next_block_is_right) {
  for (const MemoryKind kind : all_memory_kinds) {
    for (std::uint64_t round = 0; round < 4; ++round) {
      const OwnedMemory block = memory(kind, 20'000);
      ASSERT_EQ(ZE_RESULT_SUCCESS, zeContextMakeMemoryResident(context(), device(), block.get(), 20'000));
      upload(block.get(), pattern(20'000, round));
      ASSERT_TRUE(same_bytes(pattern(20'000, round), download(block.get(), 20'000)))
          << name_of(kind) << round;
      if (round % 2 == 1) {
        ASSERT_EQ(ZE_RESULT_SUCCESS, zeContextEvictMemory(context(), device(), block.get(), 20'000));
        ASSERT_TRUE(same_bytes(pattern(20'000, round), download(block.get(), 20'000)))
            << name_of(kind) << round;
      }
    }
  }
}

TEST_F(Residency, given_what_is_no_memory_of_the_context_when_made_resident_then_it_is_an_invalid_argument) {
  int on_stack = 0;
  const OwnedContext other = create_context(driver());
  const OwnedMemory foreign = allocate(MemoryKind::host, other, device(), 100);
  const OwnedMemory block = memory(MemoryKind::device, 5000);
  for (void* wrong : {static_cast<void*>(&on_stack), foreign.get()}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeContextMakeMemoryResident(context(), device(), wrong, 4));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeContextEvictMemory(context(), device(), wrong, 4));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeContextMakeMemoryResident(context(), device(), block.get(), 5001));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeContextMakeMemoryResident(context(), device(), nullptr, 4));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeContextEvictMemory(context(), device(), nullptr, 4));
}

TEST_F(Residency, given_writes_of_the_host_when_the_system_barrier_returns_then_the_board_sees_them) {
  const OwnedMemory block = memory(MemoryKind::shared, 4096);
  for (std::uint64_t round = 0; round < 5; ++round) {
    write_pattern(block.get(), 4096, round);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextSystemBarrier(context(), device()));
    EXPECT_TRUE(same_bytes(pattern(4096, round), download(block.get(), 4096)));
  }
}

}  // namespace
}  // namespace datum::test
