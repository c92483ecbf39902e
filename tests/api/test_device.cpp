// What a device says about itself: true, consistent, and the same every time.
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class Device : public ApiTest {
 protected:
  [[nodiscard]] ze_device_properties_t
  properties(ze_structure_type_t stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2) const {
    ze_device_properties_t found{};
    found.stype = stype;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &found));
    return found;
  }

  [[nodiscard]] std::vector<ze_device_memory_properties_t> memories() const {
    std::uint32_t count = 0;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetMemoryProperties(device(), &count, nullptr));
    std::vector<ze_device_memory_properties_t> found(count);
    for (auto& memory : found) {
      memory.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    }
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetMemoryProperties(device(), &count, found.data()));
    return found;
  }
};

/// An extension structure that nobody knows.
struct UnknownStructure {
  ze_structure_type_t stype = static_cast<ze_structure_type_t>(0x7f00);
  void* next = nullptr;
  std::array<std::uint64_t, 8> words{};
};

TEST_F(Device, given_the_driver_when_asked_for_devices_then_the_handles_are_the_same_every_time) {
  std::uint32_t count = 1;
  ze_device_handle_t first = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGet(driver(), &count, &first));
  EXPECT_EQ(1U, count);
  EXPECT_EQ(device(), first);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGet(driver(), nullptr, nullptr));
}

TEST_F(Device, given_a_board_when_asked_for_properties_then_it_is_an_fpga_and_nothing_else) {
  const ze_device_properties_t found = properties();
  EXPECT_EQ(ZE_DEVICE_TYPE_FPGA, found.type);
  EXPECT_EQ(0U, found.flags & (ZE_DEVICE_PROPERTY_FLAG_INTEGRATED | ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE |
                               ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING));
  EXPECT_EQ(0x1234U, found.vendorId);
  EXPECT_EQ(0xda70U, found.deviceId);
  EXPECT_NE('\0', found.name[0]);
  EXPECT_EQ('\0', found.name[ZE_MAX_DEVICE_NAME - 1]);
  EXPECT_GT(found.coreClockRate, 0U);
  EXPECT_GE(found.timestampValidBits, 32U);
  EXPECT_LE(found.timestampValidBits, 64U);
  EXPECT_GE(found.kernelTimestampValidBits, 32U);
  EXPECT_LE(found.kernelTimestampValidBits, 64U);
  EXPECT_EQ(0U, found.numEUsPerSubslice) << "it has no execution units";
}

TEST_F(
    Device,
    given_the_two_property_structures_when_asked_then_timer_resolution_is_nanoseconds_in_one_and_hertz_in_the_other) {
  EXPECT_EQ(1U, properties(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES).timerResolution);
  EXPECT_EQ(1'000'000'000U, properties(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2).timerResolution);
}

TEST_F(Device, given_properties_asked_twice_then_they_are_equal_in_every_byte) {
  const ze_device_properties_t first = properties();
  const ze_device_properties_t second = properties();
  EXPECT_TRUE(same_bytes(&first, &second, sizeof first));
}

TEST_F(Device,
       given_a_wrong_structure_type_when_asked_for_properties_then_the_base_members_are_filled_all_the_same) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer refuses it first";
  }
  ze_device_properties_t found{};
  found.stype = static_cast<ze_structure_type_t>(0x5eed);
  found.pNext =
      reinterpret_cast<void*>(0xdead);  // must not be followed: the structure does not say what it is
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &found));
  EXPECT_EQ(ZE_DEVICE_TYPE_FPGA, found.type);
  EXPECT_EQ(reinterpret_cast<void*>(0xdead), found.pNext);
  EXPECT_EQ(0x5eed, static_cast<int>(found.stype));
}

TEST_F(Device, given_an_unknown_structure_in_the_chain_when_asked_then_it_is_left_alone) {
  UnknownStructure unknown;
  unknown.words.fill(0x0123456789abcdefULL);
  ze_device_properties_t found{};
  found.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  found.pNext = &unknown;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &found));
  EXPECT_EQ(ZE_DEVICE_TYPE_FPGA, found.type);
  EXPECT_EQ(&unknown, found.pNext);
  for (const std::uint64_t word : unknown.words) {
    EXPECT_EQ(0x0123456789abcdefULL, word);
  }
}

