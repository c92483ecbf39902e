// The management interface, as far as tools need it to see the devices of the machine.
#include <cstring>

#include <level_zero/zes_api.h>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class Sysman : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesInit(0));
    std::uint32_t count = 0;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDriverGet(&count, nullptr));
    ASSERT_EQ(session().drivers.size(), count) << "as many as the core interface has: tools compare the two";
    std::vector<zes_driver_handle_t> drivers(count);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDriverGet(&count, drivers.data()));
    driver_ = drivers.back();
    count = 0;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceGet(driver_, &count, nullptr));
    ASSERT_EQ(session().devices.size(), count);
    devices_.resize(count);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceGet(driver_, &count, devices_.data()));
  }

  zes_driver_handle_t driver_ = nullptr;
  std::vector<zes_device_handle_t> devices_;
};

TEST_F(Sysman, given_a_device_when_asked_for_properties_then_it_has_the_uuid_of_the_core_device) {
  ze_device_properties_t core{};
  core.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &core));
  zes_device_properties_t managed{};
  managed.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceGetProperties(devices_.front(), &managed));
  EXPECT_EQ(0, std::memcmp(&core.uuid, &managed.core.uuid, sizeof core.uuid));
  EXPECT_EQ(ZE_DEVICE_TYPE_FPGA, managed.core.type);
  EXPECT_EQ(0U, managed.numSubdevices);
}

TEST_F(Sysman, given_a_device_when_asked_for_its_pci_address_then_it_is_that_of_the_core_device) {
  ze_pci_ext_properties_t core{};
  core.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDevicePciGetPropertiesExt(device(), &core));
  zes_pci_properties_t managed{};
  managed.stype = ZES_STRUCTURE_TYPE_PCI_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDevicePciGetProperties(devices_.front(), &managed));
  EXPECT_EQ(core.address.domain, managed.address.domain);
  EXPECT_EQ(core.address.bus, managed.address.bus);
  EXPECT_EQ(core.address.device, managed.address.device);
  EXPECT_EQ(core.address.function, managed.address.function);
}

TEST_F(Sysman, given_memory_modules_when_asked_then_their_free_size_follows_allocations) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer does not know the handles of memory modules";
  }
  std::uint32_t count = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEnumMemoryModules(devices_.front(), &count, nullptr));
  ASSERT_EQ(2U, count) << "DRAM and on-chip memory";
  std::vector<zes_mem_handle_t> modules(count);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEnumMemoryModules(devices_.front(), &count, modules.data()));
  const auto state = [&] {
    zes_mem_state_t found{};
    found.stype = ZES_STRUCTURE_TYPE_MEM_STATE;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zesMemoryGetState(modules.front(), &found));
    return found;
  };
  const zes_mem_state_t before = state();
  EXPECT_GT(before.size, 0U);
  EXPECT_LE(before.free, before.size);
  {
    const OwnedMemory block = memory(MemoryKind::device, 16U << 20U);
    EXPECT_LE(state().free + (16U << 20U), before.free);
  }
  EXPECT_EQ(before.free, state().free);
}

TEST_F(Sysman, given_the_uuid_of_a_device_when_looked_up_then_it_is_found_and_another_is_not) {
  ze_device_properties_t core{};
  core.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &core));
  zes_uuid_t uuid{};
  std::memcpy(&uuid, &core.uuid, sizeof uuid);
  zes_device_handle_t found = nullptr;
  ze_bool_t on_sub_device = 1;
  std::uint32_t sub_device = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zesDriverGetDeviceByUuidExp(driver_, uuid, &found, &on_sub_device, &sub_device));
  EXPECT_EQ(devices_.front(), found);
  EXPECT_EQ(0, on_sub_device);
  uuid.id[0] = static_cast<std::uint8_t>(uuid.id[0] ^ 0xffU);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zesDriverGetDeviceByUuidExp(driver_, uuid, &found, &on_sub_device, &sub_device));
}

}  // namespace
}  // namespace datum::test
