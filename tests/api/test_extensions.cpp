// Every extension that the driver lists is asked for something that only it can answer.
#include <algorithm>
#include <string>

#include <datum/ze_ipc_phys_mem_handle_range.h>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class Extensions : public ApiTest {
 protected:
  [[nodiscard]] std::vector<std::string> names() const {
    std::uint32_t count = 0;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDriverGetExtensionProperties(driver(), &count, nullptr));
    std::vector<ze_driver_extension_properties_t> found(count);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDriverGetExtensionProperties(driver(), &count, found.data()));
    std::vector<std::string> all;
    for (const ze_driver_extension_properties_t& one : found) {
      all.emplace_back(one.name);
    }
    return all;
  }

  void expect_listed(const char* name) const {
    const std::vector<std::string> all = names();
    EXPECT_NE(all.end(), std::find(all.begin(), all.end(), name)) << name;
  }
};

TEST_F(Extensions, given_the_memory_extensions_when_listed_then_all_that_work_are_there_and_no_other) {
  for (const char* name :
       {ZE_RELAXED_ALLOCATION_LIMITS_EXT_NAME, ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME,
        ZE_MEMORY_FREE_POLICIES_EXT_NAME, ZE_DEVICE_MEMORY_PROPERTIES_EXT_NAME,
        ZE_DEVICE_USABLEMEM_SIZE_PROPERTIES_EXT_NAME, ZE_EXTERNAL_MEMORY_MAPPING_EXT_NAME,
        ZE_SUB_ALLOCATIONS_EXP_NAME, ZE_BANDWIDTH_PROPERTIES_EXP_NAME, ZE_DEVICE_IP_VERSION_EXT_NAME,
        ZE_PCI_PROPERTIES_EXT_NAME, ZE_IPC_PHYS_MEM_HANDLE_RANGE_EXT_NAME, ZE_BINDLESS_IMAGE_EXP_NAME}) {
    expect_listed(name);
  }
  const std::vector<std::string> all = names();
  for (const char* name : {ZE_RAYTRACING_EXT_NAME, ZE_CACHE_RESERVATION_EXT_NAME, ZE_CACHELINE_SIZE_EXT_NAME,
                           ZE_FLOAT_ATOMICS_EXT_NAME, ZE_FABRIC_EXP_NAME, ZE_DEVICE_VECTOR_SIZES_EXT_NAME}) {
    EXPECT_EQ(all.end(), std::find(all.begin(), all.end(), name)) << name;
  }
}

TEST_F(Extensions, given_sub_allocations_asked_for_then_an_allocation_is_its_own_only_part) {
  for (const MemoryKind kind : all_memory_kinds) {
    const OwnedMemory block = memory(kind, 5000);
    std::uint32_t count = 0;
    ze_sub_allocation_t parts[2]{};
    parts[1].size = 77;
    ze_memory_sub_allocations_exp_properties_t asked{ZE_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES,
                                                     nullptr, &count, nullptr};
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    properties.pNext = &asked;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeMemGetAllocProperties(context(), block.bytes() + 100, &properties, nullptr));
    EXPECT_EQ(1U, count) << name_of(kind);
    EXPECT_EQ(type_of(kind), properties.type);
    count = 2;
    asked.pSubAllocations = parts;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), block.get(), &properties, nullptr));
    EXPECT_EQ(1U, count);
    EXPECT_EQ(block.get(), parts[0].base);
    EXPECT_EQ(5000U, parts[0].size);
    EXPECT_EQ(nullptr, parts[1].base);
    EXPECT_EQ(77U, parts[1].size) << "nothing behind the only part is written";
  }
}

TEST_F(Extensions, given_an_unknown_pointer_when_asked_for_sub_allocations_then_there_are_none) {
  int on_stack = 0;
  std::uint32_t count = 4;
  ze_sub_allocation_t parts[4]{};
  ze_memory_sub_allocations_exp_properties_t asked{ZE_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES,
                                                   nullptr, &count, parts};
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  properties.pNext = &asked;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), &on_stack, &properties, nullptr));
  EXPECT_EQ(ZE_MEMORY_TYPE_UNKNOWN, properties.type);
  EXPECT_EQ(0U, count);
  EXPECT_EQ(nullptr, parts[0].base);
}