TEST_F(Device,
       given_a_chain_that_bites_its_tail_when_asked_then_each_member_is_seen_once_and_the_call_succeeds) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer walks the chain itself";
  }
  UnknownStructure first;
  UnknownStructure second;
  first.next = &second;
  second.next = &first;
  ze_device_properties_t found{};
  found.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  found.pNext = &first;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &found));
  EXPECT_EQ(ZE_DEVICE_TYPE_FPGA, found.type);
}

TEST_F(
    Device,
    given_the_memories_when_asked_then_there_are_dram_and_onchip_memory_with_sizes_that_allocation_confirms) {
  const auto found = memories();
  ASSERT_EQ(2U, found.size());
  EXPECT_GT(found[0].totalSize, found[1].totalSize);
  EXPECT_GT(found[1].totalSize, 0U);
  for (const auto& memory : found) {
    EXPECT_NE('\0', memory.name[0]);
    EXPECT_GT(memory.maxBusWidth, 0U);
  }
  EXPECT_STRNE(found[0].name, found[1].name);
  EXPECT_GT(properties().maxMemAllocSize, 0U);
  EXPECT_LE(properties().maxMemAllocSize, found[0].totalSize);
  // On-chip memory has that size: the whole of it can be had once, or all but what the driver keeps of it.
  void* pointer = nullptr;
  EXPECT_NE(ZE_RESULT_SUCCESS, allocate_raw(MemoryKind::onchip, context(), device(),
                                            static_cast<std::size_t>(found[1].totalSize) + 1, 0, &pointer));
}

TEST_F(Device, given_a_small_count_when_asked_for_memories_then_only_that_many_are_written) {
  std::array<ze_device_memory_properties_t, 2> found{};
  found[0].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  found[1].totalSize = 0xabcdef;
  std::uint32_t count = 1;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetMemoryProperties(device(), &count, found.data()));
  EXPECT_EQ(1U, count);
  EXPECT_GT(found[0].totalSize, 0U);
  EXPECT_EQ(0xabcdefU, found[1].totalSize);
}

TEST_F(Device, given_memory_access_properties_when_asked_then_the_required_capabilities_are_there) {
  ze_device_memory_access_properties_t found{};
  found.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetMemoryAccessProperties(device(), &found));
  EXPECT_NE(0U, found.hostAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
  EXPECT_NE(0U, found.deviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
  EXPECT_NE(0U, found.sharedSingleDeviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
  EXPECT_EQ(ZE_MEMORY_ACCESS_CAP_FLAG_RW, found.sharedSystemAllocCapabilities)
      << "every command takes it, but not while the host uses it";
  EXPECT_EQ(0U, found.hostAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC)
      << "the board has no atomic operations";
}

TEST_F(Device, given_queue_groups_when_asked_then_there_is_one_that_copies_only) {
  std::uint32_t count = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCommandQueueGroupProperties(device(), &count, nullptr));
  ASSERT_EQ(1U, count);
  ze_command_queue_group_properties_t group{};
  group.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCommandQueueGroupProperties(device(), &count, &group));
  EXPECT_EQ(ze_command_queue_group_property_flags_t{ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY}, group.flags);
  EXPECT_EQ(16U, group.maxMemoryFillPatternSize);
  EXPECT_GE(group.numQueues, 1U);
}

TEST_F(Device,
       given_compute_module_image_and_cache_queries_when_asked_then_nothing_is_claimed_that_the_board_lacks) {
  ze_device_compute_properties_t compute{};
  compute.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetComputeProperties(device(), &compute));
  EXPECT_EQ(0U, compute.maxTotalGroupSize);
  EXPECT_EQ(0U, compute.numSubGroupSizes);

  ze_device_module_properties_t module{};
  module.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetModuleProperties(device(), &module));
  EXPECT_EQ(0U, module.spirvVersionSupported);
  EXPECT_EQ(0U, module.flags);

  ze_device_image_properties_t image{};
  image.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetImageProperties(device(), &image));
  EXPECT_GT(image.maxImageDims1D, 0U) << "images are memory to be copied";
  EXPECT_EQ(0U, image.maxReadImageArgs);

  std::uint32_t caches = 7;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCacheProperties(device(), &caches, nullptr));
  EXPECT_EQ(0U, caches);
}

