// The management interface, as far as tools need it to see the devices of the machine.
#include <array>
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

TEST_F(Sysman, given_the_bars_of_a_device_when_asked_then_registers_and_memory_are_among_them) {
  std::uint32_t count = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDevicePciGetBars(devices_.front(), &count, nullptr));
  ASSERT_GE(count, 2U);
  std::vector<zes_pci_bar_properties_t> bars(count + 1);
  std::vector<zes_pci_bar_properties_1_2_t> extended(bars.size());
  for (std::size_t i = 0; i < bars.size(); ++i) {
    extended[i].stype = ZES_STRUCTURE_TYPE_PCI_BAR_PROPERTIES_1_2;
    extended[i].resizableBarSupported = 1;
    bars[i].stype = ZES_STRUCTURE_TYPE_PCI_BAR_PROPERTIES;
    bars[i].pNext = &extended[i];
    bars[i].size = 0;
  }
  const std::uint32_t available = count++;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDevicePciGetBars(devices_.front(), &count, bars.data()));
  EXPECT_EQ(available, count);
  EXPECT_EQ(0U, bars.back().size) << "not written";
  EXPECT_EQ(0U, bars[0].index);
  EXPECT_EQ(ZES_PCI_BAR_TYPE_MMIO, bars[0].type);
  EXPECT_EQ(2U, bars[1].index);
  EXPECT_EQ(ZES_PCI_BAR_TYPE_MEM, bars[1].type);
  for (std::uint32_t i = 0; i < available; ++i) {
    EXPECT_GT(bars[i].size, 0U);
    EXPECT_EQ(bars[i].size, extended[i].size);
    EXPECT_EQ(0U, bars[i].base) << "a board simulated here, or served, has no address that is known";
    EXPECT_EQ(0U, extended[i].base);
    EXPECT_EQ(0, extended[i].resizableBarSupported);
  }
  count = 1;
  bars[1].size = 1;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDevicePciGetBars(devices_.front(), &count, bars.data()));
  EXPECT_EQ(1U, count);
  EXPECT_EQ(1U, bars[1].size) << "not written";
}

TEST_F(Sysman, given_a_copy_to_the_device_when_counters_are_read_then_they_have_grown_by_its_bytes) {
  constexpr std::size_t bytes = 64U << 10U;
  zes_pci_properties_t properties{};
  properties.stype = ZES_STRUCTURE_TYPE_PCI_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDevicePciGetProperties(devices_.front(), &properties));
  EXPECT_EQ(1, properties.haveBandwidthCounters);
  EXPECT_EQ(0, properties.haveReplayCounters);
  const auto stats = [&] {
    zes_pci_stats_t found{};
    EXPECT_EQ(ZE_RESULT_SUCCESS, zesDevicePciGetStats(devices_.front(), &found));
    return found;
  };
  const OwnedMemory block = memory(MemoryKind::device, bytes);
  const zes_pci_stats_t before = stats();
  upload(block.get(), pattern(bytes, 5));
  const zes_pci_stats_t after_write = stats();
  EXPECT_GE(after_write.rxCounter - before.rxCounter, bytes) << "the board read host memory";
  EXPECT_GE(after_write.timestamp, before.timestamp);
  static_cast<void>(download(block.get(), bytes));
  EXPECT_GE(stats().txCounter - after_write.txCounter, bytes) << "the board wrote host memory";
}

TEST_F(Sysman, given_a_link_when_its_state_is_asked_for_then_nothing_is_claimed_that_is_not_known) {
  zes_pci_state_t state{};
  state.stype = ZES_STRUCTURE_TYPE_PCI_STATE;
  state.qualityIssues = 1;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDevicePciGetState(devices_.front(), &state));
  EXPECT_EQ(ZES_PCI_LINK_STATUS_UNKNOWN, state.status);
  EXPECT_EQ(0U, state.qualityIssues);
  EXPECT_EQ(-1, state.speed.gen);
  zes_device_state_t device_state{};
  device_state.stype = ZES_STRUCTURE_TYPE_DEVICE_STATE;
  device_state.reset = ZES_RESET_REASON_FLAG_REPAIR;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceGetState(devices_.front(), &device_state));
  EXPECT_EQ(0U, device_state.reset);
  EXPECT_EQ(ZES_REPAIR_STATUS_UNSUPPORTED, device_state.repaired);
}

