// Output structures: nothing is written behind them, unknown ones in the chain are passed over, known ones
// behind them are found.
#include "tests/support/api_session.hpp"
#include "tests/support/guarded_structure.hpp"

namespace datum::test {
namespace {

/// A structure of a type that no header has.
struct Unknown {
  ze_structure_type_t stype = static_cast<ze_structure_type_t>(0x7f00);
  void* pNext = nullptr;
};

class GuardedStructures : public ApiTest {
 protected:
  /// `base` with the unknown structure, and behind it `known`, in its chain.
  template <class Base, class Known>
  void chain(Guarded<Base>& base, ze_structure_type_t base_type, Guarded<Known>& known,
             ze_structure_type_t known_type) {
    known->stype = known_type;
    known->pNext = nullptr;
    *unknown_ = Unknown{};
    unknown_->pNext = known.get();
    base->stype = base_type;
    base->pNext = unknown_.get();
  }

  void expect_unknown_untouched(const void* behind) {
    EXPECT_EQ(static_cast<ze_structure_type_t>(0x7f00), unknown_->stype);
    EXPECT_EQ(behind, unknown_->pNext);
  }

  Guarded<Unknown> unknown_;
};

TEST_F(GuardedStructures,
       given_device_properties_at_the_end_of_a_page_when_filled_then_nothing_behind_is_touched) {
  Guarded<ze_device_properties_t> properties;
  Guarded<ze_device_usablemem_size_ext_properties_t> usable;
  chain(properties, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, usable,
        ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), properties.get()));
  EXPECT_EQ(ZE_DEVICE_TYPE_FPGA, properties->type);
  EXPECT_GT(usable->currUsableMemSize, 0U);
  expect_unknown_untouched(usable.get());
}

TEST_F(GuardedStructures,
       given_memory_properties_at_the_end_of_a_page_when_filled_then_nothing_behind_is_touched) {
  Guarded<ze_device_memory_properties_t> properties;
  Guarded<ze_device_memory_ext_properties_t> extension;
  chain(properties, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES, extension,
        ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES);
  Guarded<std::uint32_t> count(1);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetMemoryProperties(device(), count.get(), properties.get()));
  EXPECT_EQ(properties->totalSize, extension->physicalSize);
  expect_unknown_untouched(extension.get());
}

TEST_F(GuardedStructures,
       given_other_device_properties_at_the_end_of_a_page_when_filled_then_nothing_behind_is_touched) {
  Guarded<ze_device_memory_access_properties_t> access;
  access->stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
  access->pNext = unknown_.get();
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetMemoryAccessProperties(device(), access.get()));
  EXPECT_NE(0U, access->hostAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
  Guarded<ze_device_external_memory_properties_t> external;
  external->stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES;
  external->pNext = unknown_.get();
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetExternalMemoryProperties(device(), external.get()));
  Guarded<ze_device_compute_properties_t> compute;
  compute->stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetComputeProperties(device(), compute.get()));
  Guarded<ze_device_module_properties_t> module;
  module->stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetModuleProperties(device(), module.get()));
  Guarded<ze_device_image_properties_t> image;
  image->stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetImageProperties(device(), image.get()));
  Guarded<ze_pci_ext_properties_t> pci;
  pci->stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
  pci->pNext = unknown_.get();
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDevicePciGetPropertiesExt(device(), pci.get()));
  expect_unknown_untouched(nullptr);
}

TEST_F(GuardedStructures,
       given_queue_group_and_peer_properties_at_the_end_of_a_page_then_nothing_behind_is_touched) {
  Guarded<ze_command_queue_group_properties_t> group;
  Guarded<ze_copy_bandwidth_exp_properties_t> bandwidth;
  chain(group, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES, bandwidth,
        ZE_STRUCTURE_TYPE_COPY_BANDWIDTH_EXP_PROPERTIES);
  Guarded<std::uint32_t> count(1);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCommandQueueGroupProperties(device(), count.get(), group.get()));
  EXPECT_GT(bandwidth->copyBandwidth, 0U);
  expect_unknown_untouched(bandwidth.get());
  Guarded<ze_device_p2p_properties_t> peer;
  Guarded<ze_device_p2p_bandwidth_exp_properties_t> link;
  chain(peer, ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES, link,
        ZE_STRUCTURE_TYPE_DEVICE_P2P_BANDWIDTH_EXP_PROPERTIES);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetP2PProperties(device(), device(), peer.get()));
  EXPECT_GT(link->logicalBandwidth, 0U);
  expect_unknown_untouched(link.get());
}

TEST_F(GuardedStructures,
       given_driver_properties_at_the_end_of_a_page_when_filled_then_nothing_behind_is_touched) {
  Guarded<ze_driver_properties_t> properties;
  Guarded<ze_driver_memory_free_ext_properties_t> policies;
  chain(properties, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES, policies,
        ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGetProperties(driver(), properties.get()));
  EXPECT_NE(0U, policies->freePolicies);
  expect_unknown_untouched(policies.get());
  Guarded<ze_driver_ipc_properties_t> ipc;
  ipc->stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDriverGetIpcProperties(driver(), ipc.get()));
}

TEST_F(GuardedStructures,
       given_allocation_properties_at_the_end_of_a_page_when_filled_then_nothing_behind_is_touched) {
  for (const MemoryKind kind : all_memory_kinds) {
    const OwnedMemory block = memory(kind, 6000);
    Guarded<ze_memory_allocation_properties_t> properties;
    Guarded<ze_memory_sub_allocations_exp_properties_t> parts;
    chain(properties, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, parts,
          ZE_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES);
    Guarded<std::uint32_t> count(3);
    Guarded<ze_sub_allocation_t> only;
    parts->pCount = count.get();
    parts->pSubAllocations = only.get();
    Guarded<ze_device_handle_t> owner;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeMemGetAllocProperties(context(), block.get(), properties.get(), owner.get()));
    EXPECT_EQ(type_of(kind), properties->type);
    EXPECT_EQ(6000U, only->size);
    expect_unknown_untouched(parts.get());
    Guarded<void*> base;
    Guarded<std::size_t> size;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeMemGetAddressRange(context(), block.bytes() + 5999, base.get(), size.get()));
    EXPECT_EQ(block.get(), *base);
    EXPECT_EQ(6000U, *size);
  }
}

TEST_F(GuardedStructures,
       given_descriptors_at_the_end_of_a_page_when_allocated_then_known_ones_behind_unknown_count) {
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
  Guarded<ze_relaxed_allocation_limits_ext_desc_t> relaxed;
  relaxed->flags = ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE;
  Guarded<ze_device_mem_alloc_desc_t> on_device;
  chain(on_device, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, relaxed,
        ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC);
  Guarded<void*> pointer;
  EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
            zeMemAllocDevice(context(), on_device.get(), std::size_t{1} << 46U, 0, device(), pointer.get()))
      << "not UNSUPPORTED_SIZE: the limit was lifted";
  EXPECT_EQ(nullptr, *pointer);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocDevice(context(), on_device.get(), 100, 0, device(), pointer.get()));
  Guarded<ze_memory_free_ext_desc_t> policy;
  policy->stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC;
  policy->pNext = unknown_.get();
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemFreeExt(context(), policy.get(), *pointer));
  Guarded<ze_host_mem_alloc_desc_t> on_host;
  on_host->stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(context(), on_host.get(), 100, 0, pointer.get()));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemFree(context(), *pointer));
}

}  // namespace
}  // namespace datum::test
