// What is chained to the descriptors of an allocation, and the flags of shared memory: each is honoured,
// harmless or refused, for every kind of memory that the specification allows it for.
#include <functional>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class MemoryDescriptors : public ApiTest {
 protected:
  /// One kind of allocation with `chain` behind its device descriptor, or its host descriptor where it has no
  /// other.
  struct Maker {
    const char* name;
    std::function<ze_result_t(const void* chain)> make;
  };

  [[nodiscard]] Maker on_device() {
    return {"device", [this](const void* chain) { return allocate_behind(MemoryKind::device, chain); }};
  }

  [[nodiscard]] Maker on_host() {
    return {"host", [this](const void* chain) { return allocate_behind(MemoryKind::host, chain); }};
  }

  [[nodiscard]] Maker on_both() {
    return {"shared", [this](const void* chain) { return allocate_behind(MemoryKind::shared, chain); }};
  }

  /// A pointer is written exactly on success, and the block can be used: its last byte is copied.
  [[nodiscard]] ze_result_t allocate_behind(MemoryKind kind, const void* chain) {
    const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                               kind == MemoryKind::host ? nullptr : chain, 0, 0};
    const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                           kind == MemoryKind::host ? chain : nullptr, 0};
    return make(kind, on_device, on_host);
  }

  [[nodiscard]] ze_result_t make(MemoryKind kind, const ze_device_mem_alloc_desc_t& on_device,
                                 const ze_host_mem_alloc_desc_t& on_host) {
    constexpr std::size_t bytes = 5000;
    void* pointer = nullptr;
    ze_result_t result = ZE_RESULT_ERROR_UNKNOWN;
    if (kind == MemoryKind::host) {
      result = zeMemAllocHost(context(), &on_host, bytes, 0, &pointer);
    } else if (kind == MemoryKind::shared) {
      result = zeMemAllocShared(context(), &on_device, &on_host, bytes, 0, device(), &pointer);
    } else {
      result = zeMemAllocDevice(context(), &on_device, bytes, 0, device(), &pointer);
    }
    EXPECT_EQ(result == ZE_RESULT_SUCCESS, pointer != nullptr);
    const OwnedMemory block(context(), pointer);
    if (pointer != nullptr) {
      const OwnedMemory target = memory(MemoryKind::host, 1);
      EXPECT_EQ(ZE_RESULT_SUCCESS, copy(target.get(), block.bytes() + bytes - 1, 1));
    }
    return result;
  }
};

TEST_F(MemoryDescriptors, given_host_flags_when_shared_memory_is_allocated_then_each_is_taken) {
  const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  for (const ze_host_mem_alloc_flags_t flags :
       {ZE_HOST_MEM_ALLOC_FLAG_BIAS_CACHED, ZE_HOST_MEM_ALLOC_FLAG_BIAS_UNCACHED,
        ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED, ZE_HOST_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT,
        ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY}) {
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              make(MemoryKind::shared, on_device, {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, flags}))
        << "flags " << flags;
  }
}

TEST_F(MemoryDescriptors, given_relaxed_limits_when_allocated_then_every_kind_of_memory_takes_them) {
  for (const Maker& maker : {on_device(), on_host(), on_both()}) {
    for (const ze_structure_type_t stype : {ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC,
                                            ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC}) {
      ze_relaxed_allocation_limits_ext_desc_t limits{stype, nullptr,
                                                     ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE};
      EXPECT_EQ(ZE_RESULT_SUCCESS, maker.make(&limits)) << maker.name;
      limits.flags = 0x2;
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, maker.make(&limits)) << maker.name;
    }
  }
}

TEST_F(MemoryDescriptors, given_compression_hints_when_allocated_then_exactly_one_of_them_is_taken) {
  ze_memory_compression_hints_ext_desc_t hints{ZE_STRUCTURE_TYPE_MEMORY_COMPRESSION_HINTS_EXT_DESC, nullptr,
                                               0};
  for (const Maker& maker : {on_device(), on_host(), on_both()}) {
    for (const ze_memory_compression_hints_ext_flags_t flag :
         {ZE_MEMORY_COMPRESSION_HINTS_EXT_FLAG_COMPRESSED,
          ZE_MEMORY_COMPRESSION_HINTS_EXT_FLAG_UNCOMPRESSED}) {
      hints.flags = flag;
      EXPECT_EQ(ZE_RESULT_SUCCESS, maker.make(&hints)) << maker.name << ", flag " << flag;
    }
    for (const ze_memory_compression_hints_ext_flags_t flags : {0x0U, 0x3U, 0x4U}) {
      hints.flags = flags;
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, maker.make(&hints)) << maker.name << ", " << flags;
    }
  }
}

TEST_F(MemoryDescriptors, given_memory_for_ray_tracing_when_allocated_then_the_feature_is_unsupported) {
  const ze_raytracing_mem_alloc_ext_desc_t rays{ZE_STRUCTURE_TYPE_RAYTRACING_MEM_ALLOC_EXT_DESC, nullptr,
                                                ZE_RAYTRACING_MEM_ALLOC_EXT_FLAG_TBD};
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, on_device().make(&rays));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, on_both().make(&rays));
}

TEST_F(MemoryDescriptors, given_external_types_of_another_system_when_allocated_then_they_are_unsupported) {
  for (const Maker& maker : {on_device(), on_host()}) {
    for (ze_external_memory_type_flags_t type = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32;
         type <= ZE_EXTERNAL_MEMORY_TYPE_FLAG_D3D12_RESOURCE; type *= 2) {
      const ze_external_memory_export_desc_t to_export{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                       type};
      const ze_external_memory_import_fd_t to_import{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr,
                                                     type, -1};
      const ze_external_memory_import_win32_handle_t of_windows{
          ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32, nullptr, type, nullptr, nullptr};
      EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, maker.make(&to_export))
          << maker.name << ", " << type;
      EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, maker.make(&to_import))
          << maker.name << ", " << type;
      EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, maker.make(&of_windows))
          << maker.name << ", " << type;
    }
  }
}

TEST_F(MemoryDescriptors, given_external_types_that_mean_nothing_when_allocated_then_they_are_invalid) {
  for (const Maker& maker : {on_device(), on_host()}) {
    const ze_external_memory_export_desc_t unknown{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                   0x100};
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, maker.make(&unknown)) << maker.name;
  }
}

TEST_F(MemoryDescriptors, given_memory_not_made_for_export_when_a_handle_is_asked_for_then_it_is_invalid) {
  for (const MemoryKind kind : all_memory_kinds) {
    const OwnedMemory block = memory(kind, 64);
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    for (ze_external_memory_type_flags_t type = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
         type <= ZE_EXTERNAL_MEMORY_TYPE_FLAG_D3D12_RESOURCE; type *= 2) {
      ze_external_memory_export_fd_t descriptor{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, type,
                                                -7};
      properties.pNext = &descriptor;
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeMemGetAllocProperties(context(), block.get(), &properties, nullptr))
          << name_of(kind) << ", " << type;
      EXPECT_EQ(-7, descriptor.fd) << "a failed call writes no descriptor";
    }
    ze_external_memory_export_win32_handle_t handle{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32, nullptr,
                                                    ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32, nullptr};
    properties.pNext = &handle;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeMemGetAllocProperties(context(), block.get(), &properties, nullptr))
        << name_of(kind);
  }
}

}  // namespace
}  // namespace datum::test