TEST_F(Sysman, given_memory_modules_when_bandwidth_is_asked_for_then_the_dram_has_counters) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer does not know the handles of memory modules";
  }
  std::uint32_t count = 2;
  std::vector<zes_mem_handle_t> modules(count);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEnumMemoryModules(devices_.front(), &count, modules.data()));
  zes_mem_bandwidth_t before{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesMemoryGetBandwidth(modules[0], &before));
  EXPECT_GT(before.maxBandwidth, 0U);
  constexpr std::size_t bytes = 64U << 10U;
  const OwnedMemory block = memory(MemoryKind::device, bytes);
  upload(block.get(), pattern(bytes, 6));
  static_cast<void>(download(block.get(), bytes));
  zes_mem_bandwidth_t after{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesMemoryGetBandwidth(modules[0], &after));
  EXPECT_GE(after.writeCounter - before.writeCounter, bytes);
  EXPECT_GE(after.readCounter - before.readCounter, bytes);
  EXPECT_GE(after.timestamp, before.timestamp);
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zesMemoryGetBandwidth(modules[1], &after))
      << "accesses of on-chip memory are not counted";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesMemoryGetBandwidth(modules[0], nullptr));
}

TEST_F(Sysman, given_memory_modules_when_asked_what_they_are_then_sizes_agree_with_the_core) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer does not know the handles of memory modules";
  }
  std::uint32_t count = 2;
  std::vector<zes_mem_handle_t> modules(count);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEnumMemoryModules(devices_.front(), &count, modules.data()));
  std::vector<ze_device_memory_properties_t> core(count);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetMemoryProperties(device(), &count, core.data()));
  for (std::uint32_t ordinal = 0; ordinal < count; ++ordinal) {
    zes_mem_properties_t properties{};  // as a careless tool passes it: without an stype
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesMemoryGetProperties(modules[ordinal], &properties));
    EXPECT_EQ(core[ordinal].totalSize, properties.physicalSize);
    EXPECT_EQ(ordinal == 0 ? ZES_MEM_TYPE_DDR4 : ZES_MEM_TYPE_SRAM, properties.type);
    EXPECT_EQ(ZES_MEM_LOC_DEVICE, properties.location);
  }
}

TEST_F(Sysman, given_a_board_with_ecc_when_asked_then_it_says_so_and_cannot_be_switched) {
  ze_bool_t answer = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEccAvailable(devices_.front(), &answer));
  EXPECT_EQ(1, answer);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEccConfigurable(devices_.front(), &answer));
  EXPECT_EQ(0, answer);
  zes_device_ecc_properties_t state{};
  state.stype = ZES_STRUCTURE_TYPE_DEVICE_ECC_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceGetEccState(devices_.front(), &state));
  EXPECT_EQ(ZES_DEVICE_ECC_STATE_ENABLED, state.currentState);
  EXPECT_EQ(ZES_DEVICE_ECC_STATE_ENABLED, state.pendingState);
  EXPECT_EQ(ZES_DEVICE_ACTION_NONE, state.pendingAction);
  zes_device_ecc_desc_t wish{};
  wish.stype = ZES_STRUCTURE_TYPE_DEVICE_ECC_DESC;
  wish.state = ZES_DEVICE_ECC_STATE_DISABLED;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zesDeviceSetEccState(devices_.front(), &wish, &state));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesDeviceEccAvailable(devices_.front(), nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesDeviceEccConfigurable(devices_.front(), nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesDeviceGetEccState(devices_.front(), nullptr));
}

TEST_F(Sysman, given_the_error_sets_of_a_device_when_asked_then_there_is_one_of_each_type_without_errors) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer does not know the handles of error sets";
  }
  std::uint32_t count = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEnumRasErrorSets(devices_.front(), &count, nullptr));
  ASSERT_EQ(2U, count);
  std::vector<zes_ras_handle_t> sets(count);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEnumRasErrorSets(devices_.front(), &count, sets.data()));
  constexpr zes_ras_error_type_t types[] = {ZES_RAS_ERROR_TYPE_CORRECTABLE, ZES_RAS_ERROR_TYPE_UNCORRECTABLE};
  for (std::uint32_t index = 0; index < count; ++index) {
    zes_ras_properties_t properties{};
    properties.stype = ZES_STRUCTURE_TYPE_RAS_PROPERTIES;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesRasGetProperties(sets[index], &properties));
    EXPECT_EQ(types[index], properties.type);
    EXPECT_EQ(0, properties.onSubdevice);
    zes_ras_state_t state{};
    state.stype = ZES_STRUCTURE_TYPE_RAS_STATE;
    std::fill(std::begin(state.category), std::end(state.category), 7U);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zesRasGetState(sets[index], 1, &state));
    for (const std::uint64_t errors : state.category) {
      EXPECT_EQ(0U, errors);
    }
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesRasGetProperties(sets[index], nullptr));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesRasGetState(sets[index], 0, nullptr));
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zesDeviceEnumRasErrorSets(devices_.front(), nullptr, nullptr));
}