TEST_F(Extensions, given_bandwidths_asked_for_then_memory_copies_and_the_board_itself_agree) {
  ze_device_memory_ext_properties_t of_memory{};
  of_memory.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES;
  ze_device_memory_properties_t memory{};
  memory.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  memory.pNext = &of_memory;
  std::uint32_t count = 1;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetMemoryProperties(device(), &count, &memory));
  ze_copy_bandwidth_exp_properties_t of_copies{};
  of_copies.stype = ZE_STRUCTURE_TYPE_COPY_BANDWIDTH_EXP_PROPERTIES;
  ze_command_queue_group_properties_t group{};
  group.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  group.pNext = &of_copies;
  count = 1;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCommandQueueGroupProperties(device(), &count, &group));
  ze_device_p2p_bandwidth_exp_properties_t of_itself{};
  of_itself.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_BANDWIDTH_EXP_PROPERTIES;
  ze_device_p2p_properties_t peer{};
  peer.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES;
  peer.pNext = &of_itself;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetP2PProperties(device(), device(), &peer));

  // Width of the port and clock are what the memory says of itself.
  const std::uint64_t expected = std::uint64_t{memory.maxBusWidth} / 8 * memory.maxClockRate / 1000;
  EXPECT_GT(expected, 0U);
  EXPECT_EQ(expected, of_memory.readBandwidth);
  EXPECT_EQ(expected, of_memory.writeBandwidth);
  EXPECT_EQ(ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC, of_memory.bandwidthUnit);
  EXPECT_EQ(memory.totalSize, of_memory.physicalSize);
  EXPECT_EQ(expected, of_copies.copyBandwidth);
  EXPECT_EQ(ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC, of_copies.copyBandwidthUnit);
  EXPECT_EQ(expected, of_itself.logicalBandwidth);
  EXPECT_EQ(expected, of_itself.physicalBandwidth);
  EXPECT_EQ(ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC, of_itself.bandwidthUnit);
  EXPECT_EQ(ZE_LATENCY_UNIT_UNKNOWN, of_itself.latencyUnit);
}

TEST_F(Extensions, given_the_version_of_the_board_asked_for_then_it_is_that_of_its_registers) {
  ze_device_ip_version_ext_t version{};
  version.stype = ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT;
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  properties.pNext = &version;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
  EXPECT_NE(0U, version.ipVersion);
}

TEST_F(Extensions, given_hints_that_change_nothing_when_allocated_then_legal_ones_are_taken) {
  for (const auto flags :
       {ZE_MEMORY_COMPRESSION_HINTS_EXT_FLAG_COMPRESSED, ZE_MEMORY_COMPRESSION_HINTS_EXT_FLAG_UNCOMPRESSED}) {
    const ze_memory_compression_hints_ext_desc_t hints{
        ZE_STRUCTURE_TYPE_MEMORY_COMPRESSION_HINTS_EXT_DESC, nullptr,
        static_cast<ze_memory_compression_hints_ext_flags_t>(flags)};
    const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, &hints, 0, 0};
    void* pointer = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemAllocDevice(context(), &on_device, 100, 0, device(), &pointer));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemFree(context(), pointer));
    const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &hints, 0};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(context(), &on_host, 100, 0, &pointer));
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemFree(context(), pointer));
  }
  for (const ze_memory_compression_hints_ext_flags_t wrong : {0U, 3U, 4U}) {
    const ze_memory_compression_hints_ext_desc_t hints{ZE_STRUCTURE_TYPE_MEMORY_COMPRESSION_HINTS_EXT_DESC,
                                                       nullptr, wrong};
    const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, &hints, 0, 0};
    void* pointer = nullptr;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION,
              zeMemAllocDevice(context(), &on_device, 100, 0, device(), &pointer))
        << wrong;
    EXPECT_EQ(nullptr, pointer);
  }
}

TEST_F(Extensions, given_memory_for_ray_tracing_when_allocated_then_the_feature_is_unsupported) {
  for (const auto& [flags, code] :
       {std::pair<ze_raytracing_mem_alloc_ext_flags_t, ze_result_t>{0, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
        {ZE_RAYTRACING_MEM_ALLOC_EXT_FLAG_TBD, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
        {2, ZE_RESULT_ERROR_INVALID_ENUMERATION}}) {
    const ze_raytracing_mem_alloc_ext_desc_t rays{ZE_STRUCTURE_TYPE_RAYTRACING_MEM_ALLOC_EXT_DESC, nullptr,
                                                  flags};
    const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, &rays, 0, 0};
    void* pointer = nullptr;
    EXPECT_EQ(code, zeMemAllocDevice(context(), &on_device, 100, 0, device(), &pointer)) << flags;
    EXPECT_EQ(nullptr, pointer);
  }
}

}  // namespace
}  // namespace datum::test