TEST_F(Device, given_external_memory_types_when_asked_then_what_is_not_claimed_is_refused_in_allocation) {
  ze_device_external_memory_properties_t found{};
  found.stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetExternalMemoryProperties(device(), &found));
  EXPECT_EQ(0U, found.imageImportTypes | found.imageExportTypes);
  for (const ze_external_memory_type_flags_t type :
       {ze_external_memory_type_flags_t{ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD},
        ze_external_memory_type_flags_t{ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF},
        ze_external_memory_type_flags_t{ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32}}) {
    ze_external_memory_export_desc_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr, type};
    const ze_device_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, &wanted, 0, 0};
    void* pointer = nullptr;
    const ze_result_t result = zeMemAllocDevice(context(), &description, 4096, 0, device(), &pointer);
    const bool claimed = (found.memoryAllocationExportTypes & type) != 0;
    EXPECT_EQ(claimed ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, result)
        << "export type " << type;
    if (result == ZE_RESULT_SUCCESS) {
      zeMemFree(context(), pointer);
    }
  }
}

TEST_F(Device, given_itself_when_asked_about_peers_then_it_is_its_own_peer) {
  ze_bool_t value = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceCanAccessPeer(device(), device(), &value));
  EXPECT_NE(0, value);
  ze_device_p2p_properties_t found{};
  found.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetP2PProperties(device(), device(), &found));
  EXPECT_NE(0U, found.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS);
}

TEST_F(Device, given_a_board_when_asked_for_sub_devices_then_it_has_none) {
  std::uint32_t count = 5;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetSubDevices(device(), &count, nullptr));
  EXPECT_EQ(0U, count);
}

TEST_F(Device, given_a_healthy_board_when_asked_for_its_status_then_it_is_available) {
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetStatus(device()));
}

TEST_F(Device, given_a_simulated_board_when_asked_for_its_pci_address_then_it_lies_in_a_domain_of_its_own) {
  ze_pci_ext_properties_t found{};
  found.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDevicePciGetPropertiesExt(device(), &found));
  EXPECT_EQ(0xda70U, found.address.domain);
  EXPECT_LT(found.address.function, 8U);
}

TEST_F(Device, given_time_passing_when_both_clocks_are_read_then_they_advance_alike) {
  std::uint64_t host_before = 0;
  std::uint64_t device_before = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetGlobalTimestamps(device(), &host_before, &device_before));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::uint64_t host_after = 0;
  std::uint64_t device_after = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetGlobalTimestamps(device(), &host_after, &device_after));
  const std::uint64_t host_passed = host_after - host_before;
  const std::uint64_t device_passed = device_after - device_before;
  EXPECT_GE(host_passed, 20'000'000U);
  EXPECT_GE(device_passed, 10'000'000U);
  EXPECT_LE(device_passed, host_passed + 50'000'000U);
}

TEST_F(Device, given_null_outputs_when_asked_then_the_null_pointer_is_named) {
  const ze_device_handle_t it = device();
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetProperties(it, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetComputeProperties(it, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetModuleProperties(it, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeDeviceGetCommandQueueGroupProperties(it, nullptr, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetMemoryProperties(it, nullptr, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetMemoryAccessProperties(it, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetCacheProperties(it, nullptr, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetImageProperties(it, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetExternalMemoryProperties(it, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetSubDevices(it, nullptr, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDevicePciGetPropertiesExt(it, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceCanAccessPeer(it, it, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetP2PProperties(it, it, nullptr));
  std::uint64_t time = 0;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetGlobalTimestamps(it, nullptr, &time));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDeviceGetGlobalTimestamps(it, &time, nullptr));
}

}  // namespace
}  // namespace datum::test