TEST_F(Sysman, given_an_error_set_when_asked_by_categories_then_it_counts_those_of_memory) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer does not know the handles of error sets";
  }
  std::uint32_t count = 1;
  zes_ras_handle_t set = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceEnumRasErrorSets(devices_.front(), &count, &set));
  count = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesRasGetSupportedCategoriesExp(set, &count, nullptr));
  ASSERT_EQ(1U, count);
  zes_ras_error_category_exp_t category{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesRasGetSupportedCategoriesExp(set, &count, &category));
  EXPECT_EQ(ZES_RAS_ERROR_CATEGORY_EXP_MEMORY_ERRORS, category);
  count = 9;
  zes_ras_state_exp_t state{ZES_RAS_ERROR_CATEGORY_EXP_RESET, 7};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesRasGetStateExp(set, &count, &state));
  EXPECT_EQ(1U, count);
  EXPECT_EQ(ZES_RAS_ERROR_CATEGORY_EXP_MEMORY_ERRORS, state.category);
  EXPECT_EQ(0U, state.errorCounter);
  zes_ras_state_exp2_t state2{ZES_STRUCTURE_TYPE_FORCE_UINT32, nullptr, 7};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesRasGetStateExp2(set, 1, &category, &state2));
  EXPECT_EQ(0U, state2.errorCounter);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zesRasClearStateExp(set, category));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zesRasClearStateExp(set, ZES_RAS_ERROR_CATEGORY_EXP_PCIE_ERRORS));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION,
            zesRasClearStateExp(set, ZES_RAS_ERROR_CATEGORY_EXP_FORCE_UINT32));
  const zes_ras_error_category_exp_t other = ZES_RAS_ERROR_CATEGORY_EXP_RESET;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zesRasGetStateExp2(set, 1, &other, &state2));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesRasGetStateExp(set, nullptr, nullptr));
}

/// Asks for the components of one kind as tools do: how many, and then for them.
template <class Handle>
void expect_none(zes_device_handle_t device,
                 ze_result_t (*enumerate)(zes_device_handle_t, std::uint32_t*, Handle*), const char* what) {
  std::uint32_t count = 7;
  EXPECT_EQ(ZE_RESULT_SUCCESS, enumerate(device, &count, nullptr)) << what;
  EXPECT_EQ(0U, count) << what;
  std::array<Handle, 3> handles{};
  count = handles.size();
  EXPECT_EQ(ZE_RESULT_SUCCESS, enumerate(device, &count, handles.data())) << what;
  EXPECT_EQ(0U, count) << what;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, enumerate(device, nullptr, nullptr)) << what;
}

TEST_F(Sysman, given_components_that_the_board_lacks_when_enumerated_then_there_are_none) {
  const zes_device_handle_t device = devices_.front();
  expect_none(device, zesDeviceEnumTemperatureSensors, "temperature sensors");
  expect_none(device, zesDeviceEnumFrequencyDomains, "frequency domains");
  expect_none(device, zesDeviceEnumPowerDomains, "power domains");
  expect_none(device, zesDeviceEnumFans, "fans");
  expect_none(device, zesDeviceEnumPsus, "power supplies");
  expect_none(device, zesDeviceEnumLeds, "lights");
  expect_none(device, zesDeviceEnumFirmwares, "firmwares");
  expect_none(device, zesDeviceEnumSchedulers, "schedulers");
  expect_none(device, zesDeviceEnumStandbyDomains, "standby domains");
  expect_none(device, zesDeviceEnumPerformanceFactorDomains, "performance factors");
  expect_none(device, zesDeviceEnumDiagnosticTestSuites, "diagnostics");
  expect_none(device, zesDeviceEnumFabricPorts, "fabric ports");
}

TEST_F(Sysman, given_what_is_not_built_when_called_then_the_feature_is_unsupported) {
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zesDeviceEventRegister(devices_.front(), ZES_EVENT_TYPE_FLAG_DEVICE_DETACH));
  std::uint32_t count = 0;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zesDeviceProcessesGetState(devices_.front(), &count, nullptr));
}

}  // namespace
}  // namespace datum::test
